internal import ArchiveCodec

/// A node, view or object whose state could not be encoded.
struct LostState {
  let object: any StateRestoring
  let record: NodeRecord
  let number: RowNumber
  /// Its record without a state.
  let ownPart: KeyedDecoder
}

extension PreservationWalk {
  struct Place: Hashable {
    let kind: ElementKind
    let path: RestorationPath
  }

  /// Writes what could not be encoded, with the state that is stored of it.
  ///
  /// - Parameter tree: What is stored; nil if nothing is, or if it cannot be read.
  /// - Throws: ``ArchiveError`` if a record cannot be built.
  /// - Complexity: O(*n*) in the stored and the preserved elements.
  func keepLastStates(from tree: StoredTree?) throws {
    guard !lost.isEmpty else { return }
    defer { lost = [] }
    // The next save asks them again.
    rows.isRegular = false
    let stored = (tree.map { Array($0.elements) } ?? []).map {
      (Place(kind: $0.content.kind, path: $0.path), $0)
    }
    let elements = Dictionary(stored, uniquingKeysWith: { first, _ in first })
    // One without room may have had another path in the record that is its own.
    let byRecord =
      rewrites || !hasFates
      ? [:]
      : Dictionary(
        stored.map { ($0.1.record, $0.1) }, uniquingKeysWith: { first, _ in first })
    // What the stored records stand for now.
    var numbers: [UInt64: UInt64] = [:]
    let places = placesOfRecords()
    let inKeptPlaces = rowsInKeptPlaces
    for (place, element) in stored { numbers[element.record] = places[place] }
    for lost in lost {
      let place = Place(kind: lost.record.kind, path: rows.path(of: lost.number))
      let element = elements[place] ?? byRecord[lost.number.record]
      if let element, element.values.state != nil,
        canKeep(element, of: lost.record.className, inKeptPlaces.contains(lost.number))
      {
        try keep(element, for: lost, numbers)
      } else {
        try append(lost.number) { try $0.copyAll(from: lost.ownPart) }
      }
    }
  }

  var rowsInKeptPlaces: Set<RowNumber> {
    Set(takenPlaces.values.compactMap { rows.number(of: $0) })
  }

  /// Whether what is stored of an element can stay for an object.
  ///
  /// What is kept is not replaced by one that has no state, whatever its class.
  func canKeep(
    _ element: StoredTree.Element, of className: String, _ isInKeptPlace: Bool
  ) -> Bool {
    element.content.className == className || isInKeptPlace
  }

  private func placesOfRecords() -> [Place: UInt64] {
    var places: [Place: UInt64] = [:]
    for number in rows.placed {
      places[Place(kind: rows[number].kind, path: rows.path(of: number))] = number.record
    }
    return places
  }

  private func keep(
    _ element: StoredTree.Element, for lost: LostState, _ numbers: [UInt64: UInt64]
  ) throws {
    var record = lost.record
    record.className = element.content.className
    record.restorationClassName = element.content.restorationClassName
    record.version = element.content.version
    record.hasLastState = true
    let parts = [
      (NodeRecord.builtInKey, element.values.builtIn),
      (NodeRecord.stateKey, element.values.state),
    ]
    try append(lost.number) { encoder in
      encoder.encodeContainer(forKey: NodeRecord.nodeKey) { record.encode(with: $0) }
      for case (let key, let stored?) in parts {
        try encoder.encodeContainer(forKey: key) { encoder in
          try encoder.copyAll(from: stored) { numbers[$0] }
        }
      }
      if let sensitive = element.values.sensitive {
        try encodeLastSensitive(sensitive, of: lost.object, lost.number)
      }
    }
    rows.setOutcome(.savedWithLastState, lost.number)
    // What it is by now it has not said for this record.
    rows[lost.number].isAsked = false
  }
}
