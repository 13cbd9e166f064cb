/// The frames of encoded records, one after the other, in blocks.
struct RecordFrames: Sendable {
  /// No frame is in two blocks.
  private(set) var blocks = ByteBlocks()

  var byteCount: Int { blocks.byteCount }

  mutating func append(_ block: ByteBlock) {
    blocks.append(block)
  }

  /// The frame of an entry of these records.
  ///
  /// - Complexity: O(log *b* + *n*) for *b* blocks and *n* bytes of the frame.
  func bytes(of entry: IndexEntry) -> [UInt8] {
    blocks.bytes(entry.frameRange)
  }
}
