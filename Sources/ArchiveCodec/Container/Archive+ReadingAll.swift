extension Archive {
  /// One record of an archive that was read whole.
  public struct Record: Sendable {
    /// The identifier that it was written with.
    public let identifier: UInt64

    /// Its values, or why they cannot be used: `malformed`,
    /// `limitExceeded` or `unsupportedFeature`.
    public let content: Result<KeyedDecoder, ArchiveError>
  }

  /// Checks every byte of the archive and the form of every value.
  ///
  /// - Throws: ``ArchiveError`` with `damaged`, `malformed`, `limitExceeded` or
  ///   `unsupportedFeature`.
  /// - Complexity: O(*n* log *n*) in the number of records, O(*m*) in the bytes.
  public func verifyAll() throws(ArchiveError) {
    try visitAll { record throws(ArchiveError) in _ = try record.content.get() }
  }

  /// Checks every byte and opens every record.
  ///
  /// Those of the snapshot come first, in the order of the file, then those
  /// that the journal wrote. A record that is authentic but not well formed
  /// does not stop the others.
  ///
  /// - Returns: All records.
  /// - Throws: ``ArchiveError`` as ``verifyAll()`` does, but not for what is
  ///   wrong with one record only.
  /// - Complexity: As ``verifyAll()``.
  public func readAll() throws(ArchiveError) -> [Record] {
    var records: [Record] = []
    try visitAll { record in records.append(record) }
    return records
  }

  private func visitAll(
    _ visit: (Record) throws(ArchiveError) -> Void
  ) throws(ArchiveError) {
    try visitFrames { (identifier, read) throws(ArchiveError) in
      let content: Result<KeyedDecoder, ArchiveError>
      do throws(ArchiveError) {
        content = .success(try read().decoder(symbols: history.symbols, limits: limits))
      } catch  where [.malformed, .limitExceeded, .unsupportedFeature].contains(error.code) {
        content = .failure(error)
      }
      try visit(Record(identifier: identifier, content: content))
    }
  }

  /// Checks every chunk and gives every record that is not superseded.
  func visitFrames(
    _ visit: (UInt64, () throws(ArchiveError) -> RecordFrame) throws(ArchiveError) -> Void
  ) throws(ArchiveError) {
    let snapshot = history.snapshot
    try snapshot.visitAll { entry throws(ArchiveError) in
      guard history.changes[entry.record] == nil else {
        return try snapshot.reader.verify(entry.frameRange)
      }
      try visit(entry.record) { () throws(ArchiveError) in try snapshot.recordFrame(entry) }
    }
    for record in changedRecords() {
      guard case .record(let frame) = history.changes[record] else { continue }
      try visit(record) { () throws(ArchiveError) in frame }
    }
  }
}
