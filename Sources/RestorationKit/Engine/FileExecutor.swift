internal import Dispatch

/// Runs an actor that waits for disks on a thread of its own.
///
/// The threads that tasks share are as many as there are cores: 20 files that took
/// 0.5 s each would hold up every task of the app for 5 s. What waits for no disk is run
/// on those threads, since it takes longer to wake another one than to do it.
final class FileExecutor: SerialExecutor {
  private let queue: DispatchQueue

  init(waitsForDisks: Bool) {
    queue = DispatchQueue(
      label: "RestorationKit.StateFile", target: waitsForDisks ? nil : .global())
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { unsafe job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }
}
