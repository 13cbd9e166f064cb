internal import ArchiveCodec

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
        // A call that has not ended in time goes on.
        try (Blocking.call(until: end, call) ?? .failure(ArchiveError(.inputOutput))).get()
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
  private func settle(_ written: FileQueue.Written) {
    guard let result = findings.underWay.take() else { return }
    guard written.isThere else { return giveBack(result.taken) }
    (findings.discarded, findings.unread) = (nil, nil)
    let count = document?.elements.count ?? 0
    apply(result)
    document?.setFingerprints(written.fingerprints, from: count)
  }

  /// Runs an asynchronous body to its end on the caller's actor, which is blocked: calls of the file block the
  /// thread, and no other task runs on the actor.
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
    return Blocking.run(isolation: isolation, body)
  }
}
