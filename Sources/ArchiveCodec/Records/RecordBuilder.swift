/// Collects the records of an archive before they are sealed.
///
/// Records are encoded where the values live. The finished batch is a value that can be
/// sealed and written elsewhere.
///
///     let builder = RecordBuilder()
///     try builder.append(record: 1) { $0.encode("draft", forKey: "text") }
///     let records = try builder.finish()
public final class RecordBuilder {
  /// The limits of the records.
  public let limits: ArchiveLimits

  private let writer: ValueWriter
  /// The frames of the finished blocks; the writer has the latest frames.
  private var frames = ByteBlocks()
  /// The offset of the writer's first frame among the frames of all records.
  private var frameStart = 0
  /// The entries of all records, also of records that were drained.
  let index = RecordIndexWriter()
  /// The encoder of the last record; the next record gets the same one, unless the app
  /// kept it.
  private var encoder: KeyedEncoder
  private var isAppending = false
  /// The open record, and the mark before it.
  private var record: UInt64 = 0
  private var start: ValueWriter.Mark
  /// The number of names that the archive has already.
  private let knownSymbolCount: Int
  /// Called with the frames so far when there are enough records to be sealed.
  var drainWhenLarge: ((ByteBlocks) throws(ArchiveError) -> Void)?

  /// The writer's bytes become a block when they are more than this.
  private var fullByteCount = firstFullByteCount

  /// The first block grows from few bytes, enough for most changes.
  private static let firstCapacity = 1 << 9
  private static let firstFullByteCount = 1 << 14
  /// Later blocks also have room for the last record, if that is as small as most.
  private static let blockFullByteCount = BlockMemory.keptByteCount - 1 << 13

  /// Creates a builder without records.
  ///
  /// - Parameters:
  ///   - limits: The limits of a record.
  ///   - keys: Keys that records will have, in the order in which they will be encoded.
  ///     Entries are stored in the order in which the archive first met their keys, so
  ///     with these keys the entries of a record that leaves some out need no sorting.
  public convenience init(limits: ArchiveLimits = .standard, keys: [String] = []) {
    self.init(limits: limits, continuing: nil)
    for key in keys { _ = writer.symbols.search(key) }
  }

  /// Creates a builder for records that use the names of an archive.
  init(limits: ArchiveLimits, continuing known: SymbolTable?) {
    self.limits = limits
    writer = ValueWriter(
      limits: limits,
      symbols: SymbolCollector(limits: limits, continuing: known ?? SymbolTable()),
      capacity: Self.firstCapacity)
    encoder = KeyedEncoder(writer)
    start = writer.mark
    knownSymbolCount = writer.symbols.count
  }

  /// Adds a record; after an error nothing of the record remains.
  ///
  /// - Parameters:
  ///   - record: The identifier, not 0 and used once in an archive.
  ///   - body: Encodes the values; the encoder is closed when the body returns.
  /// - Throws: The errors of `body`; ``ArchiveError`` with `malformed` if the
  ///   identifier is 0, `limitExceeded` if a key, a value or the whole record is too
  ///   large, with the path to the key or value; `encoderClosed` if `body` used the
  ///   encoder of another record or called this method.
  /// - Complexity: O(*n*) in the size of the record, if keys come in the same
  ///   order for records of one kind; O(*n* log *n*) otherwise.
  public func append(record: UInt64, _ body: (KeyedEncoder) throws -> Void) throws {
    let encoder = try begin(record: record)
    do {
      try body(encoder)
    } catch {
      abandon()
      throw error
    }
    try note(byteCount: try close(encoder))
  }

  private func takeBlock(leaving byteCount: Int) {
    guard writer.output.count > 0 else { return }
    frameStart += writer.output.count
    frames.append(writer.output.take(leaving: byteCount))
    fullByteCount = Self.blockFullByteCount
  }

  /// Removes and returns the frames so far.
  func drain() -> ByteBlocks {
    takeBlock(leaving: Self.firstCapacity)
    let blocks = frames
    frames = ByteBlocks()
    return blocks
  }

  /// The payload of a symbols frame with the names from a number on.
  func symbols(from first: Int) -> [UInt8] { writer.symbols.table.encoded(from: first) }

  /// Finishes the batch of all records so far.
  ///
  /// - Throws: ``ArchiveError`` with `malformed` if an identifier was used
  ///   twice, and `encoderClosed` in the body of a record.
  /// - Complexity: O(*n* log *n*) in the number of records.
  public func finish() throws(ArchiveError) -> RecordBatch {
    guard !isAppending else {
      throw ArchiveError(.encoderClosed, subject: "the end of a batch inside a record")
    }
    takeBlock(leaving: Self.firstCapacity)
    return RecordBatch(
      frames: frames, index: try index.finish(), symbols: symbols(from: knownSymbolCount),
      knownSymbolCount: knownSymbolCount, names: writer.symbols.table)
  }
}

