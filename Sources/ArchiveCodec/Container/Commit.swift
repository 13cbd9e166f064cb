/// The 32 bytes in front of a commit's chunks.
struct CommitHeader: Hashable, Sendable {
  static let byteCount = 32
  static let magic = Array("RKAc".utf8)
  /// The commit holds all records, not only the changed ones.
  static let snapshot: UInt32 = 1
  /// The commit holds the records that changed, over those before it.
  static let journal: UInt32 = 2

  let flags: UInt32
  let generation: UInt64
  let salt: [UInt8]

  var encoded: [UInt8] {
    let writer = ByteBuffer()
    writer.write(Self.magic)
    writer.writeInteger(flags)
    writer.writeInteger(generation)
    writer.write(salt)
    return writer.bytes
  }
}

extension CommitHeader {
  /// Nil if the bytes do not begin as a commit.
  init?(decoding bytes: [UInt8]) throws(ArchiveError) {
    var reader = ByteReader(bytes)
    guard try reader.readBytes(count: 4) == Self.magic else { return nil }
    flags = try reader.readInteger()
    generation = try reader.readInteger()
    salt = try reader.readBytes(count: KeyDerivation.saltByteCount)
  }
}

/// The 64 bytes after a commit's chunks; an intact file ends with one.
struct Trailer: Hashable, Sendable {
  static let byteCount = 64
  static let magic = Array("RKAt".utf8)

  /// The bytes of the footer's frame, with its header.
  let footerByteCount: UInt32
  let generation: UInt64
  /// The bytes of the whole commit, from its header to the end of this.
  let commitByteCount: UInt64
  var mac: [UInt8]

  var encodedWithoutMAC: [UInt8] {
    let writer = ByteBuffer()
    writer.write(Self.magic)
    writer.writeInteger(footerByteCount)
    writer.writeInteger(generation)
    writer.writeInteger(commitByteCount)
    writer.writeZeros(count: 8)
    return writer.bytes
  }

  var encoded: [UInt8] { encodedWithoutMAC + mac }
}

extension Trailer {
  /// Nil if the bytes are not a trailer.
  init?(decoding bytes: [UInt8]) throws(ArchiveError) {
    var reader = ByteReader(bytes)
    guard try reader.readBytes(count: 4) == Self.magic else { return nil }
    footerByteCount = try reader.readInteger()
    generation = try reader.readInteger()
    commitByteCount = try reader.readInteger()
    guard try reader.readInteger(UInt64.self) == 0 else { return nil }
    mac = try reader.readBytes(count: 32)
  }
}

extension KeySchedule {
  /// The key of the commit's chunks.
  func commitKey(_ header: CommitHeader, previousMAC: [UInt8]) throws(ArchiveError) -> SecretBytes {
    try commitKey(
      generation: header.generation, flags: header.flags, salt: header.salt,
      previousMAC: previousMAC)
  }

  /// The MAC that ends a commit, over its ends and all that came before it.
  func chainMAC(_ header: CommitHeader, _ trailer: Trailer, previousMAC: [UInt8]) -> [UInt8] {
    chainMAC(over: header.encoded + trailer.encodedWithoutMAC + previousMAC, salt: header.salt)
  }
}
