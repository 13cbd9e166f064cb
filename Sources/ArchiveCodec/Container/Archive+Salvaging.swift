extension Archive {
  /// Gives every record that can be read, also those behind a damaged chunk.
  ///
  /// The order is that of ``forEachRecord(_:)``. A record that lies in a damaged chunk is
  /// given with its error.
  ///
  /// - Parameter body: Takes a record; an error of it ends the reading.
  /// - Returns: The first damage; nil if every byte is as it was sealed.
  /// - Throws: The errors of `body`.
  /// - Complexity: As ``verifyAll()``; behind damage also O(*d*) chunks for *d* records in
  ///   damaged chunks.
  package func salvage(_ body: (Record) throws -> Void) throws -> ArchiveError? {
    var walk = RecordWalk(self)
    var count = 0
    while true {
      switch Result(catching: { () throws(ArchiveError) in try walk.next() }) {
      case .success(let record?):
        count += 1
        try body(record)
      case .success(nil): return nil
      case .failure(let damage):
        try salvageSnapshot(after: count, body)
        while let record = walk.nextChange() { try body(record) }
        return damage
      }
    }
  }

  /// Gives the records of the snapshot without the first ones, which came before the damage.
  private func salvageSnapshot(
    after count: Int, _ body: (Record) throws -> Void
  ) throws {
    // Without the index of the snapshot nobody knows where its records begin.
    guard let entries = try? history.snapshot.entriesInOrder() else { return }
    let kept = entries.lazy.filter { [history] in history.changes[$0.record] == nil }
    for entry in kept.dropFirst(count) {
      let content = Result { () throws(ArchiveError) in
        try history.snapshot.recordFrame(entry)
          .decoder(symbols: history.symbols, limits: limits)
      }
      try body(Record(identifier: entry.record, byteCount: entry.byteCount, content: content))
    }
  }
}