extension RecordBuilder {
  /// Finishes the batch without some of the records.
  ///
  /// - Throws: As ``finish()`` does.
  /// - Complexity: O(*n*) in the size of the records, if there are any to leave out.
  package func finish(without dropped: Set<UInt64>) throws(ArchiveError) -> RecordBatch {
    let batch = try finish()
    guard !dropped.isEmpty else { return batch }
    let left = batch.index.entries.filter { !dropped.contains($0.record) }
    guard left.count < batch.count else { return batch }
    (frames, frameStart) = (ByteBlocks(), 0)
    let entries = RecordIndexWriter()
    for entry in left {
      entries.append(entry.moved(by: frameStart + writer.output.count - entry.offset))
      batch.frames.forEachPiece(of: entry.frameRange) { writer.output.write($0) }
      if writer.output.count > fullByteCount { takeBlock(leaving: BlockMemory.keptByteCount) }
    }
    index.replace(by: try entries.finish())
    return try finish()
  }
}

/// A closure costs a context for each record, so code that writes many records begins
/// and ends them (benchmark: save a tree of nodes).
extension RecordBuilder {
  /// Begins a record, which has to be ended or abandoned.
  ///
  /// - Parameter record: The identifier, not 0 and used once in an archive.
  /// - Returns: An encoder for the record's values, which is closed with the record.
  /// - Throws: ``ArchiveError`` with `malformed` if the identifier is 0, or
  ///   `encoderClosed` if another record is open.
  package func begin(record: UInt64) throws(ArchiveError) -> KeyedEncoder {
    // An encoder that the app kept must not write into later records.
    if !isAppending, !isKnownUniquelyReferenced(&encoder) { encoder = makeEncoder() }
    try begin(record: record, with: encoder)
    return encoder
  }

  /// Begins a record, which has to be ended or abandoned.
  ///
  /// - Parameters:
  ///   - record: The identifier, not 0 and used once in an archive.
  ///   - given: An encoder that this builder has made.
  /// - Throws: As the other form does.
  package func begin(record: UInt64, with given: KeyedEncoder) throws(ArchiveError) {
    precondition(given.writer === writer, "the encoder of another builder")
    guard !isAppending else {
      throw ArchiveError(.encoderClosed, subject: "a record inside a record")
    }
    guard record != 0 else {
      throw ArchiveError(.malformed, subject: "record 0: identifiers begin at 1")
    }
    if encoder !== given { encoder = given }
    isAppending = true
    self.record = record
    start = writer.openFrame(record)
    given.open()
  }

  /// An encoder for a caller who uses it for many records, and who must not let anybody
  /// keep it longer than for one.
  package func makeEncoder() -> KeyedEncoder {
    KeyedEncoder(writer)
  }

  /// Ends the open record; after an error nothing of the record remains.
  ///
  /// - Throws: ``ArchiveError`` as ``append(record:_:)`` does.
  package func end() throws {
    try note(byteCount: try close(encoder))
  }

  /// Ends the open record, and removes it if it is equal to the stored one.
  ///
  /// After an error nothing of the record remains, either.
  ///
  /// - Parameter known: The fingerprint of the stored record; nil writes this one
  ///   anyway.
  /// - Returns: The fingerprint of the record.
  /// - Throws: As ``end()``.
  package func end(ifOtherThan known: RecordFingerprint?) throws -> RecordFingerprint {
    let byteCount = try close(encoder)
    let fingerprint = writer.output.withBytes { bytes in
      RecordFingerprint(bytes.extracting(bytes.count - byteCount..<bytes.count))
    }
    if fingerprint == known { abandon() } else { try note(byteCount: byteCount) }
    return fingerprint
  }

  /// Writes the frame of the record; returns the size of the payload in bytes.
  private func close(_ encoder: KeyedEncoder) throws -> Int {
    precondition(isAppending, "no record is open")
    do {
      encoder.close()
      return try writer.closeFrame(from: start)
    } catch {
      abandon()
      throw error
    }
  }

  private func note(byteCount: Int) throws(ArchiveError) {
    index.append(
      IndexEntry(record: record, offset: frameStart + start.byteCount, byteCount: byteCount))
    isAppending = false
    guard writer.output.count > fullByteCount else { return }
    takeBlock(leaving: BlockMemory.keptByteCount)
    if let drainWhenLarge { try drainWhenLarge(drain()) }
  }

  /// Abandons the open record: nothing of it remains.
  package func abandon() {
    precondition(isAppending, "no record is open")
    encoder.abandon()
    writer.goBack(to: start)
    if writer.hasFailed { writer.failure = nil }
    isAppending = false
  }
}

@available(*, unavailable, message: "pass on what finish() returns")
extension RecordBuilder: Sendable {}
