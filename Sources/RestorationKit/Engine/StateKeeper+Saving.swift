internal import ArchiveCodec

extension StateKeeper {
  /// Saves what parts of the tree say.
  ///
  /// - Parameters:
  ///   - isByItself: Whether the autosave saves, which is told of all other saves.
  ///   - parts: Called in the turn of the save.
  /// - Returns: What the save did.
  /// - Throws: Why nothing could be stored.
  func save(
    byItself isByItself: Bool = false, _ parts: () -> SavedParts
  ) async throws(RestorationError) -> PreservationReport {
    let count = turns.overtakingCount
    let result = await Result { () async throws(RestorationError) in
      let report = try await call { () async throws in
        var isOutdated = false
        // An autosave may have waited for a call that has put another state back.
        while count == turns.overtakingCount, !isByItself || findings.hasTriedToRestore {
          do {
            asking.isUnderWay = true
            let asked = parts()
            asking.isUnderWay = false
            let report = try await saveNow(asked, byItself: isByItself, writesAnyway: isOutdated)
            if !asked.leaveNames || report.outcome != .saved { return report }
          } catch let error as ArchiveError where error.code == .outdated && !isOutdated {
            // Somebody has changed the stored state; what the file has kept of it decides what is written.
            isOutdated = true
          } catch {
            if count == turns.overtakingCount { throw error }
          }
        }
        // A later call has stored the state.
        return PreservationReport(count == turns.overtakingCount ? .declined : .saved)
      }
      return file.linked == nil ? report : try await sent(report)
    }
    settings.last?.save = result
    findings.lastSave = result.map(\.outcome)
    if !isByItself {
      autosave?.turns.goOn(
        isStored: findings.lastSave == .success(.saved), asksByTime: types.knowsUntracked)
    }
    return try result.get()
  }

  private func saveNow(
    _ parts: SavedParts, byItself isByItself: Bool, writesAnyway: Bool
  ) async throws -> PreservationReport {
    if findings.lastRestore == .success(.locked) { return PreservationReport(.locked) }
    if parts.roots == nil { try checkIsKnown() }
    var report = PreservationReport(.saved)
    if isIdle(parts) {
      describe(SurveyNotes(), nil, in: &report)
      return report
    }
    let unread = unreadNote
    try await prepare()
    let start = ContinuousClock.now
    let result: Survey.Result
    do {
      result = try surveyed(parts)
    } catch is Survey.Declined {
      report.outcome = .declined
      report.setAside = try await discardNow(keepsUnread: true)
      return report
    }
    report.measures.walk = start.duration(to: .now)
    report.isComplete = result.notes.isPlain || !result.notes.hasLosses
    // Nothing has changed since the app has discarded it.
    if isByItself, let discarded = findings.discarded, result.digest == discarded {
      giveBack(result.taken)
      return report
    }
    if writesAnyway || result.records.count > 0 || !result.removed.isEmpty || !isStored {
      try await write(result, isCompactionDue: !parts.leaving.isEmpty, &report)
    } else {
      apply(result)
      if !findings.isOnDisk {
        try await inFileNow { (queue) throws(ArchiveError) in try queue.file.synchronize() }
      }
    }
    (findings.isOnDisk, findings.hasTriedToRestore) = (true, true)
    describe(result.notes, unread, in: &report)
    if result.change.edits != nil { packDocument() }
    return report
  }

  /// What a save says of a state that nobody has read, and that it keeps in the history.
  private var unreadNote: ReportNote? {
    findings.hasTriedToRestore
      ? findings.unread.map { .unreadable($0.description) } : .notRestoredBefore
  }

  /// Writes a change.
  ///
  /// - Throws: `outdated` if a save that blocked the actor meanwhile has written a later one.
  private func write(
    _ result: Survey.Result, isCompactionDue: Bool, _ report: inout PreservationReport
  ) async throws(ArchiveError) {
    // Values may have been stored meanwhile without their actor.
    findings.lastWrite = max(findings.lastWrite, known.written.number) + 1
    let number = findings.lastWrite
    // A change that is there, and that a power cut may undo, is made to last by the next save.
    (findings.underWay, findings.isOnDisk, findings.records) = (result, false, nil)
    let hasNew = result.change.edits?.added.isEmpty == false
    let (records, removed) = (result.records, result.removed)
    let (byteCount, kept) = try await inFileNow { (queue) throws(ArchiveError) in
      try queue.append(
        number, records, hasNew: hasNew, removing: removed, isCompactionDue: isCompactionDue)
    }
    guard number == findings.lastWrite else { throw ArchiveError(.outdated) }
    (report.measures.written, report.setAside) = (byteCount, kept?.id)
    if asking.blockedUntil != nil { turns.overtakingCount += 1 }
  }

