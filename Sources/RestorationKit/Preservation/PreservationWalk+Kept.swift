internal import ArchiveCodec

/// A record that is written as it was stored, when all else has its record.
struct StoredPart {
  let record: NodeRecord
  let number: UInt64
  let values: StoredTree.Values
  let line: Int
}

extension PreservationWalk {
  /// Keeps an object's record with the state that it was restored from, which
  /// this version of the app cannot read.
  func keepState(_ kept: KeptRecords.State, _ record: NodeRecord, _ number: UInt64, line: Int) {
    var record = record
    record.className = kept.element.content.className
    record.restorationClassName = kept.element.content.restorationClassName
    record.version = kept.element.content.version
    lines[line].outcome = .keptAsStored
    note(.keptBecause(kept.outcome), line: line)
    storedParts.append(
      StoredPart(record: record, number: number, values: kept.element.values, line: line))
  }

  // MARK: What is not back

  /// Keeps what is not back below an object, and makes the object's record name
  /// it.
  ///
  /// It comes after what the object contains now. What has its path by now takes
  /// its place.
  func keepUnclaimed(
    below parent: any RestorableObject, _ number: UInt64, at sibling: @autoclosure () -> Sibling,
    in record: inout NodeRecord
  ) {
    guard let kept else { return }
    for place in takePlace(sibling(), parent) + kept.tops(below: parent) {
      guard let first = kept[place]?.element, !wait(place, first, below: number),
        let next = keep(place, below: number)
      else { continue }
      switch first.role {
      case .child, .root: record.children.append(next)
      case .view: record.views.append(next)
      case .presented where record.presented == nil: record.presented = next
      // It names the one above itself.
      case .presented, .referred: break
      }
    }
  }

  func waitForRoots() {
    for place in kept?.roots ?? [] {
      if let first = kept?[place]?.element { _ = wait(place, first, below: 0) }
    }
  }

  /// Keeps what nothing has taken the place of, when all else has its place.
  func keepWaiting() throws {
    while nextWaiting < waiting.count {
      let (place, sibling) = waiting[nextWaiting]
      nextWaiting += 1
      guard untaken[sibling] == place, siblings.insert(sibling).inserted,
        let number = keep(place, below: sibling.parent)
      else { continue }
      if sibling.parent == 0 { roots.append(number) }
    }
    while nextStored < storedParts.count {
      try write(storedParts[nextStored])
      nextStored += 1
    }
  }

  /// What was kept below the place that an object takes, if it takes one.
  @discardableResult
  func takePlace(
    _ sibling: @autoclosure () -> Sibling, _ object: any RestorableObject
  ) -> [Int] {
    guard !untaken.isEmpty, let place = untaken.removeValue(forKey: sibling()) else { return [] }
    takenPlaces[place] = object
    return kept?[place]?.children ?? []
  }

  /// Whether something may still take the place, or has it already.
  private func wait(
    _ place: Int, _ element: StoredTree.Element, below parent: UInt64
  ) -> Bool {
    let sibling = Sibling(element.content, below: parent)
    let isTaken = siblings.contains(sibling)
    let isLater = parent == 0 || element.role == .referred
    guard isTaken || isLater else {
      siblings.insert(sibling)
      return false
    }
    untaken[sibling] = place
    if isLater { waiting.append((place, sibling)) }
    return true
  }

  /// Gives what is kept its lines, and records when all else has one.
  ///
  /// - Returns: The record of the first; nil if it was kept for long enough.
  private func keep(_ top: Int, below parent: UInt64) -> UInt64? {
    guard let kept, let first = kept[top]?.element else { return nil }
    guard !kept.isExpired(top, now: now) else {
      addLine(first, .expired)
      expiredPlaces.append(top)
      return nil
    }
    let since = kept.firstSave(keeping: top, now: now)
    for place in kept.subtree(of: top) {
      guard let entry = kept[place] else { continue }
      var record = entry.element.content
      let below = Set(entry.children.compactMap { kept[$0]?.element.record })
      record.views = record.views.filter(below.contains).compactMap(keptRecord)
      record.children = record.children.filter(below.contains).compactMap(keptRecord)
      record.presented = record.presented.flatMap { below.contains($0) ? keptRecord($0) : nil }
      record.referrer = record.referrer.flatMap(keptRecord)
      record.keptSince = record.keptSince ?? since
      if place == top, first.role == .referred || first.role == .presented {
        record.referrer = parent == 0 ? nil : parent
      }
      let line = addLine(entry.element, .keptAsStored)
      note(.keptBecause(entry.outcome), line: line)
      storedParts.append(
        StoredPart(
          record: record, number: keptNumber(of: place), values: entry.element.values, line: line))
    }
    return keptNumber(of: top)
  }

  @discardableResult
  private func addLine(
    _ element: StoredTree.Element, _ outcome: PreservationReport.NodeOutcome
  ) -> Int {
    lines.append(
      PreservationReport.Entry(
        kind: element.content.kind, path: element.path, className: element.content.className,
        outcome: outcome))
    return lines.count - 1
  }

  /// What the keeper does when the save is written.
  ///
  /// What is kept goes when another is stored in its place, and not before: one
  /// that could not be encoded has replaced nothing.
  func settlement() -> KeptRecords.Settlement {
    defer { takenPlaces = [:] }
    let replaced = takenPlaces.filter { _, object in
      guard let line = placed[ObjectIdentifier(object)], line >= 0 else { return false }
      return lines[line].outcome == .saved || lines[line].outcome == .keptAsStored
    }
    for place in replaced.keys.sorted() {
      if let element = kept?[place]?.element { addLine(element, .replaced) }
    }
    return KeptRecords.Settlement(
      replaced: replaced.map { (place: $0.key, object: $0.value) }, expired: expiredPlaces)
  }

  // MARK: Records

  /// The record of what has a place.
  private func keptNumber(of place: Int) -> UInt64 {
    if let number = keptNumbers[place] { return number }
    let number = newRecord()
    keptNumbers[place] = number
    return number
  }

  /// The new record of what is not back, nil for all else.
  private func keptRecord(_ stored: UInt64) -> UInt64? {
    kept?.place(ofRecord: stored).map { place in
      takenPlaces[place].map { record(of: $0) } ?? keptNumber(of: place)
    }
  }

  /// What a stored reference names from now on, nil if that is not there any more.
  private func reference(storedAs stored: UInt64, in number: UInt64, line: Int) -> UInt64? {
    if let record = keptRecord(stored) { return record }
    guard let object = kept?.object(stored), canBeReferred(object) else { return nil }
    return reference(to: object, from: number, key: "", line: line)
  }

  private func write(_ part: StoredPart) throws {
    let values = [
      (NodeRecord.builtInKey, part.values.builtIn?.values),
      (NodeRecord.stateKey, part.values.state),
    ]
    do {
      try builder.append(record: part.number) { encoder in
        encoder.encodeContainer(forKey: NodeRecord.nodeKey) { part.record.encode(with: $0) }
        for case (let key, let stored?) in values {
          try encoder.encodeContainer(forKey: key) { encoder in
            try encoder.copyAll(from: stored) { [unowned self] in
              reference(storedAs: $0, in: part.number, line: part.line)
            }
          }
        }
      }
    } catch {
      loseState(part.line, error)
      try builder.append(record: part.number) { encoder in
        encoder.encodeContainer(forKey: NodeRecord.nodeKey) { part.record.encode(with: $0) }
      }
    }
  }
}
