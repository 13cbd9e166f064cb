internal import ArchiveCodec

/// Calls of a keeper whose states another place has, too.
extension StateKeeper {
  /// Lets the other place take part in a call, before it and in its turn.
  @discardableResult
  func fetch(for call: LinkedCall) async throws(ArchiveError) -> String? {
    let conditions = (settings.policy, settings.now())
    // The file may be another one by then.
    defer { known.writer = nil }
    let answer = await ask { queue in
      await Result { () async throws(ArchiveError) in try await queue.fetch(for: call, conditions) }
    }
    guard let answer else { throw ArchiveError(.inputOutput) }
    return try answer.get()
  }

  /// Waits until the other place has the state that a save has written, and notes the answer in the report.
  func sent(_ report: PreservationReport) async throws(RestorationError) -> PreservationReport {
    guard report.outcome == .saved || report.outcome == .declined else { return report }
    var report = report
    let answer = await ask { await $0.send(after: .save) }
    report.unsentAside = answer?.refusedMoment
    switch answer?.outcome {
    case .sent: break
    case .unsent(let error) where isCopyLasting: report.unsent = error.subject
    case .unsent(let error): throw RestorationError(error)
    case .refused(let refusal):
      (report.outcome, report.refusal) = (.refused(refusal.description), refusal)
      Problems.say(Array(report.said.prefix(1)))
    case nil: if !isCopyLasting { throw RestorationError(ArchiveError(.inputOutput)) }
    }
    return report
  }

  private var isCopyLasting: Bool { file.linked?.isCopyLasting ?? true }

  /// Waits until the other place has a change that was made beside a save.
  ///
  /// - Throws: If the other place has another state, or if the change is in no copy that lasts.
  func send(after call: LinkedCall) async throws(RestorationError) {
    guard file.linked != nil else { return }
    switch await file.send(after: call).outcome {
    case .sent: break
    case .unsent(let error): if !isCopyLasting { throw RestorationError(error) }
    case .refused(let refusal): throw .conflict(refusal.description)
    }
  }

  /// Looks whether the other place has something newer, and sends what it does not have.
  package func look() async { _ = await file.send(after: .look) }

  /// Ends a conflict with the state that is elsewhere; returns where the one is that does not stay.
  package func resolve(keepingTheirs: Bool) async throws(RestorationError) -> String? {
    let call = LinkedCall.resolve(keepingTheirs: keepingTheirs)
    let moment = try await turns.run { () async throws(RestorationError) in
      if keepingTheirs { try checkNoneIsConnected() }
      do throws(ArchiveError) { return try await fetch(for: call) } catch {
        throw RestorationError(error)
      }
    }
    if keepingTheirs { forgetState() }
    try await send(after: call)
    // A change during the conflict may not be stored.
    if !keepingTheirs { autosave?.turns.change() }
    return moment
  }

  /// Where the states are.
  package var directory: any StateDirectory { settings.source.directory }

  /// The name of the state, or the one that it is to have.
  package var nameLookedAt: String { known.stateName ?? settings.source.name }
}

extension RestorationError {
  static func conflict(_ refusal: String) -> RestorationError {
    RestorationError(
      Code("conflict"),
      "The store has another state: \(refusal). Choose with resolveConflict(keeping:).")
  }
}
