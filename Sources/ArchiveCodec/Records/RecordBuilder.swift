/// Collects the records of an archive before they are sealed.
///
/// Encoding runs where the values live; the result is a value that can be
/// sealed and written elsewhere.
///
///     let builder = RecordBuilder()
///     try builder.append(record: 1) { $0.encode("draft", forKey: "text") }
///     let records = try builder.finish()
public final class RecordBuilder {
  /// The limits that the records keep.
  public let limits: ArchiveLimits

  /// The classes whose objects records may hold; none by default.
  public var classes: ArchiveClasses {
    get { objects.classes }
    set { objects.classes = newValue }
  }

  private let writer: ValueWriter
  /// Shared by all encoders, of which one at a time is open.
  private let objects = WrittenObjects()
  /// The frames of the records so far, but for those that the writer has.
  private var frames = RecordFrames()
  /// The entries of these frames.
  private var index: [IndexEntry] = []
  private var isAppending = false
  /// The encoder of the last record; the next one gets it too, unless somebody
  /// kept it.
  private var encoder: KeyedEncoder
  /// The names that the archive has already.
  private let knownSymbolCount: Int
  /// Called when the records so far are worth to be sealed.
  var drainWhenLarge: (() throws(ArchiveError) -> Void)?

  /// The writer's bytes become a block when there are more than these, which
  /// are few enough to stay in the processor's cache.
  private static let blockByteCount = 1 << 16

  /// Creates a builder without records.
  ///
  /// - Parameters:
  ///   - limits: What a record may hold.
  ///   - keys: Keys that records will have, in the order in which they will be
  ///     encoded. Entries are stored in the order in which the archive first
  ///     saw their keys, so records with optional keys need no sorting then.
  public init(limits: ArchiveLimits = .standard, keys: [String] = []) {
    self.limits = limits
    writer = ValueWriter(limits: limits, symbols: SymbolCollector(limits: limits))
    encoder = KeyedEncoder(writer, objects)
    knownSymbolCount = 0
    for key in keys { _ = writer.symbols.intern(key) }
  }

  /// Creates a builder for records that use the names of an archive.
  init(limits: ArchiveLimits, continuing known: SymbolTable?) {
    self.limits = limits
    writer = ValueWriter(
      limits: limits,
      symbols: SymbolCollector(limits: limits, continuing: known ?? SymbolTable()))
    encoder = KeyedEncoder(writer, objects)
    knownSymbolCount = writer.symbols.count
  }

  /// Adds a record; if anything throws, nothing of it remains.
  ///
  /// - Parameters:
  ///   - record: The identifier, not 0 and used once in an archive.
  ///   - body: Encodes the values; the encoder is closed when it returns.
  /// - Throws: What `body` throws; ``ArchiveError`` with `malformed` if the
  ///   identifier is 0, `limitExceeded` if a key, value or the whole record is
  ///   too large, with the path to a key or value, or `encoderClosed` if the
  ///   encoder of another record was used or this was called from `body`.
  /// - Complexity: O(*n*) in the size of the record, if keys come in the same
  ///   order for records of one kind; O(*n* log *n*) otherwise.
  public func append(record: UInt64, _ body: (KeyedEncoder) throws -> Void) throws {
    guard !isAppending else {
      throw ArchiveError(.encoderClosed, subject: "a record inside a record")
    }
    guard record != 0 else {
      throw ArchiveError(.malformed, subject: "record 0: identifiers begin at 1")
    }
    isAppending = true
    defer { isAppending = false }
    let start = writer.openFrame(record)
    if !isKnownUniquelyReferenced(&encoder) { encoder = KeyedEncoder(writer, objects) }
    let encoder = encoder
    encoder.open()
    do {
      try body(encoder)
      encoder.close()
      if objects.count > 0 { try encoder.writeObjects() }
      try writer.closeFrame(from: start)
    } catch {
      encoder.abandon()
      writer.goBack(to: start)
      writer.failure = nil
      throw error
    }
    if writer.byteCount > Self.blockByteCount { try finishBlock() }
  }

  private func finishBlock() throws(ArchiveError) {
    if let drainWhenLarge { return try drainWhenLarge() }
    let block = writer.output.bytes
    index += try RecordFrames.entries(of: block, at: frames.byteCount)
    frames.append(block)
    writer.output.truncate(to: 0)
  }

  /// Takes the records so far out, unsorted and without the names.
  func drain() throws(ArchiveError) -> (frames: [UInt8], index: [IndexEntry]) {
    let block = writer.output.bytes
    writer.output.truncate(to: 0)
    return (block, try RecordFrames.entries(of: block, at: 0))
  }

  /// The payload of a symbols frame with the names from a number on.
  func symbols(from first: Int) -> [UInt8] {
    writer.symbols.table.encoded(from: first)
  }

  /// The records so far, ready to be sealed.
  ///
  /// - Throws: ``ArchiveError`` with `malformed` if an identifier was used
  ///   twice.
  /// - Complexity: O(*n* log *n*) in the number of records.
  public func finish() throws(ArchiveError) -> RecordBatch {
    let block = writer.output.bytes
    var frames = frames
    let last = try RecordFrames.entries(of: block, at: frames.byteCount)
    frames.append(block)
    let sorted = (index + last).sorted { $0.record < $1.record }
    for (entry, next) in zip(sorted, sorted.dropFirst()) where entry.record == next.record {
      throw ArchiveError(.malformed, subject: "record \(entry.record) is not unique")
    }
    return RecordBatch(
      frames: frames, index: sorted, symbols: symbols(from: knownSymbolCount),
      knownSymbolCount: knownSymbolCount, numbering: writer.symbols.table.numbering)
  }
}

@available(*, unavailable, message: "pass on what finish() returns")
extension RecordBuilder: Sendable {}
