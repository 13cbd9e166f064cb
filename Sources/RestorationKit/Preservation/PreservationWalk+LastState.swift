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
  /// Writes the records of objects whose state could not be encoded or was not asked for, with
  /// their stored state.
  ///
  /// - Parameter tree: The stored tree; nil if there is none, or if it cannot be read.
  /// - Throws: ``ArchiveError`` if a record cannot be built.
  /// - Complexity: O(*n*) in the stored and the preserved elements.
  func keepLastStates(from tree: StoredTree?) throws {
    guard !records.lost.isEmpty else { return }
    defer { records.lost = [] }
    // The next save asks these objects again, since it asks everything.
    rows.whole.isRegular = false
    let elements = tree.map { LastElements($0, rows, knowsObjects: !records.rewrites) }
    let inKeptPlaces = rowsInKeptPlaces
    for lost in records.lost {
      let place = elements?.places(of: lost.number).first { place in
        guard let tree, tree.values.state(at: place) != nil else { return false }
        let type = types.info(of: lost.object)
        return canKeep(place, of: tree, as: type, inKeptPlaces.contains(lost.number))
      }
      if let elements, let place {
        try keep(place, of: elements, for: lost)
      } else {
        try append(lost.number) { encoder in
          try encoder.copyAll(from: lost.ownPart)
          try encodeBeside(of: lost.number, with: encoder)
        }
      }
      if let (_, states) = keeping?.besideLast[lost.number] {
        sensitive?.noteSubkeys(ofKept: states, lost.number)
      }
    }
  }

  var rowsInKeptPlaces: Set<RowNumber> {
    Set((keeping?.claims ?? [:]).values.compactMap { rows.number(of: $0) })
  }

  /// Whether the stored state of an element can stay for an object, whatever its class is called by
  /// now.
  ///
  /// A kept element that an object has claimed is not replaced by an object without a state,
  /// whatever the class of the object.
  func canKeep(
    _ place: Int, of tree: StoredTree, as type: TypeInfo, _ isInKeptPlace: Bool
  ) -> Bool {
    let stored = tree.outline.form(of: place).className
    if stored == type.name || isInKeptPlace { return true }
    return types.registration(named: knownName(of: stored, in: tree))?.type == type.type
  }

  /// A registered name of the class with a stored name; the stored name if there is none.
  ///
  /// A later version of the app may have saved a name that this version does not know.
  private func knownName(of stored: String, in tree: StoredTree) -> String {
    if types.isRegistered(stored) { return stored }
    return tree.formerNames[stored]?.first(where: types.isRegistered) ?? stored
  }

  private func keep(_ place: Int, of elements: LastElements, for lost: LostState) throws {
    let tree = elements.tree
    let form = tree.outline.form(of: place)
    let values = tree.values[place]
    var record = lost.record
    record.className = knownName(of: form.className, in: tree)
    record.restorationClassName = form.restorationClassName.map { knownName(of: $0, in: tree) }
    record.version = form.version
    record.hasLastState = true
    let parts = [
      (NodeRecord.builtInKey, values.builtIn), (NodeRecord.stateKey, values.state),
    ]
    try append(lost.number) { encoder in
      encoder.encodeContainer(forKey: NodeRecord.nodeKey) { record.encode(with: $0) }
      for case (let key, let stored?) in parts {
        try encoder.encodeContainer(forKey: key) { encoder in
          try encoder.copyAll(from: stored) { elements.record($0) }
        }
      }
      if let values = values.sensitive {
        try sensitive?.encodeLast(values, of: lost.object, lost.number, with: encoder)
      }
      try encodeBeside(of: lost.number, with: encoder)
    }
    rows.findings.setOutcome(.savedWithLastState, lost.number)
    // The object has not said its present state for this record, so another record is no change
    // that it kept silent about.
    rows[lost.number].stored.isAsked = false
  }
}
