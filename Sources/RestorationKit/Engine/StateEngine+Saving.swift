internal import ArchiveCodec

extension StateEngine {
  /// Stores the state.
  ///
  /// A report that is there at the save's turn ends the save as it is. With `everything` the save
  /// also asks objects that say when they change. The participants are asked for after the last wait
  /// before a walk, and again if that walk has to be repeated; nil if their scene was let go.
  func save(
    everything: Bool, _ calls: FileCalls = .waiting,
    unless ended: () async throws(RestorationError) -> PreservationReport? = { nil },
    with participants: () throws(RestorationError) -> SaveParticipants?
  ) async throws(RestorationError) -> PreservationReport {
    do throws(RestorationError) {
      let report = try await saveInTurn(
        everything: everything, calls, unless: ended, with: participants)
      Problems.say(report.said)
      settings.heard?(report.problems.map(\.description))
      told?(.success(report))
      return report
    } catch {
      Problems.say(["The save has failed: \(error)"])
      told?(.failure(error))
      throw error
    }
  }

  private func saveInTurn(
    everything: Bool, _ calls: FileCalls,
    unless ended: () async throws(RestorationError) -> PreservationReport?,
    with participants: () throws(RestorationError) -> SaveParticipants?
  ) async throws(RestorationError) -> PreservationReport {
    claim.beginUse()
    defer { claim.endUse() }
    if calls.isBlocking { try throwDuringRestore() }
    let count = turns.overtakingCount
    var (report, hasEnded) = try await inTurn(.other, calls) { () async throws(RestorationError) in
      if let report = try await ended() { return (report, true) }
      // A later call has stored the state.
      guard count == turns.overtakingCount else { return (PreservationReport(.saved), true) }
      do throws(RestorationError) {
        return (try await save(participants, everything: everything, calls), false)
      } catch {
        if error != .processEnds { await noteProblems(["save failed: \(error.name)"], calls) }
        throw error
      }
    }
    if hasEnded { return report }
    noteOtherKeeper(in: &report)
    // The next save may walk meanwhile.
    return try await send(report, calls)
  }

  /// Throws while a restore is under way, which cannot end while its actor is blocked.
  func throwDuringRestore() throws(RestorationError) {
    if turns.running == .restore { throw .restoreUnderWay }
  }

  /// Tells an autosave the outcome of a save, unless the save is its own.
  ///
  /// All saves of keepers and scenes go through this function, so that an autosave never goes by
  /// the outcome of an older save.
  func telling(
    byItself: Bool, _ save: () async throws(RestorationError) -> PreservationReport
  ) async throws(RestorationError) -> PreservationReport {
    do throws(RestorationError) {
      let report = try await save()
      if byItself { return report }
      switch report.outcome {
      case .saved: signal.tell(.stored(isPolled: isPolled))
      // The call that has let the scene go tells the autosave, too.
      case .disconnected: break
      case .declined, .locked, .inUse, .delegateGone, .refused: signal.tell(.notStored)
      }
      return report
    } catch {
      if !byItself { signal.tell(.notStored) }
      throw error
    }
  }

  private func save(
    _ participants: () throws(RestorationError) -> SaveParticipants?, everything: Bool,
    _ calls: FileCalls
  ) async throws(RestorationError) -> PreservationReport {
    if isLocked { return PreservationReport(.locked) }
    if let values { found.undecoded.formUnion(values.store.takeUndecoded()) }
    func walk(changing builder: RecordBuilder?) async throws -> PreservationReport {
      guard let participants = try participants() else {
        return PreservationReport(.disconnected)
      }
      let content = SavedContent(
        participants: participants, everything: everything || settings.heard != nil)
      return try await save(content, changing: builder, calls)
    }
    do {
      return try await save(calls, walk)
    } catch let error as ArchiveError {
      if error.code == .keyLocked { return PreservationReport(.locked) }
      if error.code == .locked { return PreservationReport(.inUse(by: error.subject)) }
      let failure = RestorationError(error)
      found.saveFailure = failure.description
      throw failure
    } catch let error as RestorationError {
      throw error
    } catch {
      throw RestorationError(.content(error))
    }
  }

  /// Finds out which version is stored, and walks; walks once more if another one
  /// was stored by then.
  private func save(
    _ calls: FileCalls, _ walk: (RecordBuilder?) async throws -> PreservationReport
  ) async throws -> PreservationReport {
    // The open archive of a file must not be asked while the thread of the file hangs, as it may
    // after a save that nobody waited for.
    if calls.isBlocking || rows.run.save > 0 && !rows.run.isCommitted {
      try await calls { [file] () async throws(ArchiveError) in await file.takeTurn() }
    }
    let builder = try await builderOfChanges(calls)
    do throws(any Error) {
      return try await walk(builder)
    } catch let error as ArchiveError where error.code == .outdated {
      // Another process has changed the stored state, or a save that blocked the actor has, so all
      // is written.
      return try await walk(nil)
    }
  }