  /// Opens what the next change needs.
  ///
  /// The file is asked only if nothing is known since the last call, or not whether the last change is stored:
  /// the survey finds what is not.
  ///
  /// - Throws: `outdated` if a save that blocked the actor meanwhile has written a change.
  private func prepare() async throws(ArchiveError) {
    if file.linked != nil { try await fetch(for: .save) }
    guard known.writer == nil || document == nil || findings.underWay != nil else { return }
    let number = findings.lastWrite
    try await inFileNow { [isGoingOn = document != nil] (queue) throws(ArchiveError) in
      if !isGoingOn { queue.file.letBe() }
      _ = try queue.file.openWriter()
    }
    guard number == findings.lastWrite else { throw ArchiveError(.outdated) }
    // Without a writer nothing is stored of what the document has, after a failure between two calls.
    if known.writer == nil {
      settings.values?.beginAnew(withUnread: true)
      if document?.isEmpty == false { beginAnew() }
    }
    if document == nil { document = Document() }
  }

  /// Whether a survey would ask nobody, and find nothing to write (benchmark: none changed).
  private func isIdle(_ parts: SavedParts) -> Bool {
    guard let document, parts.scenes.isEmpty, parts.leaving.isEmpty, findings.isOnDisk,
      delegate == nil, settings.heard == nil, settings.values?.hasChanged != true,
      findings.registrationCount == registrationCount, known.writer != nil,
      document[Document.tree].body == .none, document.isSettled(settings.facts),
      KnownObjects.shared.changedSlots(of: owner).isEmpty
    else { return false }
    return parts.roots.map { document.hasPlaces(of: $0, owner) } ?? true && isStored
  }

  /// Whether what was stored last is still there; where nobody can see that, a write says why.
  private var isStored: Bool { known.writer?.isStored ?? true }

  private var registrationCount: Int { types.changeCount + objects.changeCount }

  func surveyed(_ parts: SavedParts) throws -> Survey.Result {
    asking.isUnderWay = true
    defer { asking.isUnderWay = false }
    if findings.registrationCount != registrationCount {
      KnownObjects.shared.askAll(of: owner)
      findings.registrationCount = registrationCount
    }
    let conditions = Survey.Conditions(
      now: settings.now(), policy: settings.policy, facts: settings.facts, coming: asking.coming,
      // A test asks all, since it is to find what does not say that it has changed.
      unsaid: settings.heard == nil ? [] : KnownObjects.shared.askAll(of: owner),
      storedRecord: { [writer = known.writer] (record) throws(ArchiveError) in
        try writer?.archive?.record(record)
      })
    let builder = known.writer?.builder() ?? RecordBuilder(limits: settings.source.limits)
    let values = settings.values?.write(
      to: builder, hiding: settings.host?.hiddenWindows ?? [],
      leaving: parts.leaveNames ? [] : Set(parts.leaving.map(\.identifier)))
    var survey = Survey(document ?? Document(), objects, owner, builder, conditions)
    do {
      var result = try survey.run(parts, delegate)
      if let values {
        (result.removed, result.values) = (result.removed + values.removed, values.changes)
      }
      return result
    } catch {
      giveBack(survey.asked)
      throw error
    }
  }

  /// Lets the next save ask what this one has asked, since it is not stored.
  func giveBack(_ taken: [AnyObject]) {
    KnownObjects.shared.askAgain(taken, of: owner, storedCount: document?.elements.count ?? 1)
  }

  func apply(_ result: Survey.Result) {
    document?.apply(result.change)
    settings.values?.settle(result.values, in: file)
    if let edits = result.change.edits { KnownObjects.shared.leave(edits.removed, of: owner) }
  }

  private func packDocument() {
    guard let count = document?.elements.count, let removed = document?.removedCount,
      removed > 1024, removed > count / 2, asking.coming == nil, findings.underWay == nil,
      let slots = document?.pack()
    else { return }
    KnownObjects.shared.move(slots, of: owner)
  }

  private func describe(
    _ survey: SurveyNotes, _ unread: ReportNote?, in report: inout PreservationReport
  ) {
    guard let document else { return }
    var notes = survey
    if report.setAside != nil, let unread { notes.add(unread, Document.tree) }
    report.version = known.writer?.version
    report.measures.stored = known.writer?.storedByteCount ?? 0
    (report.stateName, report.others) = (known.stateName, known.others)
    var others = document.elements.count - 1 - document.removedCount - notes.askedCount
    if !document.kept.isEmpty {
      others -= document.keptAndBelow.count
      report.kept = document.keptElements(types)
    }
    report.measures.unasked = max(0, others)
    report.lines = ReportEntries(notes, of: document)
    settings.values?.describe(in: &report)
  }
}
