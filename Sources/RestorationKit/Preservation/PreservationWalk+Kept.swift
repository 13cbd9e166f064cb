internal import ArchiveCodec

/// A record that is written, as a whole or in part, as it was stored, when all else has its
/// record.
struct StoredPart {
  enum Content {
    /// All of it is as it was stored.
    case stored(NodeRecord, StoredTree.Values)
    /// What the object said itself.
    case own(KeyedDecoder)
    /// What is written last, since its object could not be encoded.
    case last
  }

  let number: RowNumber
  let content: Content
  /// The states that are kept beside its own.
  let beside: [KeptState]
}

extension PreservationWalk {
  // MARK: What is not back

  typealias KeptBelow = KeptRows.Below

  /// Keeps what is not back below an object.
  ///
  /// What has its path by now takes its place.
  ///
  /// - Throws: ``NeedsEverything`` if there is something in a save of what has changed.
  func keepUnclaimed(
    below parent: any StateRestoring, _ number: RowNumber
  ) throws(NeedsEverything) -> KeptBelow {
    guard let kept else { return [] }
    guard asksEverything else {
      guard kept.tops(below: parent).isEmpty else { throw NeedsEverything() }
      return []
    }
    let row = rows[number]
    let sibling = Sibling(
      row.kind, below: row.parent, row.identifier, index: Int(row.siblingIndex))
    let below: KeptBelow = (takePlace(sibling, parent) + kept.tops(below: parent)).compactMap {
      place in
      guard let first = kept[place]?.element, !wait(place, first, below: number),
        let next = keep(place, below: number)
      else { return nil }
      return (first.role, next)
    }
    if !below.isEmpty { rows.kept.below[number] = below }
    return below
  }

  func waitForRoots() {
    for place in kept?.roots ?? [] {
      if let first = kept?[place]?.element { _ = wait(place, first, below: nil) }
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
      if sibling.parent == nil { rows.storedRoots.append(number) }
    }
    while nextStored < storedParts.count {
      try write(storedParts[nextStored])
      nextStored += 1
    }
  }

  /// What was kept below the place that an object takes, if it takes one.
  @discardableResult
  func takePlace(
    _ sibling: @autoclosure () -> Sibling, _ object: any StateRestoring
  ) -> [Int] {
    guard !untaken.isEmpty, let place = untaken.removeValue(forKey: sibling()) else { return [] }
    takenPlaces[place] = object
    placesTaken[ObjectIdentifier(object)] = place
    return kept?[place]?.children ?? []
  }

