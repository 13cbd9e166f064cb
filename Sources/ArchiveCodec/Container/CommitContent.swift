/// The content of one commit: its footer, its index and its records.
struct CommitContent: Sendable {
  let commit: SealedCommit
  let footer: Footer
  let footerStart: Int
  private let limits: ArchiveLimits

  /// Reads the footer, and nothing else of the content.
  init(_ commit: SealedCommit, limits: ArchiveLimits) throws(ArchiveError) {
    self.commit = commit
    self.limits = limits
    let byteCount = Int(commit.trailer.footerByteCount)
    guard byteCount <= limits.footerByteCount else {
      throw ArchiveError(.limitExceeded, subject: "bytes of the footer")
    }
    footerStart = commit.byteCount - byteCount
    guard footerStart >= 0 else { throw ArchiveError(.malformed, subject: "footer") }
    let bytes = try commit.read(footerStart..<commit.byteCount)
    var frame = ByteCursor(bytes.span, over: bytes.indices)
    guard try frame.readByte(bytes.span) == FrameKind.footer.rawValue,
      try frame.readCount(bytes.span) == frame.end - frame.offset
    else { throw ArchiveError(.malformed, subject: "footer") }
    footer = try Footer(from: &frame, bytes.span, contentByteCount: footerStart)
  }

  /// The content of a commit that this process has just written, so that nothing of it is read.
  init(_ commit: SealedCommit, writtenWith footer: Footer, limits: ArchiveLimits) {
    self.commit = commit
    self.footer = footer
    footerStart = commit.byteCount - Int(commit.trailer.footerByteCount)
    self.limits = limits
  }

  /// Adds the names of this commit to those of the commits before it.
  func addSymbols(to table: inout SymbolTable) throws(ArchiveError) {
    guard footer.symbols.count <= limits.symbolByteCount * 2 else {
      throw ArchiveError(.limitExceeded, subject: "symbols")
    }
    try table.append(decoding: try commit.read(footer.symbols), limits: limits)
  }

  /// All entries, by record.
  func index() throws(ArchiveError) -> [IndexEntry] {
    let stored = try commit.read(footer.index)
    // Nothing comes before a snapshot.
    let mayRemove = commit.header.flags == CommitHeader.journal
    var entries: [IndexEntry] = []
    entries.reserveCapacity(footer.recordCount)
    var last: UInt64 = 0
    for start in stride(from: 0, to: stored.count, by: IndexEntry.byteCount) {
      let entry = IndexEntry(packed: stored.span, at: start)
      guard entry.record > last, mayRemove || !entry.isRemoval else {
        throw ArchiveError(
          .malformed, offset: start + IndexEntry.byteCount, subject: "index")
      }
      last = entry.record
      entries.append(entry)
    }
    return entries
  }

  /// Searches the index, reading the chunks that the search passes.
  func entry(for record: UInt64) throws(ArchiveError) -> IndexEntry? {
    var low = 0
    var high = footer.recordCount
    while low < high {
      let middle = (low + high) / 2
      let start = footer.index.lowerBound + middle * IndexEntry.byteCount
      let bytes = try commit.read(start..<start + IndexEntry.byteCount)
      let entry = IndexEntry(packed: bytes.span, at: 0)
      if entry.record == record { return entry }
      if entry.record < record { low = middle + 1 } else { high = middle }
    }
    return nil
  }

  /// The frame of a record, with its header checked.
  func recordFrame(_ entry: IndexEntry) throws(ArchiveError) -> RecordFrame {
    var window = ContentWindow(commit)
    return try recordFrame(entry, in: &window)
  }

  /// The frame of a record, copied.
  func recordFrame(
    _ entry: IndexEntry, in window: inout ContentWindow
  ) throws(ArchiveError) -> RecordFrame {
    try checkPlace(of: entry)
    let (start, count) = (try window.load(entry.frameRange), entry.frameRange.count)
    // A range over several chunks was put together, so the window has exactly the range.
    let bytes =
      window.bytes.count == count
      ? window.bytes : window.bytes.span.array(start..<start + count)
    return RecordFrame(bytes: bytes, mapOffset: try mapOffset(entry, bytes.span))
  }

  /// Whether a record may lie where its entry says.
  func checkPlace(of entry: IndexEntry) throws(ArchiveError) {
    guard entry.byteCount <= limits.recordByteCount else {
      throw ArchiveError(.limitExceeded, subject: "bytes of a record")
    }
    guard entry.frameRange.upperBound <= footer.symbols.lowerBound else {
      throw ArchiveError(.malformed, subject: "record \(entry.record)")
    }
  }

  /// Where the map begins in the frame of a record, whose header is checked.
  func mapOffset(_ entry: IndexEntry, _ frame: Span<UInt8>) throws(ArchiveError) -> Int {
    var header = ByteCursor(frame, from: 0, to: frame.count)
    guard try header.readByte(frame) == FrameKind.record.rawValue,
      try header.readCount(frame) == entry.byteCount,
      try header.readLowBytes(frame, count: MemoryLayout<UInt64>.size) == entry.record
    else { throw ArchiveError(.malformed, subject: "record \(entry.record)") }
    return header.offset
  }
}

/// A record as it lies in a commit: kind, length, identifier, map.
struct RecordFrame: Sendable {
  let bytes: [UInt8]
  let mapOffset: Int

  /// The entry for this frame alone.
  func entry(_ record: UInt64) -> IndexEntry {
    IndexEntry(
      record: record, offset: 0,
      byteCount: bytes.count - mapOffset + MemoryLayout<UInt64>.size)
  }

  func decoder(
    symbols: SymbolTable, limits: ArchiveLimits
  ) throws(ArchiveError) -> KeyedDecoder {
    try KeyedDecoder(validating: bytes, from: mapOffset, symbols: symbols, limits: limits)
  }
}
