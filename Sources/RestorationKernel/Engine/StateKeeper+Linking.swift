internal import ArchiveCodec

/// Calls of a keeper whose states another place has, too.
extension StateKeeper {
  /// Lets the other place take part in a call, before it and in its turn.
  @discardableResult
  func fetch(for call: LinkedCall) async throws(ArchiveError) -> String? {
    let conditions = (settings.policy, settings.now())
    let fetch = { @Sendable [file] () async throws(ArchiveError) in
      try await file.fetch(for: call, conditions)
    }
    // The file may be another one by then.
    defer { known.writer = nil }
    guard let end = asking.blockedUntil else { return try await fetch() }
    guard let result = Blocking.call(until: end, fetch) else { throw ArchiveError(.inputOutput) }
    return try result.get()
  }

  /// Waits until the other place has the state that a save has written, and notes the answer in the report.
  func sent(_ report: PreservationReport) async throws(RestorationError) -> PreservationReport {
    guard report.outcome == .saved || report.outcome == .declined else { return report }
    let send = { @Sendable [file] in await file.send(after: .save) }
    let answer =
      if let end = asking.blockedUntil { Blocking.call(until: end, send)?.get() } else {
        await send()
      }
    let isLasting = file.linked?.isCopyLasting ?? true
    var report = report
    report.unsentAside = answer?.refusedMoment
    switch answer?.outcome {
    case .sent: break
    case .unsent(let error) where isLasting: report.unsent = error.subject ?? error.description
    case .unsent(let error): throw RestorationError(error)
    case .refused(let refusal):
      report.outcome = .refused(refusal)
      Problems.say(report.said)
    case nil where isLasting: break
    case nil: throw RestorationError(ArchiveError(.inputOutput))
    }
    return report
  }

  /// Waits until the other place has a change that was made beside a save.
  ///
  /// - Throws: If the other place has another state, or if the change is in no copy that lasts.
  func send(after call: LinkedCall) async throws(RestorationError) {
    switch await file.send(after: call).outcome {
    case .sent: break
    case .unsent(let error): if file.linked?.isCopyLasting == false { throw RestorationError(error) }
    case .refused(let refusal):
      throw RestorationError(
        RestorationError.Code("conflict"),
        "The store has another state: \(refusal). Choose with resolveConflict(keeping:).")
    }
  }

  /// Looks whether the other place has something newer, and sends what it does not have.
  package func look() async { _ = await file.send(after: .look) }

  /// Ends a conflict with the state that is elsewhere; returns where the one is that does not stay.
  package func resolve(keepingTheirs: Bool) async throws(RestorationError) -> String? {
    let moment = try await turns.run { () async throws(RestorationError) in
      if keepingTheirs { try checkNoneIsConnected() }
      do throws(ArchiveError) {
        return try await fetch(for: .resolve(keepingTheirs: keepingTheirs))
      } catch {
        throw RestorationError(error)
      }
    }
    if keepingTheirs { forgetState() }
    try await send(after: .resolve(keepingTheirs: keepingTheirs))
    // A change during the conflict may not be stored.
    if !keepingTheirs { autosave?.turns.change() }
    return moment
  }

  /// Where the states are.
  package var directory: any StateDirectory { settings.source.directory }

  /// The name of the state, or the one that it is to have.
  package var nameLookedAt: String { known.stateName ?? settings.source.name }
}
