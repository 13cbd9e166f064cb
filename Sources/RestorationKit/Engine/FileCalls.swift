internal import ArchiveCodec

/// How a save calls files: its actor is free until they have answered, or blocked.
enum FileCalls {
  case waiting
  /// The caller blocks the actor: nothing that runs there can be awaited, and no
  /// other task runs there.
  case blocking(until: ContinuousClock.Instant)

  var isBlocking: Bool {
    if case .blocking = self { true } else { false }
  }

  /// Calls a file.
  ///
  /// - Throws: The error of the call; `inputOutput` if the call has not ended in time. The
  ///   call goes on then.
  func callAsFunction<Value: Sendable>(
    _ call: @escaping @Sendable () async throws(ArchiveError) -> Value
  ) async throws(ArchiveError) -> Value {
    guard case .blocking(let end) = self else { return try await call() }
    guard let result = Blocking.call(until: end, call) else { throw ArchiveError(.inputOutput) }
    return try result.get()
  }

  /// Calls a file where the call throws nothing; nil if the call has not ended in time.
  func first<Value: Sendable>(_ call: @escaping @Sendable () async -> Value) async -> Value? {
    guard case .blocking(let end) = self else { return await call() }
    return Blocking.call(until: end, call)?.get()
  }
}
