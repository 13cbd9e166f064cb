/// The kinds of frames in a commit: kind byte, length, payload.
///
/// A reader skips unknown even kinds and refuses unknown odd ones.
enum FrameKind: UInt8, Sendable {
  case record = 1
  case symbols = 3
  case index = 5
  case footer = 7

  /// A kind and the longest length.
  static let longestHeader = 10

  /// The bytes of a frame with its header.
  static func byteCount(payloadByteCount: Int) -> Int {
    1 + PrefixVarint.byteCount(of: UInt64(payloadByteCount)) + payloadByteCount
  }
}

/// Where a record lies in the commit's content: 16 bytes in the index.
struct IndexEntry: Equatable, Sendable {
  static let byteCount = 16
  static let largestOffset = 1 << 40 - 1

  let record: UInt64
  /// Where the record's frame begins, in the content of the commit; 40 bits.
  let offset: Int
  /// The bytes of the frame's payload; 24 bits, 0 for a removed record.
  let byteCount: Int

  var isRemoval: Bool { byteCount == 0 }

  var frameRange: Range<Int> {
    offset..<offset + FrameKind.byteCount(payloadByteCount: byteCount)
  }
}

extension IndexEntry {
  /// An entry of an index, whose size was checked.
  init(packed bytes: Span<UInt8>, at start: Int) {
    record = bytes.littleEndian(start..<start + 8)
    let place = bytes.littleEndian(start + 8..<start + 16)
    offset = Int(place & UInt64(Self.largestOffset))
    byteCount = Int(place >> 40)
  }

  /// The eight bytes after the record in the index.
  var place: UInt64 { UInt64(offset) | UInt64(byteCount) << 40 }

  func moved(by distance: Int) -> IndexEntry {
    IndexEntry(record: record, offset: offset + distance, byteCount: byteCount)
  }
}
