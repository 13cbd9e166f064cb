internal import ArchiveCodec

extension RestorationRun {
  /// What decides what the saves that follow write back.
  ///
  /// What a container would have taken in its decoding, which could not be
  /// called, is kept with it.
  func result(_ unattached: Set<UInt64>) -> KeptRecords.RestoreResult {
    let notTaken = tree.elements.indices.filter { place in
      unattached.contains(tree.elements[place].record)
        && tree.elements[place].parent.map {
          prepared[$0].isWithheld || !outcomes[$0].isDecodable
        } == true
    }
    return KeptRecords.RestoreResult(
      tree: tree, outcomes: outcomes,
      unread: outcomes.indices.filter { prepared[$0].isWithheld && outcomes[$0].isDecodable },
      missing: unclaimed.union(notTaken), restored: restored)
  }

  func entries(
    _ unattached: Set<UInt64>, ofApplication notes: [ReportNote]
  ) -> [RestorationReport.Entry] {
    let application =
      notes.isEmpty
      ? []
      : [
        RestorationReport.Entry(
          kind: .application, path: RestorationPath(), className: "application",
          outcome: .restored(by: .delegate), notes: notes)
      ]
    return application
      + tree.elements.enumerated().map { place, stored in
        RestorationReport.Entry(
          kind: stored.content.kind, path: stored.path, className: stored.content.className,
          outcome: outcomes[place], notes: self.notes(on: stored, place, unattached))
      }
      + tree.unreadable.map { lost in
        RestorationReport.Entry(
          kind: .node, path: RestorationPath(), className: "record \(lost.record)",
          outcome: .unreadable(lost.error.description))
      }
  }

  private func notes(
    on stored: StoredTree.Element, _ place: Int, _ unattached: Set<UInt64>
  ) -> [ReportNote] {
    var notes: [ReportNote] = []
    if outcomes[place].isDecodable, let version = prepared[place].migratedFrom {
      notes.append(.migrated(from: version))
    }
    if stored.content.hasLastState { notes.append(.lastState) }
    if unattached.contains(stored.record) { notes.append(.notContained) }
    if objects.kept?.place(ofRecord: stored.record) != nil { notes.append(.kept) }
    if outcomes[place].wasAsked, let note = coders[place].unreadNote { notes.append(note) }
    return notes
  }

  /// Why what is kept is not for a node that came late; nil if it is.
  func mismatch(of node: any RestorableNode) -> RestorationReport.Entry? {
    guard let element = prepared.first?.element,
      !isOfClass(of: element, node)
    else { return nil }
    return RestorationReport.Entry(
      kind: .node, path: element.path, className: tree.elements[0].content.className,
      outcome: .classMismatch(by: .existing, found: types.className(of: node)), notes: [.kept])
  }

  /// Nodes that are back, but that the node above does not contain any more.
  func unattachedRecords() -> Set<UInt64> {
    var unattached: Set<UInt64> = []
    for (place, stored) in tree.elements.enumerated() {
      let records = stored.content.children + [stored.content.presented].compactMap(\.self)
      guard !records.isEmpty, let parent = restored.node(at: place) else { continue }
      let contents = parent.restorationChildren + [parent.restorationPresented].compactMap(\.self)
      // Usually it contains what it did.
      let isSame =
        contents.count == records.count
        && zip(contents, records).allSatisfy { restored.node($1) === $0 }
      guard !isSame else { continue }
      let contained = Set(contents.map { ObjectIdentifier($0) })
      for record in records {
        if let node = restored[record], !contained.contains(ObjectIdentifier(node)) {
          unattached.insert(record)
        }
      }
    }
    return unattached
  }
}
