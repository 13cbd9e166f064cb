/// The frames of encoded records, one after the other, in blocks.
///
/// Blocks need not be moved when there are more of them. One array that grows
/// is copied again and again, and each time the system clears the pages of the
/// new place (benchmark: encode and seal keyed records).
struct RecordFrames: Sendable {
  /// No frame is in two blocks.
  private(set) var blocks: [[UInt8]] = []
  /// Where each block begins.
  private var starts: [Int] = []
  private(set) var byteCount = 0

  mutating func append(_ block: [UInt8]) {
    guard !block.isEmpty else { return }
    starts.append(byteCount)
    blocks.append(block)
    byteCount += block.count
  }

  /// The frame of an entry of these records.
  ///
  /// - Complexity: O(log *b* + *n*) for *b* blocks and *n* bytes of the frame.
  func bytes(of entry: IndexEntry) -> ArraySlice<UInt8> {
    var low = 0
    var high = blocks.count
    while high - low > 1 {
      let middle = (low + high) / 2
      if starts[middle] <= entry.offset { low = middle } else { high = middle }
    }
    let start = entry.offset - starts[low]
    return blocks[low][start..<start + entry.frameRange.count]
  }
}

extension RecordFrames {
  /// The entries of the frames in a block that begins at an offset.
  ///
  /// The identifiers and lengths are in the frames, so that nobody has to note
  /// them for each record while it is encoded.
  static func entries(of block: [UInt8], at offset: Int) throws(ArchiveError) -> [IndexEntry] {
    var entries: [IndexEntry] = []
    let bytes = block.span
    var cursor = ByteCursor(bytes, from: 0, to: block.count)
    while !cursor.isAtEnd {
      let start = cursor.offset
      guard try cursor.readByte(bytes) == FrameKind.record.rawValue else {
        throw cursor.malformed(at: start)
      }
      let byteCount = try cursor.readCount(bytes)
      let end = cursor.offset + byteCount
      let record = try cursor.readLowBytes(bytes, count: 8)
      entries.append(IndexEntry(record: record, offset: offset + start, byteCount: byteCount))
      cursor.offset = end
    }
    return entries
  }
}
