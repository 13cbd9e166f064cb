internal import ArchiveCodec

extension PreservationWalk {
  /// Writes an object's record with the state that it was restored from, which
  /// this version of the app cannot read.
  func writeKept(
    _ kept: StoredTree.Element, _ record: NodeRecord, _ number: UInt64, line: Int
  ) throws {
    var record = record
    record.className = kept.content.className
    record.restorationClassName = kept.content.restorationClassName
    record.version = kept.content.version
    lines[line].outcome = .keptAsStored
    try writeStored(record, kept.values, number, line: line)
  }

  /// Writes what is kept below an object, and makes the object's record name it.
  ///
  /// It comes after what the object contains now. What has its path by now
  /// takes its place.
  func preserveUnclaimed(
    below parent: any RestorableObject, _ number: UInt64, in record: inout NodeRecord
  ) throws {
    for group in registry.kept?.unclaimed(below: parent) ?? [] {
      guard let next = try preserve(group, below: number) else { continue }
      switch group.elements[0].role {
      case .child, .root: record.children.append(next)
      case .view: record.views.append(next)
      case .presented where record.presented == nil: record.presented = next
      // It names the one above itself.
      case .presented, .referred: break
      }
    }
  }

  func preserveUnclaimedRoots() throws {
    for group in registry.kept?.unclaimedRoots ?? [] {
      if let next = try preserve(group, below: nil) { roots.append(next) }
    }
  }

  /// Returns the record of the first of the group, nil if its path is taken.
  private func preserve(
    _ group: KeptRecords.Unclaimed, below parent: UInt64?
  ) throws -> UInt64? {
    let first = group.elements[0]
    let sibling = Sibling(
      kind: first.content.kind, parent: parent ?? 0, identifier: first.content.identifier,
      index: first.content.siblingIndex)
    guard siblings.insert(sibling).inserted else {
      _ = addKept(first, .duplicate)
      return nil
    }
    for element in group.elements {
      var record = element.content
      record.views = record.views.compactMap(unclaimedRecord)
      record.children = record.children.compactMap(unclaimedRecord)
      record.presented = record.presented.flatMap(unclaimedRecord)
      record.referrer = record.referrer.flatMap(unclaimedRecord)
      if element.record == first.record, first.role == .referred || first.role == .presented {
        record.referrer = parent
      }
      guard let number = unclaimedRecord(element.record) else { continue }
      try writeStored(record, element.values, number, line: addKept(element, .keptAsStored))
    }
    return unclaimedRecord(first.record)
  }

  /// The new record of what is not back, nil for all else.
  private func unclaimedRecord(_ stored: UInt64) -> UInt64? {
    guard registry.kept?.isUnclaimed(stored) == true else { return nil }
    if let record = unclaimedRecords[stored] { return record }
    let record = newRecord()
    unclaimedRecords[stored] = record
    return record
  }

  /// What a stored reference names from now on, nil if that is not there any more.
  private func reference(storedAs stored: UInt64, in number: UInt64, line: Int) -> UInt64? {
    if let record = unclaimedRecord(stored) { return record }
    guard let object = registry.kept?.object(stored), canBeReferred(object) else { return nil }
    return reference(to: object, from: number, key: "", line: line)
  }

  private func addKept(
    _ element: StoredTree.Element, _ outcome: PreservationReport.NodeOutcome
  ) -> Int {
    lines.append(
      PreservationReport.Entry(
        kind: element.content.kind, path: element.path, className: element.content.className,
        outcome: outcome))
    return lines.count - 1
  }

  private func writeStored(
    _ record: NodeRecord, _ values: StoredTree.Values, _ number: UInt64, line: Int
  ) throws {
    let parts = [
      (NodeRecord.builtInKey, values.builtIn?.values), (NodeRecord.stateKey, values.state),
    ]
    do {
      try builder.append(record: number) { encoder in
        encoder.encodeContainer(forKey: NodeRecord.nodeKey) { record.encode(with: $0) }
        for case (let key, let stored?) in parts {
          try encoder.encodeContainer(forKey: key) { encoder in
            try encoder.copyAll(from: stored) { [unowned self] in
              reference(storedAs: $0, in: number, line: line)
            }
          }
        }
      }
    } catch {
      loseState(line, error)
      try builder.append(record: number) { encoder in
        encoder.encodeContainer(forKey: NodeRecord.nodeKey) { record.encode(with: $0) }
      }
    }
  }
}
