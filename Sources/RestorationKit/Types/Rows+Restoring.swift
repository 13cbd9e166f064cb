internal import ArchiveCodec

extension Rows {
  /// Makes the rows of a restored tree, so that the next save, which asks everything, finds out
  /// which records are stored already.
  ///
  /// Nil if the stored records are not known, or if their numbers have large gaps.
  ///
  /// - Parameters:
  ///   - tree: The stored tree.
  ///   - kept: The elements and states of the tree that are kept.
  ///   - signal: Is told when an object of a row says that it has changed.
  ///   - object: Gives the object that is back at an index.
  convenience init?(
    _ tree: StoredTree, _ kept: KeptRecords?, telling signal: ChangeSignal?,
    object: (Int) -> (any StateRestoring)?
  ) {
    let stored = tree.outline.rows
    let largest = stored.reduce(NodeRecord.firstNode) { max($0, $1.record) }
    guard tree.isWhole, largest - NodeRecord.firstNode < UInt64(stored.count) * 2 + 1024
    else { return nil }
    self.init(signal)
    let fingerprints = tree.fingerprints
    whole.version = tree.version
    self.kept = KeptRows(kept)
    numbers = AddressTable(minimumCapacity: stored.count)
    rows = Array(repeating: Row(.node, nil), count: Int(largest - NodeRecord.firstNode) + 1)
    for index in rows.indices { rows[index].isFree = true }
    for (index, element) in stored.enumerated() {
      let number = RowNumber(Int(element.record - NodeRecord.firstNode))
      rows[number.index].isFree = false
      rows[number.index].stored.fingerprint = fingerprints[index]
      // A kept record is that of no object, even if an object was made for it that its container
      // could not take: that object may be anywhere now, or another one may have its address.
      if let kept = kept?.index(ofRecord: element.record) {
        self.kept.numbers[kept] = number
      } else if let object = object(index) {
        let identity = ObjectIdentifier(object)
        // An object that came back at two places has one row.
        if let other = numbers.find(identity) { rows[other].identity = nil }
        rows[number.index].identity = identity
        numbers.set(number.index, for: identity)
      }
    }
    free = rows.indices.lazy.filter { [rows] in rows[$0].isFree }.map { RowNumber($0) }
  }

  /// Gives objects that came late the rows of their kept elements, so that saves know what is
  /// stored of each object.
  func claim(_ claimed: [(index: Int, object: any StateRestoring)]) {
    for (index, object) in claimed {
      let identity = ObjectIdentifier(object)
      guard numbers.find(identity) == nil, let number = kept.numbers.removeValue(forKey: index)
      else { continue }
      self[number].identity = identity
      numbers.set(number.index, for: identity)
    }
  }
}
