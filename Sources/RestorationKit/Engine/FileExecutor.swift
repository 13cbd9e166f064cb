internal import Dispatch

/// A thread for an actor that waits for disks, or for a task that must not wait for one of the threads that
/// tasks share.
///
/// The threads that tasks share are as many as there are cores: 20 files that took
/// 0.5 s each would hold up every task of the app for 5 s.
final class OwnThread: SerialExecutor, TaskExecutor {
  private let queue = DispatchQueue(label: "RestorationKit.OwnThread")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async {
      unsafe job.runSynchronously(
        isolatedTo: self.asUnownedSerialExecutor(), taskExecutor: self.asUnownedTaskExecutor())
    }
  }
}

/// Runs an actor that waits for no disk where actors run, on the thread of the caller if
/// that may leave its own actor.
///
/// Waking another thread takes longer than work that waits for no disk.
actor SharedThreads {}

extension Result {
  /// Runs a body, and keeps its error.
  init(of body: () async throws(Failure) -> Success) async {
    do throws(Failure) { self = .success(try await body()) } catch { self = .failure(error) }
  }
}
