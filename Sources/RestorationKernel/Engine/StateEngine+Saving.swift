internal import ArchiveCodec

extension StateEngine {
  /// Saves what the roots and all below them say.
  ///
  /// - Parameters:
  ///   - isByItself: Whether the autosave saves, which is told of all other saves.
  ///   - calls: How the file is called; a save that blocks the actor comes before all others.
  ///   - participants: Called in the turn of the save; nil if the delegate is gone.
  /// - Returns: What the save did.
  /// - Throws: Why nothing could be stored.
  func save(
    byItself isByItself: Bool = false, _ calls: FileCalls = .waiting,
    _ participants: () -> Participants?
  ) async throws(RestorationError) -> PreservationReport {
    let count = turns.overtakingCount
    do throws(RestorationError) {
      var report = try await inTurn(calls) { () async throws(RestorationError) in
        // A later call has stored the state.
        guard count == turns.overtakingCount else { return PreservationReport(.saved) }
        guard let participants = participants() else { return PreservationReport(.delegateGone) }
        return try await saveNow(participants, byItself: isByItself, calls)
      }
      report.noteOtherKeeper(of: settings.source.name)
      Problems.say(report.said)
      settings.heard?(report.problems.map(\.description))
      settings.told?(.success(report))
      if !isByItself {
        signal.tell(
          report.outcome == .saved ? .stored(isPolled: types.knowsUntracked) : .notStored)
      }
      return report
    } catch {
      Problems.say(["The save has failed: \(error)"])
      settings.told?(.failure(error))
      if !isByItself { signal.tell(.notStored) }
      throw error
    }
  }

  private func inTurn(
    _ calls: FileCalls, _ body: () async throws(RestorationError) -> PreservationReport
  ) async throws(RestorationError) -> PreservationReport {
    calls.isBlocking ? try await turns.overtake(.other, body) : try await turns.run(.other, body)
  }

  private func saveNow(
    _ participants: Participants, byItself isByItself: Bool, _ calls: FileCalls
  ) async throws(RestorationError) -> PreservationReport {
    if findings.isLocked { return PreservationReport(.locked) }
    if let report = idleReport(participants) { return report }
    do {
      let report: PreservationReport
      do {
        report = try await survey(participants, byItself: isByItself, calls)
      } catch let error as ArchiveError where error.code == .outdated {
        // Somebody has changed the stored state; what the file has kept of it decides what is written.
        writer = nil
        report = try await survey(participants, byItself: isByItself, writesAnyway: true, calls)
      }
      findings.saveFailure = nil
      return report
    } catch let error as RestorationError {
      throw error
    } catch {
      writer = nil
      let error = error as? ArchiveError ?? .content(error)
      if error.code == .keyLocked { return PreservationReport(.locked) }
      if error.code == .locked { return PreservationReport(.inUse(by: error.subject)) }
      let failure = RestorationError(error)
      findings.saveFailure = failure.description
      throw failure
    }
  }

  private func survey(
    _ participants: Participants, byItself isByItself: Bool, writesAnyway: Bool = false,
    _ calls: FileCalls
  ) async throws -> PreservationReport {
    let count = turns.overtakingCount
    let unread: ReportNote? =
      findings.hasTriedToRestore
      ? findings.unread.map { .unreadable($0.description) } : .notRestoredBefore
    var report = PreservationReport(.saved)
    try await takeWrite(calls)
    let prepared = try await prepared(calls)
    // A save that blocked the actor meanwhile has stored a later state.
    guard count == turns.overtakingCount else { return report }
    take(prepared)
    let start = ContinuousClock.now
    let result: Survey.Result
    do {
      result = try surveyed(participants)
    } catch is Declined {
      (report.outcome, report.setAside) = (.declined, try await keepUnread(calls))
      try await discardNow(calls)
      return report
    }
    report.walkDuration = start.duration(to: .now)
    findings.isComplete = !result.notes.hasLosses
    // Nothing has changed since the app has discarded it.
    if isByItself, let discarded = findings.discarded, result.digest == discarded {
      giveBack(result.taken)
      return report
    }
    if writesAnyway || !result.isEmpty || !isStored {
      guard try await isWritten(result, calls, &report) else { return report }
    } else {
      apply(result.change)
      KnownObjects.shared.askAgain(result.askAgain, of: owner)
      if !findings.isOnDisk { try await synchronize(calls) }
    }
    findings.isOnDisk = true
    describe(result.notes, unread, in: &report)
    packDocument()
    return report
  }

  /// Keeps what nobody has read; what is locked was not read, so it stays where it is.
  private func keepUnread(_ calls: FileCalls) async throws -> String? {
    try await inFile(calls) { (file) throws(ArchiveError) in try file.keepUnread()?.id }
  }

  private func synchronize(_ calls: FileCalls) async throws {
    take(
      try await inFile(calls) { (file) throws(ArchiveError) -> FileQueue.Prepared in
        try file.synchronize()
        return (file.writer, file.numbering)
      })
  }

  /// Writes a change; false if another call has taken what became of it.
  private func isWritten(
    _ result: Survey.Result, _ calls: FileCalls, _ report: inout PreservationReport
  ) async throws(ArchiveError) -> Bool {
    let write = Write(number: turns.newNumber(), result: result)
    // Who asks for it meanwhile has to ask the file.
    (underWay, writer) = (write, nil)
    let (hasNew, conditions) = (!result.change.added.isEmpty, settings.ofCall)
    let written = await calls.first {
      [file, number = write.number, records = result.records, removed = result.removed] in
      await file.append(number, records, hasNew: hasNew, removing: removed, conditions)
    }
    guard let written else { throw ArchiveError(.inputOutput) }
    guard underWay?.number == write.number else { return false }
    let appended = try take(write, written)
    (report.writtenByteCount, report.setAside) = (appended.byteCount, appended.kept?.id)
    if calls.isBlocking { turns.noteOvertaking() }
    return true
  }

