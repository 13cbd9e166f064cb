internal import ArchiveCodec
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension StateEngine {
  /// Saves what the roots and all below them say.
  ///
  /// The participants are asked for in the turn of the save; none if the delegate is gone.
  func save(
    _ participants: () -> Participants?
  ) async throws(RestorationError) -> PreservationReport {
    do throws(RestorationError) {
      let report = try await turns.run { () async throws(RestorationError) in
        guard let participants = participants() else { return PreservationReport(.delegateGone) }
        return try await saveNow(participants)
      }
      Problems.say(report.said)
      settings.heard?(report.problems.map(\.description))
      return report
    } catch {
      Problems.say(["The save has failed: \(error)"])
      throw error
    }
  }

  private func saveNow(
    _ participants: Participants
  ) async throws(RestorationError) -> PreservationReport {
    if findings.isLocked { return PreservationReport(.locked) }
    do {
      let report: PreservationReport
      do {
        report = try await survey(participants)
      } catch let error as ArchiveError where error.code == .outdated {
        // Somebody has changed the stored state; what the file has kept of it decides what is written.
        if await file.hasLostRecords { beginAnew() }
        report = try await survey(participants, writesAnyway: true)
      }
      findings.saveFailure = nil
      return report
    } catch let error as RestorationError {
      throw error
    } catch {
      let error = error as? ArchiveError ?? .content(error)
      if error.code == .keyLocked { return PreservationReport(.locked) }
      if error.code == .locked { return PreservationReport(.inUse(by: error.subject)) }
      let failure = RestorationError(error)
      findings.saveFailure = failure.description
      throw failure
    }
  }

  private func survey(
    _ participants: Participants, writesAnyway: Bool = false
  ) async throws -> PreservationReport {
    let comesFirst = !findings.hasTriedToRestore
    var report = PreservationReport(.saved)
    try await goOnAfterClose()
    writer = try await file.prepared()
    if document == nil { document = Document() }
    let start = ContinuousClock.now
    let result: Survey.Result
    do {
      result = try surveyed(participants)
    } catch is Declined {
      try await discardNow()
      report.outcome = .declined
      return report
    }
    report.walkDuration = start.duration(to: .now)
    var change = result.change
    var failure: ArchiveError?
    if try writesAnyway || !result.isEmpty || !isStored() {
      do throws(ArchiveError) {
        let written = try await file.append(
          result.records, removing: result.removed, at: SaveFacts.number(of: settings.now()),
          settings.ofFile)
        report.writtenByteCount = written.byteCount
        report.setAside = written.kept?.id
        if written.isRenumbered { document?.forgetFingerprints() }
      } catch {
        // The change is there, but a power cut may undo it.
        guard error.code == .notDurable else {
          giveBack(result.taken)
          throw error
        }
        failure = error
      }
      if !change.added.isEmpty {
        change.setFingerprints(await file.fingerprints(of: result.records))
      }
      writer = await file.writer
    }
    commit(change)
    if let failure { throw failure }
    KnownObjects.shared.askAgain(result.askAgain)
    await noteInstances()
    describe(result, comesFirst: comesFirst, in: &report)
    return report
  }

  /// Opens the file again after the keeper was closed; if it has another state by now, the next one begins
  /// anew beside that.
  private func goOnAfterClose() async throws(ArchiveError) {
    guard let version = findings.closedVersion else { return }
    findings.closedVersion = nil
    let opened = try await file.open(settings.ofFile)
    opened.mark?.endRestore()
    if await file.writer?.version != version { beginAnew() }
  }

  /// Whether what was stored last is still there.
  private func isStored() throws(ArchiveError) -> Bool {
    do throws(ArchiveError) {
      try writer?.checkIsCurrent()
      return true
    } catch {
      guard error.code == .outdated else { throw error }
      return false
    }
  }

  private func surveyed(_ participants: Participants) throws -> Survey.Result {
    let registrationCount = types.changeCount + objects.changeCount
    if findings.registrationCount != registrationCount {
      KnownObjects.shared.askAll(of: owner)
      findings.registrationCount = registrationCount
    }
    let conditions = Survey.Conditions(
      now: settings.now(), keptBound: settings.policy.keptBound,
      nodeLimit: settings.policy.nodeLimit, facts: facts,
      storedRecord: { [writer] (record) throws(ArchiveError) in
        try writer?.archive?.record(record)
      })
    let builder = writer?.builder() ?? RecordBuilder(limits: settings.limits)
    var survey = Survey(document ?? Document(), objects, forms, owner, builder, conditions)
    do {
      return try survey.run(participants.roots) { coder in
        guard let delegate = participants.delegate else { return }
        var isSaving = true
        do {
          try coder.attempt { isSaving = delegate.shouldSaveApplicationState(with: coder) }
        } catch {
          coder.note(.encodeFailed(error.reason))
        }
        guard isSaving else { throw Declined() }
        do {
          try coder.attempt { try delegate.willEncodeRestorableState(with: coder) }
        } catch {
          coder.note(.willEncodeFailed(error.reason))
        }
      }
    } catch {
      giveBack(survey.taken)
      throw error
    }
  }

  /// Lets the next save ask what this one has asked, since it is not stored.
  private func giveBack(_ taken: [AnyObject]) {
    KnownObjects.shared.giveBack(taken, storedCount: document?.elements.count ?? 1)
    forms.forgetNew()
  }

  private func commit(_ change: consuming Change) {
    document?.apply(change)
    guard let count = document?.elements.count, let removed = document?.removedCount,
      removed > 1024, removed > count / 2, let slots = document?.pack()
    else { return }
    KnownObjects.shared.move(slots, of: owner)
  }

  private func describe(
    _ result: Survey.Result, comesFirst: Bool, in report: inout PreservationReport
  ) {
    guard let document else { return }
    var notes = result.notes
    if report.setAside != nil, comesFirst { notes.add(.notRestoredBefore, Document.tree) }
    report.version = writer?.version
    report.byteCount = writer?.storedByteCount ?? 0
    (report.stateName, report.otherInstances) = (findings.name, findings.others)
    let kept = document.kept.keys.reduce(0) { $0 + document.subtree(of: $1).count }
    let stored = document.elements.count - 1 - document.removedCount - kept
    report.unaskedCount = max(0, stored - notes.askedCount)
    report.kept = document.keptElements(types)
    report.lines = ReportEntries { [notes] in notes.entries(document) }
  }
}

/// The gate of a save has said no.
private struct Declined: Error {}
