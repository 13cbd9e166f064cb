internal import ArchiveCodec
internal import Dispatch
internal import Synchronization

extension StateKeeper {
  /// Calls the file in a turn of its own.
  func inFile<Value: Sendable>(
    _ body: @escaping @Sendable (isolated FileQueue) throws(ArchiveError) -> Value
  ) async throws(RestorationError) -> Value {
    do throws(ArchiveError) {
      return try await turns.run { () async throws(ArchiveError) in
        try await inFileNow(body)
      }
    } catch {
      throw RestorationError(error)
    }
  }

  /// Calls the file in the turn that runs; a save that blocks the actor meanwhile asks the file, too.
  func inFileNow<Value: Sendable>(
    _ body: @escaping @Sendable (isolated FileQueue) throws(ArchiveError) -> Value
  ) async throws(ArchiveError) -> Value {
    let (count, asked) = (turns.overtakingCount, findings.lastWrite)
    known.writer = nil
    let call = {
      @Sendable [file, conditions = settings.ofCall] () async throws(ArchiveError) in
      try await file(conditions, asking: asked, body)
    }
    let (value, known) =
      if let end = asking.blockedUntil {
        try Self.block(until: end, call)
      } else {
        try await call()
      }
    // A save that blocked the actor meanwhile knows more.
    guard count == turns.overtakingCount else { return value }
    if asked == findings.lastWrite { settle(known.written) }
    if known.numbering != self.known.numbering { document?.forgetFingerprints() }
    self.known = known
    return value
  }

  /// Lets the document have what has become of the change under way; one that was not begun is not stored.
  private func settle(_ written: FileQueue.Written?) {
    guard let result = findings.underWay.take() else { return }
    guard let written, written.number == findings.lastWrite, written.isThere else {
      return giveBack(result.taken)
    }
    (findings.discarded, findings.unread) = (nil, nil)
    let count = document?.elements.count ?? 0
    apply(result)
    document?.setFingerprints(written.fingerprints, from: count)
  }

  /// Blocks the thread until a call of the file has ended.
  ///
  /// - Throws: The error of the call; `inputOutput` if the call has not ended in time. The
  ///   call goes on then.
  private static func block<Value: Sendable>(
    until end: ContinuousClock.Instant,
    _ call: @escaping @Sendable () async throws(ArchiveError) -> Value
  ) throws(ArchiveError) -> Value {
    let answer = Answer<Value>()
    // The blocked thread may be the only one of the threads that tasks share.
    Task.detached(executorPreference: OwnThread(), priority: .high) {
      do throws(ArchiveError) { answer.give(.success(try await call())) } catch {
        answer.give(.failure(error))
      }
    }
    return try answer.wait(until: end)
  }

  /// Runs an asynchronous body to its end on this thread and on the caller's actor, which is blocked: calls
  /// of the file block the thread, and no other task runs on the actor.
  ///
  /// No body that makes such calls alone suspends, so the body has ended when the call returns.
  /// `Task.immediate` does not do here: in an app with an asynchronous `main` the main queue runs on
  /// one of the threads that tasks share, and a task that begins in a callback there waits for the
  /// end of the callback.
  ///
  /// - Parameters:
  ///   - limit: How long calls of the file wait at most, together.
  ///   - isolation: The actor of the caller; nil if the caller has none.
  ///   - body: Calls the file alone.
  /// - Returns: The result; nil if the body has suspended all the same.
  @discardableResult
  func blocked<Value>(
    within limit: Duration, isolation: isolated (any Actor)?, _ body: () async -> Value
  ) -> Value? {
    let before = asking.blockedUntil
    defer { asking.blockedUntil = before }
    asking.blockedUntil = .now + limit.bounded
    let caller = CallingThread()
    var result: Value?
    withoutActuallyEscaping(body) { body in
      // Only this thread runs the task, within this call.
      nonisolated(unsafe) let run = { () async -> Void in result = await body() }
      caller.begin { await unsafe run() }
      unsafe caller.run(on: isolation?.unownedExecutor)
    }
    return result
  }
}

/// An answer that a thread waits for.
private final class Answer<Value: Sendable>: Sendable {
  private let result = Mutex<Result<Value, ArchiveError>?>(nil)
  private let isThere = DispatchSemaphore(value: 0)

  func give(_ result: Result<Value, ArchiveError>) {
    self.result.withLock { $0 = result }
    isThere.signal()
  }

  func wait(until end: ContinuousClock.Instant) throws(ArchiveError) -> Value {
    _ = isThere.wait(timeout: .now() + max(0, ContinuousClock.now.duration(to: end) / .seconds(1)))
    guard let result = result.withLock(\.self) else { throw ArchiveError(.inputOutput) }
    return try result.get()
  }
}

/// Takes the one task that the thread of a caller runs.
private final class CallingThread: TaskExecutor {
  private let jobs = Mutex<[UnownedJob]>([])

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
  }

  /// Makes a task, which does not begin yet.
  func begin(_ body: sending @escaping () async -> Void) {
    Task(executorPreference: self, operation: body)
  }

  /// Runs the task, as an actor if there is one, until the task ends or suspends.
  func run(on actor: UnownedSerialExecutor?) {
    while let job = jobs.withLock({ $0.popLast() }) {
      if let actor = unsafe actor {
        unsafe job.runSynchronously(isolatedTo: actor, taskExecutor: asUnownedTaskExecutor())
      } else {
        unsafe job.runSynchronously(on: asUnownedTaskExecutor())
      }
    }
  }
}

/// A thread for tasks that must not wait for one of the threads that tasks share.
private final class OwnThread: TaskExecutor {
  private let queue = DispatchQueue(label: "RestorationKit.BlockingCall", qos: .userInitiated)

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
