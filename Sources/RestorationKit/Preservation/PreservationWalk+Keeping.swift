internal import ArchiveCodec
internal import RestorationFoundation

/// Elements that are not back, and states that nobody could read, while the app is asked.
extension PreservationWalk {
  /// The elements and states that a restore could not bring back; nil if there are none.
  var kept: KeptRecords? { keeping?.records }

  func meetKeptRoots() {
    for index in kept?.roots ?? [] { keeping?.meet(index, below: nil) }
  }

  /// Lets an object that has its place claim the kept element of its name, and meets the elements
  /// that are kept below it.
  ///
  /// - Returns: Whether something may be kept below the object.
  /// - Throws: ``NeedsEverything`` if something may be, in a save of changes.
  func meetKept(
    below object: any StateRestoring, _ number: RowNumber
  ) throws(NeedsEverything) -> Bool {
    guard let kept else { return false }
    let tops = kept.tops(below: object)
    guard asksEverything else {
      guard tops.isEmpty else { throw NeedsEverything() }
      return false
    }
    // The object's own kept elements come first: of two with one name the later one is not kept.
    let below = tops + (keeping?.claim(Sibling(rows[number]), by: object) ?? [])
    for index in below { keeping?.meet(index, below: number) }
    return !below.isEmpty
  }

  /// Asks an object whose record waits until it is decided what is kept in and below the object.
  func deferRecord(
    of object: any StateRestoring, _ number: RowNumber, _ info: TypeInfo, _ origin: Origin,
    keeping states: KeptRecords.State?
  ) throws {
    // In a save of changes, the object has another place now, or was not there before.
    if !asksEverything, states?.withheld != nil || !rows.kept.isConcerned(number) {
      throw NeedsEverything()
    }
    var record = DeferredRecord(object: object, number: number, info: info, origin: origin)
    if let states { keepOn(states, in: &record) }
    ask(&record)
    keeping?.add(record)
  }

  /// Lets an object keep its states, without the states that are over their age.
  ///
  /// Of the states of an object that is left out, or keeps one itself, the newest is given up first where
  /// there is no room: the oldest state is the one from before anything crashed, or from before the
  /// node could not take it.
  private func keepOn(_ states: KeptRecords.State, in record: inout DeferredRecord) {
    guard let kept else { return }
    record.states = states
    let all = states.all
    let isOldestLast = states.leftOut != nil || all.contains(where: \.isKeptByNode)
    let goingFirst = isOldestLast ? all.reversed() : all
    for (rank, (one, turn)) in zip(all, goingFirst).enumerated() {
      let since = kept.firstSave(keeping: one.state, now: now)
      guard keeping?.bound?.hasExpired(since, at: now) != true else {
        drop([one.state.id], of: &record)
        continue
      }
      record.items.append(
        KeptItem(
          id: one.state.id,
          element: KeptElement(
            kind: states.kind, path: states.path, className: one.state.className,
            reason: one.reason, isStateAlone: true, since: since,
            byteCount: kept.byteCount(of: one.state)),
          since: kept.firstSave(keeping: turn.state, now: now),
          rank: isOldestLast ? rank : 0))
    }
  }

  /// Ends keeping some states of an object, and notes each of them.
  private func drop(_ gone: Set<KeptState.ID>, of record: inout DeferredRecord) {
    guard !gone.isEmpty else { return }
    let dropped = (record.states?.all ?? []).map(\.state).filter { gone.contains($0.id) }
    guard !dropped.isEmpty else { return }
    for state in dropped { noteDropped(state, of: record.number) }
    keeping?.settlement.droppedStates.append((record.object, Set(dropped.map(\.id))))
    record.states?.drop(gone)
  }

  /// Finds out what an object says, unless its stored state is to stay anyway.
  private func ask(_ record: inout DeferredRecord) {
    do {
      if record.states?.withheld != nil {
        guard try isChanged(record.object, record.number, record.info) else { return }
      }
      record.said = .success(try encodeApart(record))
      record.putBeside()
    } catch {
      record.said = .failure(error)
      if record.info.tracking == .always { said?.noteFailure(record.number) }
    }
  }

