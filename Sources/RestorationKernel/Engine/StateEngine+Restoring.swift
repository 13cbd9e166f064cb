internal import ArchiveCodec
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension StateEngine {
  /// Restores what is stored.
  ///
  /// - Parameter participants: Called in the turn of the restore; nil if the delegate is gone.
  func restore(
    _ participants: () -> Participants?
  ) async throws(RestorationError) -> RestorationReport {
    do throws(RestorationError) {
      let report = try await turns.run(.restore) { () async throws(RestorationError) in
        guard let participants = participants() else { return RestorationReport(.delegateGone) }
        return try await restoreNow(participants)
      }
      Problems.say(report.said)
      settings.heard?(report.problems.map(\.description))
      return report
    } catch {
      Problems.say(["The restore has failed: \(error)"])
      throw error
    }
  }

  private func restoreNow(
    _ participants: Participants
  ) async throws(RestorationError) -> RestorationReport {
    findings.hasTriedToRestore = true
    // An autosave may have found that there is nothing to save yet.
    defer { signal.tell() }
    // Whatever was saved so far is stored.
    beginAnew()
    let opened: StateArchive.Opened?
    do throws(ArchiveError) {
      opened = try await file.open(creatingKey: false)
    } catch {
      if error.code == .keyLocked {
        findings.isLocked = true
        findings.lastStatus = .locked
        return RestorationReport(.locked)
      }
      let failure = RestorationError.notRestored(error, makesKey: settings.keys.makesKey)
      findings.lastStatus = .failed(failure.description)
      throw failure
    }
    findings.isLocked = false
    var report = RestorationReport(.noArchive)
    if let opened {
      writer = opened.writer
      if let (stored, records) = opened.stored {
        report = restore(stored, records, participants)
      } else {
        document = Document()
      }
    }
    report.stateName = settings.name
    findings.lastStatus = RestorationStatus(after: report.outcome)
    return report
  }

  private func restore(
    _ stored: Document, _ records: StoredRecords, _ participants: Participants
  ) -> RestorationReport {
    let start = ContinuousClock.now
    let run = RestorationRun(
      stored, objects, delegate: participants.delegate, roots: participants.roots, .init()
    ) { (record) throws(ArchiveError) in try records.decoder(of: record) }
    var report = RestorationReport(run.run())
    guard report.outcome == .restored else { return report }
    let document = run.settled(stored, at: settings.now()) { records.byteCount(of: $0) }
    report.lines = run.entries(document)
    report.kept = run.kept(document)
    know(run, document)
    run.restored.forget()
    self.document = document
    report.walkDuration = start.duration(to: .now)
    return report
  }

  /// Finds objects by themselves from now on: all of them, if what is kept may refer to any, or may lie
  /// below any; the next save asks them.
  private func know(_ run: RestorationRun, _ document: Document) {
    guard document.findsAllByObject else { return }
    for slot in run.order {
      guard let object = run.restored.object(at: slot), run.outcomes.isDecodable(slot),
        !run.outcomes.kept.contains(slot)
      else { continue }
      KnownObjects.shared.note(object, at: slot, of: owner, hasChanged: true)
    }
  }
}
