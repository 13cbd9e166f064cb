/// An open archive: one file of encrypted, authenticated records.
///
/// Opening checks the header, the key, the trailer and the footer. A record's
/// bytes are checked when it is read; ``verifyAll()`` checks every byte. An
/// open archive is a snapshot: it stays readable while a new one replaces it.
public final class Archive: Sendable {
  /// Which state of the archive this is; see ``ArchiveVersion``.
  public let version: ArchiveVersion

  /// The number that the application gave its schema.
  public let schema: UInt32

  /// The number of records.
  public let recordCount: Int

  /// Whether this library may replace it without losing something that only a
  /// newer version knows.
  public let isWritable: Bool

  let content: ContentReader
  let footer: Footer
  let footerStart: Int
  private let symbols: SymbolTable
  private let limits: ArchiveLimits

  private init(
    version: ArchiveVersion, content: ContentReader, footer: Footer, footerStart: Int,
    symbols: SymbolTable,
    limits: ArchiveLimits, isWritable: Bool
  ) {
    self.version = version
    self.content = content
    self.footer = footer
    self.footerStart = footerStart
    self.symbols = symbols
    self.limits = limits
    self.isWritable = isWritable
    schema = footer.schema
    recordCount = footer.recordCount
  }

  /// Opens what is stored, nil if nothing is.
  ///
  /// - Parameters:
  ///   - storage: Where the archive is.
  ///   - key: One of the keys that it was written with.
  ///   - context: The context that it was written with.
  ///   - limits: What a record may hold.
  /// - Returns: The archive, or nil if the storage is empty.
  /// - Throws: ``ArchiveError``: `notAnArchive`, `unsupportedVersion`,
  ///   `unsupportedFeature`, `truncated`, `damaged`, `wrongKey`,
  ///   `wrongContext`, `malformed`, `limitExceeded`, and what the storage
  ///   throws. An empty storage is not an error.
  /// - Complexity: O(*s*) in the size of the symbol table, not in the records.
  public static func open(
    _ storage: any ArchiveStorage, key: ArchiveKey, context: ArchiveContext,
    limits: ArchiveLimits = .standard
  ) throws(ArchiveError) -> Archive? {
    do {
      guard let file = try storage.open() else { return nil }
      return try open(file, key: key, context: context, limits: limits)
    } catch {
      throw error.located(at: storage.location)
    }
  }

  private static func open(
    _ file: any ArchiveFile, key: ArchiveKey, context: ArchiveContext, limits: ArchiveLimits
  ) throws(ArchiveError) -> Archive {
    let stored = try StoredHeader(reading: file)
    let commit = try SealedCommit(
      file: file, offset: stored.header.byteCount,
      keys: try stored.unlock(key, context: context), header: stored.header)
    let content = ContentReader(commit)
    let footer = try readFooter(content, byteCount: Int(commit.trailer.footerByteCount), limits)
    guard footer.symbols.count <= limits.symbolByteCount * 2 else {
      throw ArchiveError(.limitExceeded, subject: "symbols")
    }
    return Archive(
      version: ArchiveVersion(generation: commit.header.generation, mac: commit.trailer.mac),
      content: content, footer: footer,
      footerStart: content.byteCount - Int(commit.trailer.footerByteCount),
      symbols: try SymbolTable(decoding: try content.read(footer.symbols), limits: limits),
      limits: limits, isWritable: stored.isWritable)
  }

  private static func readFooter(
    _ content: ContentReader, byteCount: Int, _ limits: ArchiveLimits
  ) throws(ArchiveError) -> Footer {
    guard byteCount <= limits.footerByteCount else {
      throw ArchiveError(.limitExceeded, subject: "bytes of the footer")
    }
    let start = content.byteCount - byteCount
    guard start >= 0 else { throw ArchiveError(.malformed, subject: "footer") }
    var reader = ByteReader(try content.read(start..<content.byteCount))
    guard try reader.readByte() == FrameKind.footer.rawValue,
      try reader.readCount() == reader.end - reader.offset
    else { throw ArchiveError(.malformed, subject: "footer") }
    return try Footer(
      decoding: try reader.readBytes(count: reader.end - reader.offset), contentByteCount: start)
  }

  /// Opens one record, nil if there is none with this identifier.
  ///
  /// - Parameter record: The identifier that the record was written with.
  /// - Returns: A decoder for its values, or nil.
  /// - Throws: ``ArchiveError`` with `damaged` if a chunk that holds it was
  ///   changed, `malformed` or `limitExceeded` if it breaks a rule.
  /// - Complexity: O(log *n*) chunks for *n* records, and those of the record.
  public func record(_ record: UInt64) throws(ArchiveError) -> KeyedDecoder? {
    var low = 0
    var high = recordCount
    while low < high {
      let middle = (low + high) / 2
      let entry = try indexEntry(middle)
      if entry.record == record { return try decoder(for: entry) }
      if entry.record < record { low = middle + 1 } else { high = middle }
    }
    return nil
  }

  /// The identifiers of all records, ascending.
  ///
  /// - Throws: ``ArchiveError`` with `damaged` or `malformed`.
  /// - Complexity: O(*n*) in the number of records.
  public func recordIdentifiers() throws(ArchiveError) -> [UInt64] {
    try index().map(\.record)
  }

  func index() throws(ArchiveError) -> [IndexEntry] {
    var reader = ByteReader(try content.read(footer.index))
    var entries: [IndexEntry] = []
    entries.reserveCapacity(recordCount)
    while !reader.isAtEnd {
      let entry = try IndexEntry(from: &reader)
      guard entry.record > (entries.last?.record ?? 0) else {
        throw ArchiveError(.malformed, offset: reader.offset, subject: "index")
      }
      entries.append(entry)
    }
    return entries
  }

  private func indexEntry(_ place: Int) throws(ArchiveError) -> IndexEntry {
    let start = footer.index.lowerBound + place * IndexEntry.byteCount
    var reader = ByteReader(try content.read(start..<start + IndexEntry.byteCount))
    return try IndexEntry(from: &reader)
  }

  func decoder(for entry: IndexEntry) throws(ArchiveError) -> KeyedDecoder {
    guard entry.byteCount <= limits.recordByteCount else {
      throw ArchiveError(.limitExceeded, subject: "bytes of a record")
    }
    guard entry.frameRange.upperBound <= footer.symbols.lowerBound else {
      throw ArchiveError(.malformed, subject: "record \(entry.record)")
    }
    let frame = try content.read(entry.frameRange)
    var reader = ByteReader(frame)
    guard try reader.readByte() == FrameKind.record.rawValue,
      try reader.readCount() == entry.byteCount,
      try reader.readInteger(UInt64.self) == entry.record
    else { throw ArchiveError(.malformed, subject: "record \(entry.record)") }
    return try KeyedDecoder(
      validating: frame, from: reader.offset, symbols: symbols, limits: limits)
  }
}
