/// The frames of encoded records, one after the other, in blocks.
struct RecordFrames: Sendable {
  /// The blocks; no frame is in two of them.
  private(set) var blocks = ByteBlocks()

  var byteCount: Int { blocks.byteCount }

  mutating func append(_ block: ByteBlock) {
    blocks.append(block)
  }

  /// The frame of an entry.
  ///
  /// - Complexity: O(log *b* + *n*) for *b* blocks and *n* bytes of the frame.
  func bytes(of entry: IndexEntry) -> [UInt8] {
    blocks.bytes(entry.frameRange)
  }
}
