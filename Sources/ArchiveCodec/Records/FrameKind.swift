/// The kinds of frames in a commit: kind byte, length, payload.
///
/// A reader skips unknown even kinds and refuses unknown odd ones.
enum FrameKind: UInt8, Sendable {
  case record = 1
  case symbols = 3
  case index = 5
  case footer = 7

  func header(payloadByteCount: Int) -> [UInt8] {
    let writer = ByteBuffer()
    writer.writeByte(rawValue)
    writer.writeVarint(UInt64(payloadByteCount))
    return writer.bytes
  }

  /// A kind and the longest length.
  static let longestHeader = 10

  /// The bytes of a frame with its header.
  static func byteCount(payloadByteCount: Int) -> Int {
    1 + PrefixVarint.byteCount(of: UInt64(payloadByteCount)) + payloadByteCount
  }
}
