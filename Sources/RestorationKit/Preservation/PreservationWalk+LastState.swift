internal import ArchiveCodec

/// A node, view or object whose state could not be encoded.
struct LostState {
  let object: any StateRestoring
  let record: NodeRecord
  let number: RowNumber
  /// The record of the object without a state.
  let ownPart: KeyedDecoder
}

extension PreservationWalk {
  /// The records with which ``LastRecords`` finds the last states; nil if only the whole tree has
  /// them: the rows do not know which record is whose, or an object has claimed a kept record.
  var lastRecords: [UInt64]? {
    guard knowsOwners, rows.run.hasCommitted, keeping?.claims.isEmpty ?? true else { return nil }
    return LastRecords.records(of: records.lost.map(\.number))
  }

  /// Whether the rows say which record was stored of each object.
  var knowsOwners: Bool { !records.rewrites && !rows.run.followsFailure }

  /// Writes the records of objects whose state could not be encoded or was not asked for, with
  /// their stored state.
  ///
  /// - Parameter states: The stored states; nil if there are none, or if they cannot be read.
  /// - Throws: ``ArchiveError`` if a record cannot be built.
  /// - Complexity: O(*n*) in the objects.
  func keepLastStates(from states: (any LastStates)?) throws {
    defer { records.lost = [] }
    let inKeptPlaces = Set((keeping?.claims ?? [:]).values.compactMap { rows.number(of: $0) })
    for lost in records.lost {
      // All other objects are asked by each save.
      if rows[lost.number].hearing.isTracked { rows.hearing.unsaid.insert(lost.number) }
      let type = types.info(of: lost.object)
      let last = states?.states(of: lost.number).first { last in
        last.values.state != nil
          && canKeep(
            last.form.className, states?.formerNames ?? [:], as: type,
            inKeptPlaces.contains(lost.number))
      }
      if let states, let last {
        try keep(last, of: states, for: lost)
      } else {
        try append(lost.number, isSaid: false) { encoder in
          try encoder.copyAll(from: lost.ownPart)
          try encodeBeside(of: lost.number, with: encoder)
        }
      }
    }
  }

  /// Whether the stored state of a class can stay for an object, whatever the object's class is
  /// called by now.
  ///
  /// A kept element that an object has claimed is not replaced by an object without a state,
  /// whatever the class of the object.
  private func canKeep(
    _ className: String, _ formerNames: [String: [String]], as type: TypeInfo,
    _ isInKeptPlace: Bool
  ) -> Bool {
    if className == type.name || isInKeptPlace { return true }
    return types.registration(named: knownName(of: className, formerNames))?.type == type.type
  }

  /// A registered name of the class with a stored name; the stored name if there is none.
  ///
  /// A later version of the app may have saved a name that this version does not know.
  private func knownName(of stored: String, _ formerNames: [String: [String]]) -> String {
    if types.isRegistered(stored) { return stored }
    return formerNames[stored]?.first(where: types.isRegistered) ?? stored
  }

  private func keep(_ last: LastState, of states: any LastStates, for lost: LostState) throws {
    let (form, values, formerNames) = (last.form, last.values, states.formerNames)
    var record = lost.record
    record.className = knownName(of: form.className, formerNames)
    record.restorationClassName = form.restorationClassName.map { knownName(of: $0, formerNames) }
    record.version = form.version
    record.hasLastState = true
    let parts = [
      (NodeRecord.builtInKey, values.builtIn), (NodeRecord.stateKey, values.state),
    ]
    // The object has not said its present state for this record, so another record is no change
    // that it kept silent about.
    try append(lost.number, isSaid: false) { encoder in
      encoder.encodeContainer(forKey: NodeRecord.nodeKey) { record.encode(with: $0) }
      for case (let key, let stored?) in parts {
        try encoder.encodeContainer(forKey: key) { encoder in
          try encoder.copyAll(from: stored) { states.record($0) }
        }
      }
      try encodeBeside(of: lost.number, with: encoder)
    }
    rows.findings.setOutcome(.savedWithLastState, lost.number)
  }
}