  /// What the next change needs; the file is asked only if nothing is known since the last call.
  func prepared(
    _ calls: FileCalls
  ) async throws(ArchiveError) -> FileQueue.Prepared {
    if known.writer != nil { return known }
    return try await calls {
      [file, isGoingOn = document != nil, conditions = settings.ofCall]
      () async throws(ArchiveError) in
      try await file.prepared(goingOn: isGoingOn, conditions)
    }
  }

  /// Lets the document be the one that the next change goes on from.
  func take(_ prepared: FileQueue.Prepared) {
    // Without a writer nothing is stored of what the document has, after a failure between two calls.
    if prepared.writer == nil, document?.isEmpty == false { beginAnew() }
    if prepared.numbering != known.numbering { document?.forgetFingerprints() }
    known = prepared
    if document == nil { document = Document() }
  }

  /// The report of a save that has nobody to ask, and nothing to write; nil if there may be something.
  ///
  /// No survey begins then, and no file is called (benchmark: none changed).
  private func idleReport(_ participants: Participants) -> PreservationReport? {
    guard let document, writer != nil, findings.isOnDisk, asking.coming == nil,
      settings.heard == nil,
      participants.delegate == nil, findings.registrationCount == registrationCount,
      KnownObjects.shared.isUnchanged(owner), document.isSettled(facts),
      document.hasStored(participants.roots, of: owner), isStored
    else { return nil }
    (findings.saveFailure, findings.isComplete) = (nil, true)
    var report = PreservationReport(.saved)
    describe(SurveyNotes(), nil, in: &report)
    return report
  }

  /// Whether what was stored last is still there; where nobody can see that, a write says why.
  private var isStored: Bool {
    writer.map { (try? $0.checkIsCurrent()) != nil } ?? true
  }

  private var registrationCount: Int { types.changeCount + objects.changeCount }

  func surveyed(_ participants: Participants) throws -> Survey.Result {
    asking.isUnderWay = true
    defer { asking.isUnderWay = false }
    if findings.registrationCount != registrationCount {
      KnownObjects.shared.askAll(of: owner)
      findings.registrationCount = registrationCount
    }
    // A test asks all, since it is to find what does not say that it has changed.
    let unsaid = settings.heard == nil ? [] : KnownObjects.shared.askAll(of: owner)
    let conditions = Survey.Conditions(
      now: settings.now(), keptBound: settings.policy.keptBound,
      nodeLimit: settings.policy.nodeLimit, facts: facts, coming: asking.coming, unsaid: unsaid,
      storedRecord: { [writer] (record) throws(ArchiveError) in
        try writer?.archive?.record(record)
      })
    let builder = writer?.builder() ?? RecordBuilder(limits: settings.source.limits)
    var survey = Survey(document ?? Document(), objects, forms, owner, builder, conditions)
    do {
      return try survey.run(participants.roots) { coder in
        guard let delegate = participants.delegate else { return }
        var isSaving = true
        coder.ask(ReportNote.encodeFailed) {
          isSaving = delegate.shouldSaveApplicationState(with: coder)
        }
        guard isSaving else { throw Declined() }
        coder.ask(ReportNote.willEncodeFailed) {
          try delegate.willEncodeRestorableState(with: coder)
        }
      }
    } catch {
      giveBack(survey.taken)
      throw error
    }
  }

  /// Lets the next save ask what this one has asked, since it is not stored.
  func giveBack(_ taken: [AnyObject]) {
    KnownObjects.shared.giveBack(taken, of: owner, storedCount: document?.elements.count ?? 1)
    forms.forgetNew()
  }

  func apply(_ change: Change) {
    document?.apply(change)
    KnownObjects.shared.leave(change.removed, of: owner)
  }

  private func packDocument() {
    guard let count = document?.elements.count, let removed = document?.removedCount,
      removed > 1024, removed > count / 2, let slots = document?.pack()
    else { return }
    KnownObjects.shared.move(slots, of: owner)
  }

  private func describe(
    _ survey: SurveyNotes, _ unread: ReportNote?, in report: inout PreservationReport
  ) {
    guard let document else { return }
    var notes = survey
    if report.setAside != nil, let unread { notes.add(unread, Document.tree) }
    report.version = writer?.version
    report.byteCount = writer?.storedByteCount ?? 0
    (report.stateName, report.otherInstances) = settings.source.holding.now
    let kept = document.keptAndBelow.count
    let stored = document.elements.count - 1 - document.removedCount - kept
    report.unaskedCount = max(0, stored - notes.askedCount)
    report.kept = document.keptElements(types)
    if notes.isShort {
      let entries = notes.entries(document)
      report.lines = ReportEntries { entries }
    } else {
      report.lines = ReportEntries { [notes] in notes.entries(document) }
    }
  }
}

extension StateEncoder {
  /// Calls a hook; what it encoded goes if it throws, and a note says why.
  fileprivate func ask(_ note: (String) -> ReportNote, _ hook: () throws -> Void) {
    do { try attempt { try using(hook) } } catch { self.note(note(error.reason)) }
  }
}

/// The gate of a save has said no.
private struct Declined: Error {}