  private struct SavedContent {
    let participants: SaveParticipants
    let everything: Bool
  }

  /// A builder for changes of the version that the rows know; nil if all is to be written.
  private func builderOfChanges(
    _ calls: FileCalls
  ) async throws(ArchiveError) -> RecordBuilder? {
    // A save that has overtaken another one, of which nobody knows yet whether it is stored, knows
    // nothing of what is stored.
    guard !rows.run.isUnderWay, let version = rows.whole.version, found.undecoded.isEmpty else {
      return nil
    }
    if let builder = file.open.builder(changing: version) { return builder }
    try await calls { [file] () async throws(ArchiveError) in
      await file.prepareChanges(of: version)
    }
    // A save that blocked the actor meanwhile may have left other rows.
    guard rows.whole.version == version else { return nil }
    return file.open.builder(changing: version)
  }

  private func save(
    _ content: SavedContent, changing builder: RecordBuilder?, _ calls: FileCalls
  ) async throws -> PreservationReport {
    let start = ContinuousClock.now
    let (number, overtakingCount) = (turns.newNumber(), turns.overtakingCount)
    let comesFirst = !hasTriedToRestore
    let before = rows
    let walk = beginWalk(changing: builder)
    var (hasMetAll, isCommitted) = (false, false)
    defer {
      walk.end()
      if !isCommitted { giveUp(walk, hasMetAll: hasMetAll, before) }
    }
    guard try preserve(content, with: walk) else {
      // Nothing that the rows know is stored after this.
      for rows in [walk.rows, before] { rows.whole.version = nil }
      return try await decline(number: number, calls)
    }
    hasMetAll = true
    noteUnstored(walk)
    var report = PreservationReport(.saved)
    report.walkDuration = start.duration(to: .now)
    if !walk.records.lost.isEmpty {
      try walk.keepLastStates(from: try await lastStates(of: walk, calls))
    }
    let settlement = walk.settlement()
    let undecoded = found.undecoded
    let written = try await write(walk, number: number, calls)
    note(in: &report)
    guard let written else {
      guard overtakingCount != turns.overtakingCount else { throw RestorationError.processEnds }
      // A save that blocked the actor meanwhile has stored a later state.
      return PreservationReport(.saved)
    }
    if calls.isBlocking { turns.noteOvertaking() }
    if written.setAside != nil {
      if comesFirst { walk.noteApplication(.notRestoredBefore) }
      if let unread = found.unread { walk.noteApplication(.unreadable(unread.description)) }
    }
    found.unread = nil
    walk.rows.note(written.fingerprints)
    walk.commit(as: written.version)
    isCommitted = true
    describe(written, by: walk, in: &report)
    found.undecoded.subtract(undecoded)
    settle(settlement, of: walk.kept)
    await noteProblems(walk.problems(besides: content.participants.notes), calls)
    return report
  }

  /// Notes whether the walk has all that the app has, and tells the app of values that it lacks.
  private func noteUnstored(_ walk: PreservationWalk) {
    isComplete = walk.isComplete && values?.store.hasUnstored != true
    guard !isComplete, let store = settings.valuesOfApp else { return }
    for problem in walk.unstoredValues { store.noteOfSave(problem) }
  }

  /// Notes the problems of a save for tools, unless the same are noted.
  private func noteProblems(_ lines: [String], _ calls: FileCalls) async {
    if let noted = found.notedProblems, noted == (stateName, lines) { return }
    found.notedProblems = (stateName, lines)
    _ = await calls.first { [file] in await file.note(problems: lines) }
  }

  private func describe(
    _ written: StateFile.Written, by walk: PreservationWalk, in report: inout PreservationReport
  ) {
    walk.describe(in: &report)
    report.unaskedCount = walk.unaskedCount
    report.take(written)
  }

  /// Begins a walk over the rows that know what is stored, or over new ones.
  private func beginWalk(changing builder: RecordBuilder?) -> PreservationWalk {
    if builder == nil { rows = Rows(signal) }
    return PreservationWalk(
      rows, changing: builder, objects: objects, limits: settings.limits,
      PreservationWalk.Conditions(
        nodeLimit: settings.policy.nodeLimit, now: settings.now(),
        keptBound: settings.policy.keptBound,
        checkedNodeCount: settings.checksAllContents
          ? .max : Problems.isDebugBuild && Problems.isHeard ? 16 : 0,
        remembersSaid: settings.isPolled || leavingCount > 0))
  }

  /// Lets the next save ask everything, since a walk is not stored.
  ///
  /// An object that a broken walk has not met is heard by the rows from before the walk.
  private func giveUp(_ walk: PreservationWalk, hasMetAll: Bool, _ before: Rows) {
    walk.rows.giveUpSave(hasMetAll: hasMetAll)
    guard !hasMetAll, before.isHeard, rows === walk.rows else { return }
    rows = before
    rows.whole.canDiff = false
  }

