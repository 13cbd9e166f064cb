internal import ArchiveCodec

extension RestorationRun {
  /// What decides what the saves that follow write back.
  ///
  /// What a container would have taken in its decoding, which could not be
  /// called, is kept with it.
  func result(_ unattached: Set<UInt64>) -> KeptRecords.RestoreResult {
    let rows = tree.outline.rows
    let notTaken =
      unattached.isEmpty
      ? []
      : rows.indices.filter { place in
        unattached.contains(rows[place].record)
          && rows[place].parent.map {
            prepared.version(of: $0).isWithheld || !outcomes[$0].isDecodable
          } == true
      }
    return KeptRecords.RestoreResult(
      tree: tree, outcomes: outcomes,
      unread: Set(
        prepared.otherVersions.filter {
          prepared.version(of: $0).isWithheld && outcomes[$0].isDecodable
        }),
      missing: unclaimed.union(notTaken), skipped: skipped,
      knownVersions: Dictionary(
        uniqueKeysWithValues: tree.kept.keys.map { ($0, prepared.knownVersion(of: $0)) }),
      restored: restored)
  }

  /// What the report says, made of it when somebody asks.
  func entries(
    _ unattached: Set<UInt64>, ofApplication notes: [ReportNote]
  ) -> ReportEntries<RestorationReport.NodeOutcome> {
    let elementNotes = self.notes(unattached)
    return ReportEntries { [outline = tree.outline, unreadable = tree.unreadable, outcomes] in
      let application =
        notes.isEmpty
        ? []
        : [
          RestorationReport.Entry(
            kind: .application, path: RestorationPath(), className: "application",
            outcome: .restored(by: .delegate), notes: notes)
        ]
      return application
        + outline.rows.enumerated().map { place, row in
          RestorationReport.Entry(
            kind: row.kind, path: outline.path(of: place),
            className: outline.form(of: place).className, outcome: outcomes[place],
            notes: elementNotes[place] ?? [])
        }
        + unreadable.map { lost in
          RestorationReport.Entry(
            kind: .node, path: RestorationPath(), className: "record \(lost.record)",
            outcome: .unreadable(lost.error.description))
        }
    }
  }

  /// What there is to say of elements besides their outcomes; most have none.
  private func notes(_ unattached: Set<UInt64>) -> [Int: [ReportNote]] {
    var all: [Int: [ReportNote]] = [:]
    let kept = objects.kept
    for (place, row) in tree.outline.rows.enumerated() {
      var notes: [ReportNote] = []
      if outcomes[place].isDecodable, let version = prepared.version(of: place).migratedFrom {
        notes.append(.migrated(from: version))
      }
      if unusedRoots.contains(place) { notes.append(.givenRootNotUsed) }
      if row.hasLastState { notes.append(.lastState) }
      if outcomes[place].wasAsked, let mended = restored.mended[place] { notes += mended.notes }
      if !prepared.opened.isEmpty, let opened = prepared.opened[place] { notes += opened.notes }
      if !unattached.isEmpty, unattached.contains(row.record) { notes.append(.notContained) }
      let isKept = kept?.place(ofRecord: row.record) != nil
      if isKept { notes.append(.kept) }
      if let states = tree.kept[place], isKept || outcomes[place].isBack {
        notes += states.map { .keptBeside(version: $0.version, since: $0.since) }
      }
      if outcomes[place].wasAsked, let note = coders.unreadNote(place) { notes.append(note) }
      if !notes.isEmpty { all[place] = notes }
    }
    return all
  }

  /// Where something is stored that is not in the objects that are back, and that saves do not
  /// keep either.
  var undecodedPlaces: [Int] {
    outcomes.indices.filter { place in
      switch outcomes[place] {
      case .decodeFailed, .classMismatch: true
      case .restored: !restored.mended.isEmpty && restored.mended[place]?.isWhole == false
      default: false
      }
    }
  }

  /// Why what is kept is not for a node that came late; nil if it is.
  func mismatch(of node: any RestorableNode) -> RestorationReport.Entry? {
    guard !tree.outline.rows.isEmpty, !isOfClass(of: 0, node) else { return nil }
    return lateEntry(.classMismatch(by: .existing, found: types.className(of: node)))
  }

  /// The line of a node that came late and did not get what is kept for it.
  func lateEntry(_ outcome: RestorationReport.NodeOutcome) -> RestorationReport.Entry {
    RestorationReport.Entry(
      kind: .node, path: tree.outline.path(of: 0), className: tree.outline.form(of: 0).className,
      outcome: outcome, notes: [.kept])
  }

  /// Nodes that are back, but that the node above does not contain any more.
  func unattachedRecords() -> Set<UInt64> {
    var unattached: Set<UInt64> = []
    for (place, row) in tree.outline.rows.enumerated() {
      guard !row.children.isEmpty || row.presented > 0, let parent = restored.node(at: place)
      else { continue }
      let children = parent.restorationChildren
      let presented = parent.restorationPresented
      let records = tree.outline.records(row.children)
      // Usually it contains what it did.
      let isSame =
        children.count == records.count
        && zip(children, records).allSatisfy { restored.node($1) === $0 }
        && presented === (row.presented > 0 ? restored.node(row.presented) : nil)
      guard !isSame else { continue }
      let contained = Set((children + [presented].compactMap(\.self)).map { ObjectIdentifier($0) })
      for record in records + (row.presented > 0 ? [row.presented] : []) {
        if let node = restored[record], !contained.contains(ObjectIdentifier(node)) {
          unattached.insert(record)
        }
      }
    }
    return unattached
  }
}
