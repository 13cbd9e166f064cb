public import ArchiveCodec

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
            if !asked.scenes.leaveNames || report.outcome != .saved { return report }
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
    report.walkDuration = start.duration(to: .now)
    report.isComplete = result.notes.isPlain || !result.notes.hasLosses
    // Nothing has changed since the app has discarded it.
    if isByItself, let discarded = findings.discarded, result.digest == discarded {
      giveBack(result.taken)
      return report
    }
    if writesAnyway || result.records.count > 0 || !result.removed.isEmpty || !isStored {
      try await write(result, isCompactionDue: !parts.scenes.leaving.isEmpty, &report)
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
    (report.counts.written, report.setAside) = (byteCount, kept?.id)
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
    guard let document, parts.scenes.isEmpty, findings.isOnDisk,
      delegate == nil, settings.heard == nil, settings.values?.hasChanged != true,
      findings.registrationCount == registrationCount, known.writer != nil,
      document[Document.tree].body == .none, document.isSettled(settings.facts),
      KnownObjects.shared.isUnchanged(owner)
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
      leaving: parts.scenes.leaveNames ? [] : Set(parts.scenes.leaving.map(\.identifier)))
    var survey = Survey(document ?? Document(), objects, owner, builder, conditions)
    do {
      var result = try survey.run(parts.roots, delegate, parts.scenes)
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
    report.counts.stored = known.writer?.storedByteCount ?? 0
    (report.stateName, report.otherInstances) = (known.stateName, known.others)
    var others = document.elements.count - 1 - document.removedCount - notes.askedCount
    if !document.kept.isEmpty {
      others -= document.keptAndBelow.count
      report.kept = document.keptElements(types)
    }
    report.counts.unasked = max(0, others)
    report.lines = ReportEntries(notes, of: document)
    settings.values?.describe(in: &report)
  }
}

/// What a save did, with a line for every node.
public struct PreservationReport: Hashable, Sendable {
  /// What became of the save as a whole.
  public typealias Outcome = ReportOutcome

  /// The outcome of the save as a whole.
  public internal(set) var outcome: Outcome

  /// The application if the report has a note on it, then the nodes in the order of the walk.
  ///
  /// A node that has not changed, and was not asked, has none; see ``unaskedCount``.
  ///
  /// - Complexity: O(*n*) in the number of entries when they are asked for first.
  public var entries: [ReportEntry] { lines.made.noting(otherInstances, .saved) }

  /// Makes the entries.
  var lines = ReportEntries { [] }

  /// The elements that are stored as they were, because the restore could not bring them back.
  ///
  /// ``StatePolicy/keptBound`` says for how long.
  public internal(set) var kept: [KeptElement] = []

  /// The version of the stored archive; nil if nothing is stored.
  public internal(set) var version: ArchiveVersion?

  /// How many stored elements were not asked, because they say when they change and
  /// have not changed; see ``StateTracking``.
  public var unaskedCount: Int { counts.unasked }

  /// The size of the stored state in bytes; 0 if nothing was saved.
  public var byteCount: Int { counts.stored }

  /// How many bytes of the state this save has written; 0 if nothing had changed.
  public var writtenByteCount: Int { counts.written }

  var counts = Counts()

  struct Counts: Hashable { var unasked = 0, stored = 0, written = 0 }

  /// How long the caller waited for the walk.
  public internal(set) var walkDuration: Duration = .zero

  /// The ``Moment/id`` of the state that gave way and was not read in this launch, or, where
  /// the gate said no, was not decoded whole; nil if none gave way.
  public internal(set) var setAside: String?

  /// Why the saved state is only in the local copy, and not in the store yet; nil if
  /// the store has it, or no store is used.
  public var unsent: String? { sending.problem }

  /// Why a state in the history is only on this machine, or without a local copy
  /// only in memory; nil if the store has it, or no store is used.
  ///
  /// The save with this text went on without the copy in the store. The next launch
  /// with a local copy tries again to send one that is too large; any other is sent
  /// again with the next save.
  public var unsentAside: String? { sending.problemOfMoment }

  var sending = Sending()

  struct Sending: Hashable { var problem: String?, problemOfMoment: String? }

  /// The name of the state that was saved.
  ///
  /// The name has a number if other instances have the names before it.
  public internal(set) var stateName: String?

  /// The instances that have the names before ``stateName``.
  public internal(set) var otherInstances: [OtherInstance] = []

  /// Whether all that the app has is stored, if the outcome is `saved`.
  var isComplete = true

  init(_ outcome: Outcome, _ others: [OtherInstance] = []) {
    (self.outcome, otherInstances) = (outcome, others)
  }

  /// The entries that the developer should look at, in order.
  public var problems: [ReportEntry] {
    lines.mayHaveProblems || !otherInstances.isEmpty ? entries.filter(\.isProblem) : []
  }
}

extension PreservationReport: CustomStringConvertible {
  /// A headline and a line for every node.
  public var description: String { entries.text(headline) }

  private var headline: String {
    let saved = writtenByteCount == 0 ? "; nothing has changed." : " \(writtenByteCount) bytes."
    if case .refused(let refusal) = outcome {
      return "Not in the store: \(refusal). It is kept here; choose with resolveConflict(keeping:)."
    }
    return (outcome == .saved ? "Saved" + saved : "Nothing saved: \(outcome.reason)")
      + (unsent.map { " It is not in the store yet, and sent when that can be reached. \($0)" }
        ?? "")
      + (unsentAside.map { " What was set aside is not in the store. \($0)" } ?? "")
      + (unaskedCount == 0 ? "" : " \(unaskedCount) more have not changed.")
      + setAside.setAsideSentence + otherInstances.sentence(stateName)
  }

  /// The problems of the save, each in a sentence with its place.
  var said: [String] {
    (outcome.isProblem ? [headline] : []) + problems.flatMap(\.said)
  }
}