  /// Removes the stored state, since the gate has said no.
  private func decline(
    number: UInt64, _ calls: FileCalls
  ) async throws(ArchiveError) -> PreservationReport {
    var report = PreservationReport(.declined)
    report.setAside = try await calls {
      [file, settingAside] () async throws(ArchiveError) in
      try await file.decline(number: number, settingAside)
    }
    objects.kept = nil
    found.undecoded = []
    found.unread = nil
    note(in: &report)
    return report
  }

  private func settle(_ settlement: KeptRecords.Settlement, of kept: KeptRecords?) {
    guard let kept else { return }
    kept.settle(settlement)
    // Once nothing is kept any more, saves need not ask everything.
    if kept.isEmpty, objects.kept === kept { objects.kept = nil }
  }

  /// Writes all records, or the changed ones; nil if a later state was written before.
  private func write(
    _ walk: PreservationWalk, number: UInt64, _ calls: FileCalls
  ) async throws(ArchiveError) -> StateFile.Written? {
    let (records, removed) = try walk.finish()
    walk.end()
    guard !walk.records.rewrites, let version = walk.rows.whole.version else {
      return try await calls {
        [file, settingAside, time = walk.time] () async throws(ArchiveError) in
        try await file.write(records, number: number, time: time, settingAside)
      }
    }
    let isUnchanged = !walk.records.hasWritten && removed.isEmpty
    let change = StateChange(
      version: version, records: isUnchanged ? nil : records, removed: removed, time: walk.time)
    return try await calls { [file, settingAside] () async throws(ArchiveError) in
      try await file.append(change, number: number, settingAside)
    }
  }

  private func note(in report: inout PreservationReport) {
    report.stateName = stateName
    report.otherInstances = otherInstances
    found.saveFailure = nil
    // The instance that had the state has let go of it.
    if case .inUse = found.lastStatus { found.lastStatus = .notRestoredYet }
  }

  /// The stored states of the nodes whose state could not be encoded; nil if none can be read.
  private func lastStates(
    of walk: PreservationWalk, _ calls: FileCalls
  ) async throws(ArchiveError) -> (any LastStates)? {
    if let numbers = walk.lastRecords, let version = walk.rows.whole.version,
      let records = try await calls({ [file] () async throws(ArchiveError) in
        try await file.records(numbers, of: version)
      })
    {
      return LastRecords(records, walk.rows)
    }
    return try await lastTree(calls).map {
      LastElements($0, walk.rows, knowsObjects: walk.knowsOwners)
    }
  }

  /// The stored state, for nodes whose state could not be encoded.
  ///
  /// A state that can never be read is as good as none here, since the write sets it aside. Any
  /// other failure ends the save, which would replace a state that could be read next time.
  private func lastTree(_ calls: FileCalls) async throws(ArchiveError) -> StoredTree? {
    do throws(ArchiveError) {
      return try await calls { [file] () async throws(ArchiveError) in
        try await file.take()
        return try await file.read()
      }
    } catch {
      guard error.isAboutContent || error.code == .keyMissing else { throw error }
      return nil
    }
  }

  /// Makes all calls of the app in a save, in one go; false if the gate says no.
  private func preserve(_ content: SavedContent, with walk: PreservationWalk) throws -> Bool {
    guard try encodeApplication(content, walk) else { return false }
    try walk.walk(withValues(content.participants.roots), everything: content.everything)
    return true
  }

  /// Asks the gate and lets the delegate write; false if the gate says no.
  private func encodeApplication(_ content: SavedContent, _ walk: PreservationWalk) throws -> Bool {
    do {
      try walk.encodeApplication(
        facts: { settings.environment.encode(with: $0, timestamp: walk.now) },
        host: content.participants.host
      ) { coder in
        guard let delegate = content.participants.delegate else { return }
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
      return true
    } catch is Declined {
      return false
    }
  }
}

/// The nodes, the delegate and the host that take part in a save.
struct SaveParticipants {
  let roots: [any RestorableNode]
  let delegate: (any StateDelegate)?
  /// Writes the values that a scene has beside its nodes.
  var host: ((KeyedEncoder) throws -> Void)?
  /// The notes on the scene.
  var notes: [ReportNote] = []
}

private struct Declined: Error {}

extension PreservationReport {
  fileprivate mutating func take(_ written: StateFile.Written) {
    version = written.version
    byteCount = written.byteCount
    writtenByteCount = written.writtenByteCount
    setAside = written.setAside
  }
}

extension RestorationError {
  /// A restore is under way, and cannot end as long as its actor is blocked.
  static var restoreUnderWay: RestorationError {
    RestorationError(.archive, "A restore is under way.")
  }

  /// The process has stored its values at its end, and no save of nodes counts any more.
  static var processEnds: RestorationError {
    RestorationError(.archive, "The process ends, so the nodes are not saved any more.")
  }
}
