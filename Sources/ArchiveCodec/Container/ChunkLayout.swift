/// The positions of the chunks of a commit; every chunk but the last is full.
///
/// So the position of a chunk is arithmetic, and reading one record touches only the
/// chunks that hold it.
struct ChunkLayout: Equatable, Sendable {
  static let frameHeaderByteCount = 4
  static let lastFlag: UInt32 = 1 << 31
  static let overhead = frameHeaderByteCount + ChunkCipher.tagByteCount

  /// The plaintext bytes of a full chunk.
  let chunkByteCount: Int
  let contentByteCount: Int

  var chunkCount: Int { (contentByteCount + chunkByteCount - 1) / chunkByteCount }

  func isLast(_ number: Int) -> Bool { number == chunkCount - 1 }

  /// The bytes of a chunk's frame, counted from the end of the commit header.
  func frameRange(_ number: Int) -> Range<Int> {
    let start = number * (chunkByteCount + Self.overhead)
    let content = min(chunkByteCount, contentByteCount - number * chunkByteCount)
    return start..<start + content + Self.overhead
  }

  /// The four bytes in front of a chunk.
  static func frameHeader(sealedByteCount: Int, isLast: Bool) -> [UInt8] {
    let word = UInt32(sealedByteCount) | (isLast ? lastFlag : 0)
    return unsafe withUnsafeBytes(of: word.littleEndian) { unsafe Array($0) }
  }
}

extension ChunkLayout {
  /// Nil if no chunks can take up exactly this many bytes.
  init?(chunkByteCount: Int, framesByteCount: UInt64) {
    guard framesByteCount <= 1 << 48 else { return nil }
    let frame = chunkByteCount + Self.overhead
    let last = Int(framesByteCount) % frame
    guard framesByteCount > 0, last == 0 || last > Self.overhead else { return nil }
    let count = (Int(framesByteCount) + frame - 1) / frame
    self.chunkByteCount = chunkByteCount
    contentByteCount = Int(framesByteCount) - count * Self.overhead
  }
}
