/// The 32 bytes in front of a commit's chunks.
struct CommitHeader: Equatable, Sendable {
  static let byteCount = 32
  static let magic = Array("RKAc".utf8)
  /// The commit holds all records, not only the changed ones.
  static let snapshot: UInt32 = 1
  /// The commit holds the changed records, which replace those of earlier commits.
  static let journal: UInt32 = 2

  let flags: UInt32
  let generation: UInt64
  let salt: [UInt8]

  func write(to writer: ByteBuffer) {
    writer.write(Self.magic)
    writer.writeInteger(flags)
    writer.writeInteger(generation)
    writer.write(salt)
  }
}

extension CommitHeader {
  /// Nil if the bytes are not the beginning of a commit.
  init?(decoding bytes: [UInt8]) {
    guard bytes.count == Self.byteCount, bytes.starts(with: Self.magic) else { return nil }
    flags = UInt32(bytes.span.littleEndian(4..<8))
    generation = bytes.span.littleEndian(8..<16)
    salt = Array(bytes[16...])
  }
}

/// The 64 bytes after a commit's chunks; an intact file ends with one.
struct Trailer: Equatable, Sendable {
  static let byteCount = 64
  static let magic = Array("RKAt".utf8)

  /// The bytes of the footer's frame, with its header.
  let footerByteCount: UInt32
  let generation: UInt64
  /// The bytes of the whole commit, from its header to the end of the trailer.
  let commitByteCount: UInt64
  var mac: [UInt8]

  /// The version of the archive after the commit.
  var version: ArchiveVersion { ArchiveVersion(generation: generation, mac: mac) }

  func writeWithoutMAC(to writer: ByteBuffer) {
    writer.write(Self.magic)
    writer.writeInteger(footerByteCount)
    writer.writeInteger(generation)
    writer.writeInteger(commitByteCount)
    writer.write([UInt8](zeros: 8))
  }

  func write(to writer: ByteBuffer) {
    writeWithoutMAC(to: writer)
    writer.write(mac)
  }
}

extension Trailer {
  /// Nil if the bytes are not a trailer.
  init?(decoding bytes: [UInt8]) {
    guard bytes.count == Self.byteCount, bytes.starts(with: Self.magic),
      bytes.span.littleEndian(24..<32) == 0
    else { return nil }
    footerByteCount = UInt32(bytes.span.littleEndian(4..<8))
    generation = bytes.span.littleEndian(8..<16)
    commitByteCount = bytes.span.littleEndian(16..<24)
    mac = Array(bytes[32...])
  }
}

extension KeySchedule {
  /// The key of the commit's chunks.
  func commitKey(_ header: CommitHeader, previousMAC: [UInt8]) throws(ArchiveError) -> SecretBytes {
    try commitKey(
      generation: header.generation, flags: header.flags, salt: header.salt,
      previousMAC: previousMAC)
  }

  /// The MAC that ends a commit, over its header, its trailer and all commits before.
  func chainMAC(_ header: CommitHeader, _ trailer: Trailer, previousMAC: [UInt8]) -> [UInt8] {
    let ends = ByteBuffer(capacity: 1 << 7)
    header.write(to: ends)
    trailer.writeWithoutMAC(to: ends)
    ends.write(previousMAC)
    return ends.withBytes { chainMAC(over: $0, salt: header.salt) }
  }
}

/// The last frame of a commit, which says what the commit contains, and where.
struct Footer: Equatable, Sendable {
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
  private static let criticalBit: UInt64 = 1 << 15

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
  /// Reads the rest of the bytes as a footer; both ranges lie in the content before it.
  init(
    from reader: inout ByteCursor, _ bytes: Span<UInt8>, contentByteCount: Int
  ) throws(ArchiveError) {
    guard let schema = UInt32(exactly: try reader.readVarint(bytes)) else {
      throw reader.malformed(at: reader.offset)
    }
    self.schema = schema
    recordCount = try reader.readSize(bytes, upTo: contentByteCount)
    recordByteCount = try reader.readSize(bytes, upTo: contentByteCount)
    symbols = try reader.readRange(bytes, in: contentByteCount)
    index = try reader.readRange(bytes, in: contentByteCount)
    guard index.count == recordCount * IndexEntry.byteCount else {
      throw reader.malformed(at: reader.offset)
    }
    var previousType: UInt64?
    while !reader.isAtEnd {
      let start = reader.offset
      let type = try reader.readLowBytes(bytes, count: 2)
      if let previousType, type <= previousType { throw reader.malformed(at: start) }
      previousType = type
      guard type & Self.criticalBit == 0 else {
        throw ArchiveError(.unsupportedFeature, subject: "footer field \(type)")
      }
      _ = try reader.readRange(count: Int(try reader.readLowBytes(bytes, count: 4)))
    }
  }
}

extension ByteCursor {
  fileprivate mutating func readSize(
    _ bytes: Span<UInt8>, upTo limit: Int
  ) throws(ArchiveError) -> Int {
    let start = offset
    let value = try readVarint(bytes)
    guard value <= UInt64(limit) else { throw malformed(at: start) }
    return Int(value)
  }

  fileprivate mutating func readRange(
    _ bytes: Span<UInt8>, in limit: Int
  ) throws(ArchiveError) -> Range<Int> {
    let lower = try readSize(bytes, upTo: limit)
    let count = try readSize(bytes, upTo: limit - lower)
    return lower..<lower + count
  }
}