  /// The answer of an object, as a record without the library's part.
  private func encodeApart(_ record: DeferredRecord) throws -> KeyedDecoder {
    let (object, number, info) = (record.object, record.number, record.info)
    try builder.begin(record: number.record, with: encoder)
    do {
      try read(.state, of: object, number) {
        encodeBuiltInState(of: object, number, info, with: encoder)
        try encodeState(of: object, number, info)
      }
    } catch {
      builder.abandon()
      throw error
    }
    return try builder.takeOpen()
  }

  /// Whether an object says something else than when the restore had ended, or came after the
  /// restore.
  func isChanged(
    _ object: any StateRestoring, _ number: RowNumber, _ info: TypeInfo
  ) throws -> Bool {
    let path = rows.path(of: number)
    let now = try read(.state, of: object, number) {
      try StateProbe(object, at: path, info.traits, builder.limits)
    }
    if info.tracking == .always { said?.note(now, number) }
    return kept?.probe(of: object)?.isSame(as: now) != true
  }
}

// MARK: - When all objects of the app are in their places

extension PreservationWalk {
  /// An element that is not back, and goes on being stored with all below it.
  private struct KeptTop {
    let index: Int
    let parent: RowNumber?
    let since: Date
  }

  private enum Part {
    case element(KeptTop)
    case object(DeferredRecord)
  }

  /// Decides which elements and states stay of all that were met so far, and writes them.
  func settleKept() throws {
    guard let undecided = keeping?.takeUndecided(), !undecided.isEmpty else { return }
    let candidates = undecided.flatMap(items)
    let crowded = asksEverything ? keeping?.crowdedOut(of: candidates) ?? [] : []
    let parts = undecided.compactMap { part(of: $0, without: crowded) }
    for case .element(let top) in parts { place(top) }
    for part in parts {
      switch part {
      case .element(let top): try write(top)
      case .object(var record):
        // The stored state that would have stayed, since the object said nothing else, is not kept.
        if record.said == nil, record.states?.withheld == nil { ask(&record) }
        try write(record)
      }
    }
  }

  /// The items of an element or object that compete for room if more is kept than may be.
  private func items(of undecided: KeptSurvey.Undecided) -> [KeptItem] {
    switch undecided {
    case .object(let record): return record.items
    case .element(let index, _):
      guard let kept, let (element, outcome) = kept[index].map({ ($0.element, $0.outcome) }) else {
        return []
      }
      let since = kept.firstSave(keeping: element, now: now)
      guard keeping?.bound?.hasExpired(since, at: now) != true else { return [] }
      return [
        KeptItem(
          id: KeptState(of: element).id,
          element: KeptElement(
            kind: element.content.kind, path: element.path, className: element.content.className,
            reason: outcome, isStateAlone: false, since: since,
            byteCount: kept.byteCount(below: index)),
          since: since)
      ]
    }
  }

  /// The part that is to be written; nil for an element that is kept no more, which gets a line in
  /// the report.
  private func part(
    of undecided: KeptSurvey.Undecided, without crowded: Set<KeptState.ID>
  ) -> Part? {
    let items = items(of: undecided).filter { !crowded.contains($0.id) }
    switch undecided {
    case .object(var record):
      keeping?.items += items
      drop(crowded, of: &record)
      return .object(record)
    case .element(let index, let parent):
      guard let kept, let element = kept[index]?.element else { return nil }
      let since = kept.firstSave(keeping: element, now: now)
      let byteCount = kept.byteCount(below: index)
      let outcome: PreservationReport.NodeOutcome
      if crowded.contains(KeptState(of: element).id) {
        outcome = .crowdedOut(since: since, byteCount: byteCount)
      } else if items.isEmpty {
        outcome = .expired(since: since, byteCount: byteCount)
      } else if keeping?.takeName(Sibling(element.content, below: parent)) == false {
        outcome = .replaced
      } else {
        keeping?.items += items
        return .element(KeptTop(index: index, parent: parent, since: since))
      }
      addEntry(element, outcome)
      keeping?.drop(index)
      return nil
    }
  }

