internal import ArchiveCodec

extension StateEngine {
  /// Brings back the state; the roots and the delegate are named when the state has been read.
  ///
  /// A report that is there at the restore's turn ends the restore. The participants are asked for
  /// with the stored tree; nil restores nothing. The code that a host runs in `then` is a part of
  /// the restore, and a crash in it is counted.
  func restore(
    _ calls: FileCalls = .waiting,
    unless ended: () throws(RestorationError) -> RestorationReport? = { nil },
    hearing roots: (() -> [any RestorableNode])? = nil,
    then: (RestorationReport) -> Void = { _ in },
    with participants: (StoredTree) -> RestorationParticipants?
  ) async throws(RestorationError) -> RestorationReport {
    claim.beginUse()
    defer { claim.endUse() }
    do throws(RestorationError) {
      let report = try await inTurn(.restore, calls) { () async throws(RestorationError) in
        if let report = try ended() { return report }
        return try await restoreNow(calls, hearing: roots, then, participants)
      }
      noteOtherInstances(report)
      Problems.say(report.said)
      settings.heard?(report.problems.map(\.description))
      return report
    } catch {
      Problems.say(["The restore has failed: \(error)"])
      throw error
    }
  }

  /// Says first that the user sees the state of another instance, since nothing else explains an
  /// app that looks empty.
  private func noteOtherInstances(_ report: RestorationReport) {
    guard session == nil, let stateName = report.stateName, !report.otherInstances.isEmpty,
      otherKeeper() == nil
    else { return }
    let others = report.otherInstances.map(\.description).joined(separator: ", ")
    let note = ReportNote.secondInstance(stateName: stateName, others: others)
    if let values { values.store.note(note) } else { Problems.say([note.description]) }
  }

  /// Runs a body alone, or at once for a caller that blocks the actor.
  func inTurn<Value>(
    _ kind: TurnQueue.Kind, _ calls: FileCalls,
    _ body: () async throws(RestorationError) -> Value
  ) async throws(RestorationError) -> Value {
    calls.isBlocking
      ? try await turns.overtake(kind, body) : try await turns.run(kind, body)
  }

  private func restoreNow(
    _ calls: FileCalls, hearing roots: (() -> [any RestorableNode])?,
    _ then: (RestorationReport) -> Void,
    _ participants: (StoredTree) -> RestorationParticipants?
  ) async throws(RestorationError) -> RestorationReport {
    found.hasTriedToRestore = true
    // An autosave may have found that there is nothing to save yet.
    defer { signal.tell() }
    var restoreNumber: UInt64?
    var report: RestorationReport
    do throws(RestorationError) {
      report = try await restore(with: participants, &restoreNumber, calls)
    } catch {
      await endRestore(restoreNumber, calls)
      found.lastStatus = .failed(error.description)
      if let roots { noteUnread(error.archive, hearing: roots()) }
      throw error
    }
    if found.isUnreadChanged {
      _ = await calls.first { [file] in await file.forgetRead() }
    } else {
      found.unread = nil
    }
    if restoreNumber != nil { then(report) }
    await endRestore(restoreNumber, calls)
    report.launchProblem = file.launchProblem ?? report.launchProblem
    report.stateName = stateName
    report.otherInstances = otherInstances
    if !found.isUnreadChanged { found.lastStatus = RestorationStatus(after: report.outcome) }
    found.saveFailure = claim.taken == nil ? report.launchProblem : nil
    noteOtherKeeper(in: &report)
    return report
  }

  private func restore(
    with participants: (StoredTree) -> RestorationParticipants?, _ restoreNumber: inout UInt64?,
    _ calls: FileCalls
  ) async throws(RestorationError) -> RestorationReport {
    let found: StateFile.Found
    do {
      let (policy, settingAside) = (settings.policy, settings.settingAside)
      // A state that was put back is wanted, whatever its age.
      let maximumAge = self.found.isPutBack ? nil : policy.maximumAge
      found = try await calls { [file] () async throws(ArchiveError) in
        try await file.beginRestore(
          crashThreshold: policy.crashThreshold, maximumAge: maximumAge, keeping: policy.sessions,
          settingAside)
      }
    } catch {
      if error.code == .keyLocked {
        self.found.isLocked = true
        return RestorationReport(.locked)
      }
      // The key was there, so a save can set aside the archive that is in its way.
      if error.isAboutContent { self.found.isLocked = false }
      throw .notRestored(error, makesKey: settings.keys.makesKey)
    }
    self.found.isLocked = false
    switch found {
    case .inUse(let process): return RestorationReport(.inUse(by: process))
    case .nothing: return RestorationReport(.noArchive)
    case .crashed(let location): return RestorationReport(.crashed(setAsideAt: location))
    case .tooOld(let source, let location):
      var report = RestorationReport(.tooOld(setAsideAt: location))
      report.source = source
      return report
    case .state(let tree, let begun):
      restoreNumber = begun.restoreNumber
      var report = restore(tree, begun, with: participants)
      if report.outcome == .restored { report.source = begun.source }
      return report
    }
  }

  /// Makes all calls of the app in a restore, in one go.
  private func restore(
    _ tree: StoredTree, _ begun: StateFile.Begun,
    with participants: (StoredTree) -> RestorationParticipants?
  ) -> RestorationReport {
    let start = ContinuousClock.now
    let noteDecoding = begun.laterNote.map { note -> ValueStore.DecodingNote in
      { key, body in note.reach(valueOf: key, body) }
    }
    values?.store.noteDecoding(noteDecoding)
    found.note = begun.laterNote
    guard let participants = participants(tree) else { return RestorationReport(.declined) }
    begun.laterNote?.name { [outline = tree.outline] in outline.path(of: $0) }
    var problem: String?
    let mark = begun.laterNote.map { note in
      { (index: Int?) in
        do {
          try note.reach(index, isWritten: begun.note != nil)
        } catch {
          problem = problem ?? error.reason
        }
      }
    }
    var tree = tree
    tree.isPutBack = found.isPutBack
    let run = RestorationRun(
      tree, types, objects, delegate: participants.delegate,
      roots: [values].compactMap(\.self) + participants.roots, skipped: begun.skipped, marking: mark
    )
    // A scene has taken its values before its delegate was told that the scene connects.
    let result = run.run(filling: session == nil ? values?.store : nil, telling: signal)
    var report = result.report
    guard report.outcome == .restored else { return report }
    found.isPutBack = false
    rows = result.rows ?? Rows(signal)
    found.undecoded = result.undecoded
    report.walkDuration = start.duration(to: .now)
    if let problem { report.launchProblem = problem }
    return report
  }

  /// Takes the mark of the restore away.
  private func endRestore(_ restoreNumber: UInt64?, _ calls: FileCalls) async {
    guard let restoreNumber else { return }
    let isNoted = objects.kept != nil || values?.store.hasUnread == true
    _ = await calls.first { [file] in await file.endRestore(restoreNumber, isNoted: isNoted) }
  }
}

/// The nodes and the delegate that take part in a restore.
struct RestorationParticipants {
  let roots: [any RestorableNode]
  let delegate: (any StateDelegate)?
}
