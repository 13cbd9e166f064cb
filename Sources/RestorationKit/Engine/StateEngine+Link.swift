internal import ArchiveCodec

/// Sends changes of a state that is also elsewhere, and ends its conflicts.
extension StateEngine {
  /// Waits until the other place has the state that a save has written, and notes the answer in the
  /// report.
  func send(
    _ report: PreservationReport, _ calls: FileCalls = .waiting
  ) async throws(RestorationError) -> PreservationReport {
    guard file.isLinked, report.outcome == .saved || report.outcome == .declined else {
      return report
    }
    var report = report
    let settingAside = report.setAside == nil ? nil : settings.settingAside
    let sent = await calls.first { [file] in await file.sendSaved(settingAside) }
    guard let sent else {
      guard settings.isCopyLasting else {
        throw RestorationError(ArchiveError(.inputOutput))
      }
      return report
    }
    switch sent.outcome {
    case .sent: break
    case .unsent(let error):
      guard sent.isCopyLasting else { throw RestorationError(error) }
      report.unsent = error.subject ?? error.description
    case .refused(let refusal): report.outcome = .refused(refusal)
    }
    report.unsentAside = sent.refusedAside
    return report
  }

  /// Waits until the other place has a change that was made beside a save.
  ///
  /// - Throws: If the other place has another state, or if the change is in no copy that lasts. A
  ///   change in a local copy that lasts is sent later.
  func send() async throws(RestorationError) {
    guard file.isLinked else { return }
    switch await file.send() {
    case .sent:
      if let failure = await file.removalFailure, await !file.isCopyLasting {
        throw RestorationError(failure)
      }
    case .unsent(let error):
      if await !file.isCopyLasting { throw RestorationError(error) }
    case .refused(let refusal): throw .refused(refusal)
    }
  }

  /// Ends a conflict with the state that is elsewhere; returns where the one is that does not stay.
  package func resolve(keepingTheirs: Bool) async throws(RestorationError) -> String? {
    claim.beginUse()
    defer { claim.endUse() }
    return try await turns.run { () async throws(RestorationError) in
      do throws(ArchiveError) {
        guard try await file.resolve(keepingTheirs: keepingTheirs, settings.settingAside) else {
          return nil
        }
      } catch {
        throw RestorationError(error)
      }
      if keepingTheirs {
        rows = Rows(signal)
        objects.kept = nil
        found.hasTriedToRestore = false
        found.lastStatus = .notRestoredYet
      }
      try await send()
      // A change during the conflict may not be stored.
      if !keepingTheirs { signal.tell() }
      return await file.reportSetAside()
    }
  }

  /// Whether somebody has to decide which of two states stays, as far as is known here.
  var isInConflict: Bool {
    settings.directory.linkedStates?.directory.linkedCopy(ofStateNamed: nameLookedAt).isInConflict
      ?? false
  }

  /// The name of the state that is claimed, or would be.
  package var nameLookedAt: String { claim.lookedAt + suffix }

  /// Where the states are.
  package var stateDirectory: any StateDirectory { settings.directory }
}
