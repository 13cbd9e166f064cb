internal import ArchiveCodec

extension Rows {
  /// The rows of what was restored: the next save asks everything, and finds out
  /// what is stored already.
  ///
  /// Nil if it is not known what is stored, or if the records have numbers with large
  /// gaps.
  ///
  /// - Parameters:
  ///   - tree: What was stored.
  ///   - kept: What of it is kept and not back.
  ///   - need: Is told when an object of a row says that it has changed.
  ///   - object: What is back at a place.
  convenience init?(
    _ tree: StoredTree, _ kept: KeptRecords?, telling need: SaveNeed?,
    object: (Int) -> (any StateRestoring)?
  ) {
    let stored = tree.outline.rows
    let largest = stored.reduce(NodeRecord.firstNode) { max($0, $1.record) }
    guard tree.isWhole, largest - NodeRecord.firstNode < UInt64(stored.count) * 2 + 1024
    else { return nil }
    self.init(need)
    let fingerprints = tree.fingerprints
    whole.version = tree.version
    self.kept = KeptRows(kept)
    numbers = AddressTable(minimumCapacity: stored.count)
    rows = Array(repeating: Row(.node, nil), count: Int(largest - NodeRecord.firstNode) + 1)
    for place in rows.indices { rows[place].isFree = true }
    for (place, element) in stored.enumerated() {
      let number = RowNumber(Int(element.record - NodeRecord.firstNode))
      rows[number.place].isFree = false
      rows[number.place].stored.fingerprint = fingerprints[place]
      rows[number.place].stored.byteCount = UInt32(
        clamping: tree.laterFingerprints.byteCount(at: place) ?? 0)
      // A record that is kept is that of no object, although one was made for it which its
      // container could not take: that may be anywhere now, or have another at its address.
      if let place = kept?.place(ofRecord: element.record) {
        self.kept.numbers[place] = number
      } else if let object = object(place) {
        let identity = ObjectIdentifier(object)
        // One that came back at two places has one row.
        if let other = numbers.find(identity) { rows[other].identity = nil }
        rows[number.place].identity = identity
        numbers.set(number.place, for: identity)
      }
    }
    free = rows.indices.lazy.filter { [rows] in rows[$0].isFree }.map { RowNumber($0) }
  }

  /// Gives objects that came late the rows of what was kept of them, so that it is known what is
  /// stored of each.
  func claim(_ claimed: [(place: Int, object: any StateRestoring)]) {
    for (place, object) in claimed {
      let identity = ObjectIdentifier(object)
      guard numbers.find(identity) == nil, let number = kept.numbers.removeValue(forKey: place)
      else { continue }
      self[number].identity = identity
      numbers.set(number.place, for: identity)
    }
  }
}