  private func addEntry(
    _ element: StoredTree.Element, _ outcome: PreservationReport.NodeOutcome
  ) {
    report.add(
      PreservationReport.Entry(
        kind: element.content.kind, path: element.path, className: element.content.className,
        outcome: outcome))
  }

  /// Gives a kept element and all below it their places and lines.
  private func place(_ top: KeptTop) {
    guard let kept else { return }
    var parents: [Int: RowNumber] = [:]
    for index in kept.subtree(of: top.index) {
      guard let entry = kept[index] else { continue }
      let number = rows.row(ofKept: index, entry.element)
      rows.placeKept(number, below: parents[index] ?? top.parent)
      for child in entry.children { parents[child] = number }
      rows.keep(number, because: entry.outcome)
      report.add(number)
      guard index == top.index else { continue }
      // No element that comes later can have the name of a kept one.
      names.take(ofKept: Sibling(entry.element.content, below: top.parent))
      if let parent = top.parent {
        rows.kept.below[parent, default: []].append((entry.element.role, number, entry.stackPlace))
      } else {
        rows.whole.storedRoots.append(number)
      }
    }
  }

  /// The changes that the keeper makes when the save is written; the survey lets go of the objects.
  func settlement() -> KeptRecords.Settlement {
    defer { keeping?.letGo() }
    let settlement = keeping?.settlement { [rows] object in
      [.saved, .keptAsStored].contains(rows.placed(object).map { rows.outcome(of: $0) })
    }
    guard let settlement else { return KeptRecords.Settlement() }
    for index in settlement.replaced.map(\.index).sorted()
    where kept?.state(of: index)?.withheld == nil {
      if let element = kept?[index]?.element { addEntry(element, .replaced) }
    }
    return settlement
  }

  // MARK: Records

  /// The record that a kept element, or the object that claimed it, has now; nil if there is none.
  private func keptRecord(_ stored: UInt64) -> UInt64? {
    guard let index = kept?.index(ofRecord: stored) else { return nil }
    if let object = keeping?.claims[index] {
      guard let number = rows.number(of: object) else { return nil }
      // When the object goes, kept states must not name the element that gets its number.
      rows[number].reach.isReferredTo = true
      return number.record
    }
    guard let element = kept?[index]?.element, keeping?.dropped.contains(index) != true else {
      return nil
    }
    // Also of an element that is decided about later: something that is kept may lead to it.
    if let number = rows.kept.numbers[index], rows.isStored(number) { return number.record }
    return rows.row(ofKept: index, element).record
  }

  /// The record that a stored reference names from now on; nil if its object is not there any more.
  private func reference(storedAs stored: UInt64, in number: RowNumber) -> UInt64? {
    if let record = keptRecord(stored) { return record }
    guard let object = kept?.object(stored), objects.canBeReferred(object) else { return nil }
    return reference(to: object, from: number, key: "")
  }

  /// Writes an element that is not back, and all below it, as the elements were stored.
  private func write(_ top: KeptTop) throws {
    guard let kept else { return }
    for index in kept.subtree(of: top.index) {
      guard let element = kept[index]?.element, let number = rows.kept.numbers[index] else {
        continue
      }
      var record = element.content
      let below = Set((kept[index]?.children ?? []).compactMap { kept[$0]?.element.record })
      record.views = record.views.filter(below.contains).compactMap(keptRecord)
      record.children = record.children.filter(below.contains).compactMap(keptRecord)
      record.presented = record.presented.flatMap { below.contains($0) ? keptRecord($0) : nil }
      record.referrer = record.referrer.flatMap(keptRecord)
      if index == top.index, element.role == .referred || element.role == .presented {
        record.referrer = top.parent?.record
      }
      record.keptSince = record.keptSince ?? top.since
      try write(record, element.values, beside: element.kept, number)
    }
  }

