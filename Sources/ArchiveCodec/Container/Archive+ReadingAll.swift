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

  /// Checks every byte and gives one record after the other, in the order of
  /// ``readAll()``.
  ///
  /// It is the fastest way to read an archive: a record that the body does not
  /// keep leaves its memory to the next one.
  ///
  ///     try archive.forEachRecord { record in
  ///       notes[record.identifier] = try record.content.get().decode(forKey: "text")
  ///     }
  ///
  /// - Parameter body: Takes a record; what it throws ends the reading.
  /// - Throws: What `body` throws; ``ArchiveError`` as ``readAll()`` does, for
  ///   a damaged chunk when the records before it were given.
  /// - Complexity: As ``verifyAll()``, and one record at a time in memory.
  public func forEachRecord(_ body: (Record) throws -> Void) throws {
    var failure: (any Error)?
    do {
      try visitAll { record throws(ArchiveError) in
        do {
          try body(record)
        } catch {
          // A visit can only throw archive errors; this one is given below.
          failure = error
          throw ArchiveError(.inputOutput, subject: "reading")
        }
      }
    } catch {
      throw failure ?? error
    }
  }

  private func visitAll(
    _ visit: (Record) throws(ArchiveError) -> Void
  ) throws(ArchiveError) {
    var memory = RecordMemory()
    try visitFrames { (identifier, read) throws(ArchiveError) in
      let record: Record
      do throws(ArchiveError) {
        let frame = try read(memory.takeBytes())
        let decoder = try frame.decoder(
          symbols: history.symbols, limits: limits, reusing: memory.takeFields())
        record = Record(identifier: identifier, content: .success(decoder))
      } catch  where [.malformed, .limitExceeded, .unsupportedFeature].contains(error.code) {
        record = Record(identifier: identifier, content: .failure(error))
      }
      try visit(record)
      memory.put(record)
    }
  }

  /// Checks every chunk and gives every record that is not superseded; reading
  /// its frame takes memory that is not needed any more.
  func visitFrames(
    _ visit: (UInt64, (consuming [UInt8]) throws(ArchiveError) -> RecordFrame)
      throws(ArchiveError) -> Void
  ) throws(ArchiveError) {
    let snapshot = history.snapshot
    try snapshot.visitAll { entry, window throws(ArchiveError) in
      guard history.changes[entry.record] == nil else {
        return try snapshot.reader.verify(entry.frameRange)
      }
      try visit(entry.record) { memory throws(ArchiveError) in
        try snapshot.recordFrame(entry, in: &window, reusing: memory)
      }
    }
    for record in changedRecords() {
      guard case .record(let frame) = history.changes[record] else { continue }
      try visit(record) { _ throws(ArchiveError) in frame }
    }
  }
}

/// The arrays of a decoder that went, for the next one.
///
/// An array that somebody still has is left to him: emptying it makes a new one
/// then.
private struct RecordMemory {
  private var bytes: [UInt8] = []
  private var fields: [RecordField] = []

  mutating func takeBytes() -> [UInt8] {
    defer { bytes = [] }
    return bytes
  }

  mutating func takeFields() -> [RecordField] {
    defer { fields = [] }
    return fields
  }

  mutating func put(_ record: consuming Archive.Record) {
    guard case .success(let decoder) = record.content else { return }
    bytes = decoder.bytes
    fields = decoder.fields
  }
}
