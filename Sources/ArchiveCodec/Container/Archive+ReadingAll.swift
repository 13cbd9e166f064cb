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
    var walk = RecordWalk(self)
    while let record = try walk.next() { _ = try record.content.get() }
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
    var walk = RecordWalk(self)
    while let record = try walk.next() { records.append(record) }
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
    var walk = RecordWalk(self)
    while let record = try walk.next() { try body(record) }
  }

  /// Checks every chunk and gives the frame of every record that is not superseded.
  func visitFrames(
    _ visit: (UInt64, RecordFrame) throws(ArchiveError) -> Void
  ) throws(ArchiveError) {
    var walk = RecordWalk(self)
    while let entry = try walk.nextEntry() {
      try visit(entry.record, try history.snapshot.recordFrame(entry, in: &walk.frames.window))
    }
    for record in changedRecords() {
      if case .record(let frame) = history.changes[record] { try visit(record, frame) }
    }
  }
}

extension Archive.Record {
  init(_ entry: IndexEntry, _ content: Result<KeyedDecoder, ArchiveError>) {
    self.init(identifier: entry.record, byteCount: entry.byteCount, content: content)
  }
}

/// Checks one record after the other: those of the snapshot, except superseded ones, in the order of the file, then
/// those that the journal wrote.
struct RecordWalk: ~Copyable {
  private let history: History
  private let limits: ArchiveLimits
  fileprivate var frames: FrameWalk
  private var validator: RecordValidator
  /// The block of the window that was checked last.
  private var shown: (range: Range<Int>, block: RecordBlock)?
  private var changed: ArraySlice<UInt64>

  init(_ archive: Archive) {
    (history, limits) = (archive.history, archive.limits)
    frames = FrameWalk(history.snapshot)
    validator = RecordValidator(symbols: history.symbols, limits: limits)
    changed = archive.changedRecords()[...]
  }

  /// The next record.
  mutating func next() throws(ArchiveError) -> Archive.Record? {
    guard let entry = try nextEntry() else { return nextChange() }
    return Archive.Record(entry, try check(entry))
  }

  /// The next record of the snapshot that no change has superseded.
  fileprivate mutating func nextEntry() throws(ArchiveError) -> IndexEntry? {
    while let entry = try frames.next() {
      if history.changes[entry.record] == nil { return entry }
      try history.snapshot.commit.verify(entry.frameRange)
    }
    return nil
  }

  /// The next record that the journal wrote.
  mutating func nextChange() -> Archive.Record? {
    while let record = changed.popFirst() {
      guard case .record(let frame) = history.changes[record] else { continue }
      let content = Result { () throws(ArchiveError) in
        try validator.validate(frame.bytes.span, from: frame.mapOffset)
        return try KeyedDecoder(
          frame.bytes.indices,
          of: RecordBlock(frame.bytes, symbols: history.symbols, limits: limits),
          mapOffset: frame.mapOffset)
      }
      return Archive.Record(frame.entry(record), content)
    }
    return nil
  }

  private mutating func check(
    _ entry: IndexEntry
  ) throws(ArchiveError) -> Result<KeyedDecoder, ArchiveError> {
    let snapshot = history.snapshot
    do throws(ArchiveError) {
      try snapshot.checkPlace(of: entry)
    } catch {
      // No caller will read the record, so damage of its bytes is looked for here.
      try snapshot.commit.verify(entry.frameRange)
      return .failure(error)
    }
    let start = try frames.window.load(entry.frameRange)
    let block =
      if let shown, shown.range == frames.window.range {
        shown.block
      } else {
        RecordBlock(frames.window.bytes, symbols: history.symbols, limits: limits)
      }
    shown = (frames.window.range, block)
    return Result { () throws(ArchiveError) in
      let stored = block.bytes
      let frame = stored.span.extracting(start..<start + entry.frameRange.count)
      let mapOffset = try snapshot.mapOffset(entry, frame)
      try validator.validate(frame, from: mapOffset)
      return try KeyedDecoder(start..<start + frame.count, of: block, mapOffset: mapOffset)
    }
  }
}
