/// The last frame of a commit: what is in it, and where.
struct Footer: Hashable, Sendable {
  /// A number of the application's own, for its migrations.
  let schema: UInt32
  /// The entries of this commit's index.
  let recordCount: Int
  /// The payload bytes of this commit's records.
  let recordByteCount: Int
  /// The payloads of the symbols frame and of the index frame.
  let symbols: Range<Int>
  let index: Range<Int>

  /// Extension fields: type u16 (its high bit: critical), length u32, bytes.
  private static let criticalBit: UInt16 = 1 << 15

  var encoded: [UInt8] {
    let writer = ByteBuffer()
    for number in [Int(schema), recordCount, recordByteCount] {
      writer.writeVarint(UInt64(number))
    }
    for range in [symbols, index] {
      writer.writeVarint(UInt64(range.lowerBound))
      writer.writeVarint(UInt64(range.count))
    }
    return writer.bytes
  }
}

extension Footer {
  /// Reads a footer; both ranges lie in the content before it.
  init(decoding payload: [UInt8], contentByteCount: Int) throws(ArchiveError) {
    var reader = ByteReader(payload)
    guard let schema = UInt32(exactly: try reader.readVarint()) else {
      throw reader.malformed(at: 0)
    }
    self.schema = schema
    recordCount = try reader.readSize(upTo: contentByteCount)
    recordByteCount = try reader.readSize(upTo: contentByteCount)
    symbols = try reader.readRange(in: contentByteCount)
    index = try reader.readRange(in: contentByteCount)
    guard index.count == recordCount * IndexEntry.byteCount else {
      throw reader.malformed(at: reader.offset)
    }
    var previousType: UInt16?
    while !reader.isAtEnd {
      let start = reader.offset
      let type: UInt16 = try reader.readInteger()
      if let previousType, type <= previousType { throw reader.malformed(at: start) }
      previousType = type
      guard type & Self.criticalBit == 0 else {
        throw ArchiveError(.unsupportedFeature, subject: "footer field \(type)")
      }
      let length: UInt32 = try reader.readInteger()
      _ = try reader.readRange(count: Int(length))
    }
  }
}

extension ByteReader {
  fileprivate mutating func readSize(upTo limit: Int) throws(ArchiveError) -> Int {
    let start = offset
    let value = try readVarint()
    guard value <= UInt64(limit) else { throw malformed(at: start) }
    return Int(value)
  }

  fileprivate mutating func readRange(in limit: Int) throws(ArchiveError) -> Range<Int> {
    let lower = try readSize(upTo: limit)
    let count = try readSize(upTo: limit - lower)
    return lower..<lower + count
  }
}
