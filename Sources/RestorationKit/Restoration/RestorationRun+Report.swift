internal import ArchiveCodec

extension RestorationRun {
  /// Keeps the elements that are not back for the saves that follow.
  ///
  /// - Returns: A list of the kept elements for the report, or the objects that came
  ///   late and are back.
  func keep(
    _ unattached: Set<UInt64>
  ) -> ([KeptElement], claimed: [(index: Int, object: any StateRestoring)]) {
    let result = result(unattached)
    if let late {
      let claimed = late.settle(result)
      // What a node says that is back counts as before against what it said when it came back.
      if !late.isBack { rememberProbes(in: late.kept) }
      return ([], claimed)
    }
    objects.kept = KeptRecords(result)
    guard let kept = objects.kept else { return ([], []) }
    let list = kept.list(result)
    rememberProbes(in: kept)
    return (list, [])
  }

  /// The evidence that decides which elements the saves that follow write back.
  ///
  /// If the decoding of a container could not be called, the nodes that the container would have
  /// taken are kept with it.
  private func result(_ unattached: Set<UInt64>) -> KeptRecords.RestoreResult {
    let rows = tree.outline.rows
    let notTaken =
      unattached.isEmpty
      ? []
      : rows.indices.filter { index in
        unattached.contains(rows[index].record)
          && rows[index].parent.map {
            prepared.reading(of: $0).isWithheld || !outcomes[$0].isDecodable
              || outcomes.keepsOwnState.contains($0)
          } == true
      }
    return KeptRecords.RestoreResult(
      tree: tree, outcomes: outcomes.all,
      unread: Set(withheld),
      missing: outcomes.kept.union(notTaken), notThere: outcomes.notThere, skipped: skipped,
      knownVersions: Dictionary(
        uniqueKeysWithValues: tree.kept.keys.map { ($0, lookup.classes.knownVersion(of: $0)) }),
      restored: restored)
  }

  /// The lines of the report, made when somebody asks for them.
  func entries(
    _ unattached: Set<UInt64>, ofApplication notes: [ReportNote]
  ) -> ReportEntries<RestorationReport.NodeOutcome> {
    let elementNotes = self.notes(unattached)
    return ReportEntries {
      [outline = tree.outline, unreadable = tree.unreadable, outcomes = outcomes.all] in
      let application =
        notes.isEmpty
        ? []
        : [
          RestorationReport.Entry(
            kind: .application, path: RestorationPath(), className: "application",
            outcome: .restored(by: .delegate), notes: notes)
        ]
      return application
        + outline.rows.enumerated().map { index, row in
          RestorationReport.Entry(
            kind: row.kind, path: outline.path(of: index),
            className: outline.form(of: index).className, outcome: outcomes[index],
            notes: elementNotes[index] ?? [])
        }
        + unreadable.map { lost in
          RestorationReport.Entry(
            kind: .node, path: RestorationPath(), className: "record \(lost.record)",
            outcome: .unreadable(lost.error.description))
        }
    }
  }

  /// The notes on elements besides their outcomes; most elements have none.
  private func notes(_ unattached: Set<UInt64>) -> [Int: [ReportNote]] {
    var all: [Int: [ReportNote]] = [:]
    let kept = objects.kept
    for (index, row) in tree.outline.rows.enumerated() {
      var notes: [ReportNote] = []
      if outcomes[index].isDecodable, let version = prepared.reading(of: index).migratedFrom {
        notes.append(.migrated(from: version))
      }
      if outcomes.unusedRoots.contains(index) { notes.append(.givenRootNotUsed) }
      if row.hasLastState { notes.append(.lastState) }
      if outcomes[index].wasAsked, let mended = restored.mended[index] { notes += mended.notes }
      if !unattached.isEmpty, unattached.contains(row.record) { notes.append(.notContained) }
      let isKept = kept?.index(ofRecord: row.record) != nil
      if isKept { notes.append(.kept) }
      if let states = tree.kept[index], isKept || outcomes[index].isBack {
        notes += states.map { .keptBeside(version: $0.version, since: $0.since) }
      }
      if outcomes[index].wasAsked, let note = coders.unreadNote(index) { notes.append(note) }
      if !notes.isEmpty { all[index] = notes }
    }
    return all
  }

  /// The states that objects which are back did not get whole, and that saves do not keep either.
  ///
  /// The failure says why the delegate could not decode the state of the application; it is nil
  /// if the delegate could.
  func undecoded(_ failure: ReportNote?) -> Set<RecordFingerprint> {
    // What a node keeps for later is kept until the node has got it.
    if late?.isBack == true { return [] }
    let places = outcomes.all.indices.filter { index in
      switch outcomes[index] {
      case .decodeFailed, .classMismatch: true
      case .restored: !restored.mended.isEmpty && restored.mended[index]?.isReplaced == true
      default: false
      }
    }
    return Set(places.map { tree.values[$0].fingerprint })
      .union(restored.mended.values.flatMap(\.stored))
      .union(failure == nil ? [] : [tree.application.values.fingerprint])
  }

  /// The line of a node that came late and did not get the state that is kept for it.
  func lateEntry(_ outcome: RestorationReport.NodeOutcome) -> RestorationReport.Entry {
    RestorationReport.Entry(
      kind: .node, path: tree.outline.path(of: 0), className: tree.outline.form(of: 0).className,
      outcome: outcome, notes: [.kept])
  }

  /// Nodes that are back, but that the node above does not contain any more.
  func unattachedRecords() -> Set<UInt64> {
    var unattached: Set<UInt64> = []
    for (index, row) in tree.outline.rows.enumerated() {
      let (stored, shown) = (row.connections.children, row.connections.presented)
      guard !stored.isEmpty || shown > 0, let parent = restored.node(at: index)
      else { continue }
      let children = parent.restorationChildren
      let presented = parent.restorationPresented
      let records = tree.outline.records(stored)
      // Usually a node contains the nodes that it contained in the save, and no set
      // has to be built.
      let isSame =
        children.count == records.count
        && zip(children, records).allSatisfy { restored.node($1) === $0 }
        && presented === (shown > 0 ? restored.node(shown) : nil)
      guard !isSame else { continue }
      let contained = Set((children + [presented].compactMap(\.self)).map { ObjectIdentifier($0) })
      for record in records + (shown > 0 ? [shown] : []) {
        if let node = restored[record], !contained.contains(ObjectIdentifier(node)) {
          unattached.insert(record)
        }
      }
    }
    return unattached
  }
}
