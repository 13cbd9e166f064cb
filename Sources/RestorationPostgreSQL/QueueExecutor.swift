#if PostgreSQL
internal import Dispatch

/// Runs an actor on the queue on which its sockets and timers tell of themselves.
///
/// A call goes to the queue once and comes back once; no thread of the queue waits in between.
final class QueueExecutor: SerialExecutor {
  let queue: DispatchQueue

  init(label: String) {
    queue = DispatchQueue(label: label)
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { unsafe job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  func checkIsolated() {
    dispatchPrecondition(condition: .onQueue(queue))
  }
}
#endif