  private func write(_ record: DeferredRecord) throws {
    let number = record.number
    if let states = record.states { keeping?.settlement.states.append((record.object, states)) }
    let beside = record.beside.map(dated)
    if let withheld = record.states?.withheld {
      if case .failure(let error) = record.said { rows.note(.encodeFailed(error.reason), number) }
      return try writeWithheld(withheld, beside: beside, record)
    }
    if !beside.isEmpty {
      rows.kept.besides.insert(number)
      for state in beside {
        rows.note(.keptBeside(version: state.version, since: state.since), number)
      }
    }
    switch record.said {
    case .success(let state): try write(state, beside: beside, record)
    case .failure(let error):
      keeping?.besideLast[number] = try encoded(beside, number)
      try lose(record.object, number, record.info, record.origin, error)
    // Only an object whose state is withheld says nothing.
    case nil: break
    }
  }

  /// Writes what an object said, and the states that are kept beside it, if both have room.
  private func write(
    _ state: KeyedDecoder, beside: [KeptState], _ record: DeferredRecord
  ) throws {
    let number = record.number
    func append(_ beside: KeyedDecoder?) throws {
      try self.append(number) { encoder in
        encodeOwnPart(of: number, record.info, record.origin, with: encoder)
        try encoder.copyAll(from: state)
        if let beside { try encoder.copyAll(from: beside) }
      }
    }
    do {
      do {
        try append(try encoded(beside, number))
      } catch  where !beside.isEmpty {
        for state in beside { noteDropped(state, of: number) }
        try append(nil)
      }
    } catch {
      try lose(record.object, number, record.info, record.origin, error)
    }
  }

  /// Writes an object's record with the state that it was restored from.
  private func writeWithheld(
    _ withheld: StoredTree.Element, beside: [KeptState], _ record: DeferredRecord
  ) throws {
    let number = record.number
    var content = nodeRecord(number, record.info, record.origin)
    content.className = withheld.content.className
    content.restorationClassName = withheld.content.restorationClassName
    content.version = withheld.content.version
    content.hasLastState = withheld.content.hasLastState
    content.keptSince = kept?.firstSave(keeping: withheld, now: now)
    if let states = record.states { rows.keep(number, because: states.outcome) }
    try write(content, withheld.values, beside: beside, number)
  }

  private func write(
    _ record: NodeRecord, _ values: StoredTree.Values, beside: [KeptState], _ number: RowNumber
  ) throws {
    do {
      let beside = try encoded(beside, number)
      try append(number) { encoder in
        encoder.encodeContainer(forKey: NodeRecord.nodeKey) { record.encode(with: $0) }
        try values.copy(to: encoder) { [unowned self] in reference(storedAs: $0, in: number) }
        if let beside { try encoder.copyAll(from: beside) }
      }
    } catch {
      loseState(of: number, error)
      return try append(number) { encoder in
        encoder.encodeContainer(forKey: NodeRecord.nodeKey) { record.encode(with: $0) }
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

  /// Writes the states that are kept beside a state that was stored last.
  func encodeBeside(of number: RowNumber, with encoder: KeyedEncoder) throws {
    if let container = keeping?.besideLast[number] { try encoder.copyAll(from: container) }
  }

  /// A state with the time since when it is kept.
  private func dated(_ state: KeptState) -> KeptState {
    var state = state
    state.since = kept?.firstSave(keeping: state, now: now)
    return state
  }

  private func noteDropped(_ state: KeptState, of number: RowNumber) {
    guard let kept else { return }
    rows.note(
      .keptStateDropped(
        since: kept.firstSave(keeping: state, now: now), byteCount: kept.byteCount(of: state)),
      number)
  }
}
