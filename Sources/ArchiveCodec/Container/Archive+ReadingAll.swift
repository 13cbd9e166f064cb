extension Archive {
  /// One record of an archive that was read whole.
  public struct Record: Sendable {
    /// The identifier that the record was written with.
    public let identifier: UInt64

    /// The size of the record in bytes, without the bytes that sealing adds.
    public let byteCount: Int

    /// The values of the record, or why they cannot be used: `malformed`,
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
  /// The records of the snapshot come first, in the order of the file, then
  /// those that the journal wrote. A record that is authentic but not well
  /// formed does not stop the others.
  ///
  /// While you keep a record, the records beside it stay in memory, too.
  ///
  /// - Returns: All records.
  /// - Throws: ``ArchiveError`` as ``verifyAll()`` does, but not for an error of one
  ///   record only.
  /// - Complexity: As ``verifyAll()``.
  public func readAll() throws(ArchiveError) -> [Record] {
    var records: [Record] = []
    try visitAll { record throws(ArchiveError) in records.append(record) }
    return records
  }

  /// Checks every byte and gives one record after the other, in the order of
  /// ``readAll()``.
  ///
  /// This is the fastest way to read an archive: a record that the body does not keep
  /// leaves its memory to the next one.
  ///
  ///     try archive.forEachRecord { record in
  ///       notes[record.identifier] = try record.content.get().decode(forKey: "text")
  ///     }
  ///
  /// - Parameter body: Takes a record; an error of it ends the reading.
  /// - Throws: The errors of `body`; ``ArchiveError`` as ``readAll()`` does. A damaged
  ///   chunk throws after the records before it were given.
  /// - Complexity: As ``verifyAll()``, and one record at a time in memory.
  public func forEachRecord(_ body: (Record) throws -> Void) throws {
    if let failure = try give(to: body) { throw failure }
  }

  /// Gives one record after the other; returns the error that ends the reading of the archive.
  ///
  /// - Throws: The errors of `body`.
  func give(to body: (Record) throws -> Void) throws -> ArchiveError? {
    var failure: (any Error)?
    do {
      try visitAll { record throws(ArchiveError) in
        do {
          try body(record)
        } catch {
          // The visitor can only throw archive errors; the error of `body` is thrown below.
          failure = error
          throw ArchiveError(.inputOutput, subject: "reading")
        }
      }
      return nil
    } catch {
      if let failure { throw failure }
      return error
    }
  }

  func visitAll(
    _ visit: (Record) throws(ArchiveError) -> Void
  ) throws(ArchiveError) {
    try visitSnapshot { entry, checked throws(ArchiveError) in
      try visit(Record(entry, checked))
    }
    try visitJournal { entry, checked throws(ArchiveError) in try visit(Record(entry, checked)) }
  }

  /// Checks and gives the records that the journal wrote.
  func visitJournal<Failure: Error>(
    _ visit: (IndexEntry, Result<CheckedRecord, ArchiveError>) throws(Failure) -> Void
  ) throws(Failure) {
    var validator = RecordValidator(symbols: history.symbols, limits: limits)
    for identifier in changedRecords() {
      guard case .record(let frame) = history.changes[identifier] else { continue }
      let checked = Result { () throws(ArchiveError) in
        try validator.validate(frame.bytes.span, from: frame.mapOffset)
        return CheckedRecord(
          block: RecordBlock(frame.bytes, symbols: history.symbols, limits: limits), start: 0)
      }
      try visit(frame.entry(identifier), checked)
    }
  }

  /// Checks every chunk of the snapshot, and gives every record that is not superseded:
  /// its checked place, or why it cannot be used.
  func visitSnapshot(
    _ visit: (IndexEntry, Result<CheckedRecord, ArchiveError>) throws(ArchiveError) -> Void
  ) throws(ArchiveError) {
    let snapshot = history.snapshot
    var validator = RecordValidator(symbols: history.symbols, limits: limits)
    var shown: (range: Range<Int>, block: RecordBlock)?
    try snapshot.visitAll { entry, window throws(ArchiveError) in
      guard history.changes[entry.record] == nil else {
        return try snapshot.reader.verify(entry.frameRange)
      }
      do throws(ArchiveError) {
        try snapshot.checkPlace(of: entry)
      } catch {
        // No caller will read the record, so damage of its bytes is looked for here.
        try snapshot.reader.verify(entry.frameRange)
        return try visit(entry, .failure(error))
      }
      let start = try window.load(entry.frameRange)
      let block: RecordBlock
      if let shown, shown.range == window.range {
        block = shown.block
      } else {
        block = RecordBlock(window.bytes, symbols: history.symbols, limits: limits)
        shown = (window.range, block)
      }
      let checked: Result<CheckedRecord, ArchiveError>
      do throws(ArchiveError) {
        let stored = block.bytes
        let frame = stored.span.extracting(start..<start + entry.frameRange.count)
        let mapOffset = try snapshot.mapOffset(entry, frame)
        try validator.validate(frame, from: mapOffset)
        checked = .success(CheckedRecord(block: block, start: start))
      } catch {
        checked = .failure(error)
      }
      try visit(entry, checked)
    }
  }

  /// Checks every chunk and gives every record that is not superseded; its frame is
  /// read into memory that is no longer needed.
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

extension Archive.Record {
  init(_ entry: IndexEntry, _ checked: Result<CheckedRecord, ArchiveError>) {
    identifier = entry.record
    byteCount = entry.byteCount
    content = Result { () throws(ArchiveError) in
      let record = try checked.get()
      return try KeyedDecoder(
        record.start..<record.start + entry.frameRange.count, of: record.block,
        mapOffset: entry.mapOffset)
    }
  }
}
