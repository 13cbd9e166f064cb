internal import Dispatch
internal import Synchronization

/// Calls of a thread that is blocked meanwhile, such as one that an actor runs on.
enum Blocking {
  /// Blocks the thread until a call has ended; nil if the call has not ended in time, and goes on.
  static func call<Value: Sendable, Failure: Error>(
    until end: ContinuousClock.Instant,
    _ call: @escaping @Sendable () async throws(Failure) -> Value
  ) -> Result<Value, Failure>? {
    let answer = Answer<Result<Value, Failure>>()
    // The blocked thread may be the only one of the threads that tasks share.
    Task.detached(executorPreference: OwnThread(), priority: .high) {
      answer.give(await Result(of: call))
    }
    return answer.wait(until: end)
  }

  /// Runs an asynchronous body to its end on this thread and on the caller's actor.
  ///
  /// No body that makes blocking calls alone suspends, so the body has ended when the call returns.
  /// `Task.immediate` does not do here: in an app with an asynchronous `main` the main queue runs on
  /// one of the threads that tasks share, and a task that begins in a callback there waits for the
  /// end of the callback.
  ///
  /// - Parameters:
  ///   - isolation: The actor of the caller; nil if the caller has none.
  ///   - body: Makes blocking calls.
  /// - Returns: The result; nil if the body has suspended all the same.
  static func run<Value>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async -> Value
  ) -> Value? {
    let caller = CallingThread()
    var result: Value?
    withoutActuallyEscaping(body) { body in
      // Only this thread runs the task, within this call.
      nonisolated(unsafe) let run = { () async -> Void in result = await body() }
      unsafe caller.run(on: isolation?.unownedExecutor) { await unsafe run() }
    }
    return result
  }
}

/// An answer that a thread waits for.
private final class Answer<Value: Sendable>: Sendable {
  private let value = Mutex<Value?>(nil)
  private let isThere = DispatchSemaphore(value: 0)

  /// Gives the answer away before anybody hears of it: a file that it holds is then the caller's alone to close.
  func give(_ value: consuming Value) {
    let given = Optional(consume value)
    self.value.withLock { $0 = given }
    _ = consume given
    isThere.signal()
  }

  func wait(until end: ContinuousClock.Instant) -> Value? {
    _ = isThere.wait(timeout: .now() + max(0, ContinuousClock.now.duration(to: end) / .seconds(1)))
    return value.withLock { $0.take() }
  }
}

/// Takes the one task that the thread of a caller runs.
private final class CallingThread: TaskExecutor {
  private let jobs = Mutex<[UnownedJob]>([])

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
  }

  /// Runs a task, as an actor if there is one, until the task ends or suspends.
  func run(on actor: UnownedSerialExecutor?, _ body: sending @escaping () async -> Void) {
    Task(executorPreference: self, operation: body)
    while let job = jobs.withLock({ $0.popLast() }) {
      if let actor = unsafe actor {
        unsafe job.runSynchronously(isolatedTo: actor, taskExecutor: asUnownedTaskExecutor())
      } else {
        unsafe job.runSynchronously(on: asUnownedTaskExecutor())
      }
    }
  }
}
