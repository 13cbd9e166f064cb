internal import ArchiveCodec

/// Sends changes of a state that several machines share, and ends its conflicts.
extension StateEngine {
  /// Waits until the store has the state that a save has written, and notes the
  /// answer in the report.
  func send(
    _ report: PreservationReport, _ calls: FileCalls = .waiting
  ) async throws(RestorationError) -> PreservationReport {
    guard file.isShared, report.outcome == .saved || report.outcome == .declined else {
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
      guard sent.isCopyLasting else {
        throw RestorationError(ArchiveError.storeUnavailable(error))
      }
      report.unsent = error.description
    case .conflict(let conflict): report.outcome = .conflict(conflict)
    }
    report.unsentAside = sent.refusal?.description
    return report
  }

  /// Waits until the store has a change that was made beside a save.
  ///
  /// - Throws: If the store has another state, or if the change is in no copy that lasts. A change
  ///   in a local copy that lasts is sent later.
  func send() async throws(RestorationError) {
    guard file.isShared else { return }
    switch await file.send() {
    case .sent:
      if let failure = await file.removalFailure, await !file.isCopyLasting {
        throw RestorationError(ArchiveError.storeUnavailable(failure))
      }
    case .unsent(let error):
      if await !file.isCopyLasting {
        throw RestorationError(ArchiveError.storeUnavailable(error))
      }
    case .conflict(let conflict): throw .conflict(conflict)
    }
  }

  func resolveConflict(keeping choice: ConflictChoice) async throws(RestorationError) -> String? {
    claim.beginUse()
    defer { claim.endUse() }
    return try await turns.run { () async throws(RestorationError) in
      do throws(ArchiveError) {
        guard try await file.resolve(choice, settings.settingAside) else { return nil }
      } catch {
        throw RestorationError(error)
      }
      if choice == .theirs {
        rows = Rows(signal)
        objects.kept = nil
        found.hasTriedToRestore = false
        found.lastStatus = .notRestoredYet
      }
      try await send()
      // A change during the conflict may not be stored.
      if choice != .theirs { signal.tell() }
      return await file.reportSetAside()
    }
  }
}

extension StateEngine {
  /// The copy under the name that is claimed, or would be.
  private var copy: RemoteCopy? {
    settings.directory.shared?.copy(of: claim.lookedAt + suffix)
  }

  var remoteStatus: RemoteStatus? { copy?.status }

  var remoteStatusChanges: AsyncStream<RemoteStatus> {
    settings.directory.shared?.listen()
    return copy?.statusChanges ?? AsyncStream { $0.finish() }
  }

  func checkRemoteState() async -> RemoteStatus? {
    await file.check()
    return remoteStatus
  }
}
