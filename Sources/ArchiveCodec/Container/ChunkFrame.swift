/// A chunk that is being filled, in the memory in which it will be sealed.
///
/// The room for what comes before and after the sealed bytes is part of it, so
/// that they are copied once on their way in and once on their way out
/// (benchmark: encode and seal keyed records).
struct ChunkFrame {
  /// The frame, once that it is sealed.
  private(set) var bytes: [UInt8] = []

  init(chunkByteCount: Int) {
    bytes.reserveCapacity(chunkByteCount + ChunkLayout.overhead)
    clear()
  }

  /// The bytes of content so far.
  var count: Int { bytes.count - ChunkLayout.frameHeaderByteCount }

  mutating func append(_ content: ArraySlice<UInt8>) {
    bytes += content
  }

  mutating func seal(with cipher: borrowing ChunkCipher, number: UInt64, isLast: Bool) {
    let start = ChunkLayout.frameHeaderByteCount
    cipher.seal(&bytes, from: start, number: number, isLast: isLast)
    bytes.replaceSubrange(
      ..<start,
      with: ChunkLayout.frameHeader(sealedByteCount: bytes.count - start, isLast: isLast))
  }

  /// Makes room for the next chunk.
  mutating func clear() {
    bytes.removeAll(keepingCapacity: true)
    bytes.append(contentsOf: repeatElement(0, count: ChunkLayout.frameHeaderByteCount))
  }
}
