internal import ArchiveCodec
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// An object of which a state is kept that nobody could read, or that crashed: what it says
/// itself is saved beside that state, as soon as it says something else than at the restore.
extension PreservationWalk {
  /// The states that are kept of an object, also in the place that it takes; nil if none are.
  func keptState(of object: any StateRestoring) -> KeptRecords.State? {
    guard let kept else { return nil }
    let own = kept.state(of: object)
    guard let taken = placesTaken[ObjectIdentifier(object)].flatMap({ kept.state(of: $0) }) else {
      return own
    }
    guard var state = own else { return taken }
    state.beside += taken.all.map { KeptRecords.Beside(state: $0.state, reason: $0.reason) }
    return state
  }

  /// Writes the record of an object of which states are kept.
  func write(
    _ object: any StateRestoring, _ number: RowNumber, _ info: TypeInfo, _ origin: Origin,
    kept below: KeptBelow, keeping state: KeptRecords.State
  ) throws {
    // One that has another place now, or was not there before.
    if !asksEverything, state.withheld != nil || !rows.kept.isConcerned(number) {
      throw NeedsEverything()
    }
    let stored = keptOn(state, number)
    var next = stored
    var replaced: KeptState.ID?
    if let withheld = stored.withheld {
      guard saysSomethingElse(object, number, info) else {
        return keep(withheld, stored, of: object, number, info, origin, below)
      }
      replaced = next.putBeside()
    }
    guard !next.beside.isEmpty else {
      settlementOfKept.states.append((object, next))
      return try writeAlone(object, number, info, origin, kept: below)
    }
    next.beside[0].state.leftOut = next.leftOut
    let beside = next.beside.map { dated($0.state) }
    do {
      let own = try encodeApart(object, number, info, origin, below)
      if let replaced { keptItems.removeAll { $0.id == replaced } }
      try noteProbe(of: object, number, info)
      storedParts.append(StoredPart(number: number, content: .own(own), beside: beside))
    } catch {
      if info.tracking == .always { rows.said?.noteFailure(number) }
      if let withheld = stored.withheld {
        rows.note(.encodeFailed(error.reason), number)
        return keep(withheld, stored, of: object, number, info, origin, below)
      }
      storedParts.append(StoredPart(number: number, content: .last, beside: beside))
      try lose(object, number, info, origin, below, error)
    }
    settlementOfKept.states.append((object, next))
    noteBeside(beside, number)
    if info.tracking == .observed { rows[number].isObserved = true }
  }

  private func noteBeside(_ states: [KeptState], _ number: RowNumber) {
    rows.besides.insert(number)
    for state in states {
      rows.note(.keptBeside(version: state.version, since: state.since), number)
    }
  }

  /// The states of an object without those that are not kept any more.
  private func keptOn(_ state: KeptRecords.State, _ number: RowNumber) -> KeptRecords.State {
    let kept = statesToKeep(of: state, number)
    var state = state
    state.beside.removeAll { !kept.contains($0.state.id) }
    if let withheld = state.withheld, !kept.contains(KeptState(of: withheld).id) {
      state.withheld = nil
    }
    return state
  }

  /// The same as ``isChanged(_:_:_:)``; an object that cannot say its state says nothing else.
  private func saysSomethingElse(
    _ object: any StateRestoring, _ number: RowNumber, _ info: TypeInfo
  ) -> Bool {
    do {
      return try isChanged(object, number, info)
    } catch {
      rows.note(.encodeFailed(error.reason), number)
      if info.tracking == .always { rows.said?.noteFailure(number) }
      return false
    }
  }

  /// Notes for a poll what an object says that is asked by each.
  private func noteProbe(
    of object: any StateRestoring, _ number: RowNumber, _ info: TypeInfo
  ) throws {
    guard info.tracking == .always, let said = rows.said, said.probes[number] == nil else {
      return
    }
    said.note(
      try StateProbe(object, at: rows.path(of: number), info.traits, builder.limits), number)
  }

  /// Those of the states of an object that go on being kept.
  ///
  /// Of the states of an object that is left out the newest is given up first: the oldest is what
  /// was there before anything crashed.
  private func statesToKeep(of state: KeptRecords.State, _ number: RowNumber) -> Set<KeptState.ID> {
    let all = state.all
    let goingFirst = state.leftOut == nil ? all : all.reversed()
    return Set(
      zip(all, goingFirst).enumerated().compactMap { rank, states in
        let ((kept, reason), (turn, _)) = states
        let isKept = keeps(
          kept, because: reason, of: state, number, inTurnOf: turn,
          rank: state.leftOut == nil ? 0 : rank)
        return isKept ? kept.id : nil
      })
  }

  /// Whether an object says something else than when the restore had ended, or came later.
  func isChanged(
    _ object: any StateRestoring, _ number: RowNumber, _ info: TypeInfo
  ) throws -> Bool {
    let path = rows.path(of: number)
    trace?(RestorationTrace(call: .encodeRestorableState, path: path))
    let now = try read(object, number) {
      try StateProbe(object, at: path, info.traits, builder.limits)
    }
    if info.tracking == .observed { rows[number].isObserved = true }
    if info.tracking == .always { rows.said?.note(now, number) }
    return kept?.probe(of: object)?.isSame(as: now) != true
  }

  /// Keeps an object's record with the state that it was restored from.
  private func keep(
    _ withheld: StoredTree.Element, _ state: KeptRecords.State, of object: any StateRestoring,
    _ number: RowNumber, _ info: TypeInfo, _ origin: Origin, _ below: KeptBelow
  ) {
    settlementOfKept.states.append((object, state))
    var record = nodeRecord(number, info, origin, below)
    record.className = withheld.content.className
    record.restorationClassName = withheld.content.restorationClassName
    record.version = withheld.content.version
    record.hasLastState = withheld.content.hasLastState
    record.keptSince = kept?.firstSave(keeping: withheld, now: now)
    rows.keep(number, because: state.outcome)
    storedParts.append(
      StoredPart(
        number: number, content: .stored(record, withheld.values),
        beside: state.beside.map { dated($0.state) }))
  }

  /// A state with the time since when it is kept.
  func dated(_ state: KeptState) -> KeptState {
    var state = state
    state.since = kept?.firstSave(keeping: state, now: now)
    return state
  }

  /// What an object has to say, for a record that is written when all else has one.
  private func encodeApart(
    _ object: any StateRestoring, _ number: RowNumber, _ info: TypeInfo, _ origin: Origin,
    _ below: KeptBelow
  ) throws -> KeyedDecoder {
    try KeyedDecoder.encoding(limits: builder.limits) { encoder in
      try read(object, number) {
        encodeOwnPart(of: object, number, info, origin, below, with: encoder)
        try encodeState(of: object, number, info, with: encoder)
      }
    }
  }
}