  /// Whether something may still take the place, or has it already.
  private func wait(
    _ place: Int, _ element: StoredTree.Element, below parent: RowNumber?
  ) -> Bool {
    let sibling = Sibling(element.content, below: parent)
    let isTaken = siblings.contains(sibling)
    let isLater = parent == nil || element.role == .referred
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
  private func keep(_ top: Int, below parent: RowNumber?) -> RowNumber? {
    guard let kept, let entry = kept[top] else { return nil }
    let first = entry.element
    let since = kept.firstSave(keeping: first, now: now)
    let byteCount = kept.byteCount(below: top)
    if let outcome = dropping(KeptState(of: first).id, since, byteCount) {
      addEntry(first, outcome)
      settlementOfKept.dropped.append(top)
      return nil
    }
    note(first, entry.outcome, since, byteCount)
    var parents: [Int: RowNumber] = [:]
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
        record.referrer = parent?.record
      }
      let number = keptRow(of: place, entry.element)
      rows.placeKept(number, below: parents[place] ?? parent)
      for child in entry.children { parents[child] = number }
      rows.keep(number, because: entry.outcome)
      report.add(number)
      storedParts.append(
        StoredPart(
          number: number, content: .stored(record, entry.element.values),
          beside: entry.element.kept))
    }
    return keptRow(of: top, first)
  }

  private func addEntry(
    _ element: StoredTree.Element, _ outcome: PreservationReport.NodeOutcome
  ) {
    report.add(
      PreservationReport.Entry(
        kind: element.content.kind, path: element.path, className: element.content.className,
        outcome: outcome))
  }

  /// What the keeper does when the save is written.
  ///
  /// What is kept goes when another is stored in its place, and not before: one
  /// that could not be encoded has replaced nothing.
  func settlement() -> KeptRecords.Settlement {
    defer { (takenPlaces, placesTaken) = ([:], [:]) }
    let replaced = takenPlaces.filter { _, object in
      guard let number = rows.placed(object) else { return false }
      return [.saved, .keptAsStored].contains(rows.outcome(of: number))
    }
    for place in replaced.keys.sorted() where kept?.state(of: place)?.withheld == nil {
      if let element = kept?[place]?.element { addEntry(element, .replaced) }
    }
    return KeptRecords.Settlement(
      replaced: replaced.map { (place: $0.key, object: $0.value) },
      dropped: settlementOfKept.dropped,
      // Of what has taken no place after all nothing has changed.
      states: settlementOfKept.states.filter { object, _ in
        rows.placed(object).map { [.saved, .keptAsStored].contains(rows.outcome(of: $0)) } ?? false
      })
  }

  // MARK: Records

  /// The row of what has a place.
  private func keptRow(of place: Int, _ element: StoredTree.Element) -> RowNumber {
    rows.row(ofKept: place, element)
  }

  /// The new record of what is not back, nil for all else.
  private func keptRecord(_ stored: UInt64) -> UInt64? {
    guard let place = kept?.place(ofRecord: stored), let element = kept?[place]?.element else {
      return nil
    }
    if let object = takenPlaces[place] {
      guard let number = rows.number(of: object) else { return nil }
      // When it goes, what is kept must not name the one that gets its number.
      rows[number].isReferredTo = true
      return number.record
    }
    return keptRow(of: place, element).record
  }

  /// What a stored reference names from now on, nil if that is not there any more.
  private func reference(storedAs stored: UInt64, in number: RowNumber) -> UInt64? {
    if let record = keptRecord(stored) { return record }
    guard let object = kept?.object(stored), objects.canBeReferred(object) else { return nil }
    return reference(to: object, from: number, key: "")
  }

  private func write(_ part: StoredPart) throws {
    let number = part.number
    switch part.content {
    case .own(let own):
      let beside = try encoded(part.beside, number)
      do {
        try append(number) { encoder in
          try encoder.copyAll(from: own)
          if let beside { try encoder.copyAll(from: beside) }
        }
        noteSubkeys(ofKept: part.beside, number)
      } catch {
        // Both have no room in one record.
        for state in part.beside { drop(state, of: number) }
        try append(number) { try $0.copyAll(from: own) }
      }
    case .last:
      besideLast[number] = try encoded(part.beside, number).map { ($0, part.beside) }
    case .stored(let record, let values):
      forgetSensitive(of: number)
      if let sensitive = values.sensitive { noteSubkeys(ofStored: sensitive, number) }
      do {
        let beside = try encoded(part.beside, number)
        try append(number) { encoder in
          encoder.encodeContainer(forKey: NodeRecord.nodeKey) { record.encode(with: $0) }
          try values.copy(to: encoder) { [unowned self] in reference(storedAs: $0, in: number) }
          if let beside { try encoder.copyAll(from: beside) }
        }
        noteSubkeys(ofKept: part.beside, number)
      } catch {
        loseState(of: number, error)
        try append(number) { encoder in
          encoder.encodeContainer(forKey: NodeRecord.nodeKey) { record.encode(with: $0) }
        }
      }
    }
  }

  /// States that are kept beside another one, with the records that their references name
  /// by now; nil if there are none.
  private func encoded(_ states: [KeptState], _ number: RowNumber) throws -> KeyedDecoder? {
    guard !states.isEmpty else { return nil }
    return try KeyedDecoder.encoding(limits: builder.limits) { encoder in
      try KeptState.encode(states, with: encoder) { [unowned self] in
        reference(storedAs: $0, in: number)
      }
    }
  }

  /// Writes them beside a state that was stored last.
  func encodeBeside(of number: RowNumber, with encoder: KeyedEncoder) throws {
    guard let (container, _) = besideLast[number] else { return }
    try encoder.copyAll(from: container)
  }
}
