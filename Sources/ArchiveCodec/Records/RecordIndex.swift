/// The entries of records, as they will lie in the index of a commit.
struct RecordIndex: Sendable {
  /// The entries of 16 bytes each; no entry is in two blocks.
  fileprivate(set) var blocks = ByteBlocks()
  /// The payload bytes of all records.
  fileprivate(set) var recordByteCount = 0
  /// Whether each entry has a greater record than the one before it.
  fileprivate var isAscending = true
  fileprivate var lastRecord: UInt64 = 0

  var count: Int { blocks.byteCount / IndexEntry.byteCount }

  /// All entries, in order.
  ///
  /// - Complexity: O(*n*) in the number of entries.
  var entries: [IndexEntry] {
    var entries: [IndexEntry] = []
    entries.reserveCapacity(count)
    forEach { entries.append($0) }
    return entries
  }

  func forEach<Failure: Error>(
    _ body: (IndexEntry) throws(Failure) -> Void
  ) throws(Failure) {
    try blocks.forEachPiece(of: 0..<blocks.byteCount) { (bytes) throws(Failure) in
      for start in stride(from: 0, to: bytes.count, by: IndexEntry.byteCount) {
        try body(IndexEntry(packed: bytes, at: start))
      }
    }
  }
}

extension RecordIndex {
  fileprivate func sorted() throws(ArchiveError) -> RecordIndex {
    var last: UInt64 = 0
    let buffer = ByteBuffer(capacity: max(blocks.byteCount, 1))
    for entry in entries.sorted(by: { $0.record < $1.record }) {
      guard entry.record > last else {
        throw ArchiveError(.malformed, subject: "record \(entry.record) is not unique")
      }
      last = entry.record
      buffer.write(entry)
    }
    var sorted = RecordIndex(recordByteCount: recordByteCount, lastRecord: last)
    sorted.blocks.append(buffer.take(leaving: 1))
    return sorted
  }
}

extension ByteBuffer {
  @inline(__always)
  fileprivate func write(_ entry: IndexEntry) {
    writeInteger(entry.record)
    writeInteger(entry.place)
  }
}

/// Notes the entries of records while they are written.
///
/// The entries lie in blocks, because one growing array would hold up to three times as
/// much at the moment it grows.
final class RecordIndexWriter {
  /// The size of the first block, which grows from a small one, and the size of all
  /// others, in bytes; multiples of the size of an entry.
  private static let firstBlockByteCount = 1 << 15
  private static let blockByteCount = BlockMemory.keptByteCount

  private var index = RecordIndex()
  /// The entries after those of the index.
  private let buffer = ByteBuffer()
  /// The size at which the present block is full, in bytes.
  private var fullByteCount = firstBlockByteCount

  private var count: Int { index.count + buffer.count / IndexEntry.byteCount }

  @inline(__always)
  func append(_ entry: IndexEntry) {
    buffer.write(entry)
    index.isAscending = index.isAscending && entry.record > index.lastRecord
    index.lastRecord = entry.record
    index.recordByteCount += entry.byteCount
    if buffer.count >= fullByteCount { finishBlock(leaving: Self.blockByteCount) }
  }

  /// Appends entries of records that lie behind the earlier records.
  func append(_ index: RecordIndex, at offset: Int) {
    guard count == 0, offset == 0 else {
      return index.forEach { append($0.moved(by: offset)) }
    }
    // The entries need no other offset, so their blocks can be used as they are.
    replace(by: index)
  }

  /// Replaces all entries by others.
  func replace(by index: RecordIndex) {
    buffer.truncate(to: 0)
    self.index = index
  }

  private func finishBlock(leaving byteCount: Int) {
    index.blocks.append(buffer.take(leaving: byteCount))
    fullByteCount = max(byteCount, Self.firstBlockByteCount)
  }

  /// The entries so far, by record.
  ///
  /// - Throws: `malformed` if an identifier is 0 or was used twice.
  /// - Complexity: O(*n* log *n*), or O(1) if the entries came in order.
  func finish() throws(ArchiveError) -> RecordIndex {
    if buffer.count > 0 { finishBlock(leaving: 64) }
    return index.isAscending ? index : try index.sorted()
  }
}
