/// The beginning of a file, in front of its commits; it never changes in place.
///
///     0    8   magic 89 52 4B 41 0D 0A 1A 0A
///     8    1   major version
///     9    1   minor version
///     10   2   bytes of the header
///     12   4   features that a reader must know
///     16   4   features that a writer must know
///     20   4   features that nobody must know
///     24   1   suite
///     25   1   chunk size, as a power of two
///     26   1   number of slots
///     27   5   zeros
///     32   8   checksum: damage, told apart from a wrong key; proves nothing
///     40   16  archive identifier
///     56   16  file salt
///     72   8   base generation
///     80   32  last chain MAC of the file that this one replaces, or zeros
///     112  16  zeros
///     128  128 × slots
///     …    32  header MAC
struct Header: Sendable {
  static let magic: [UInt8] = [0x89, 0x52, 0x4B, 0x41, 0x0D, 0x0A, 0x1A, 0x0A]
  static let majorVersion: UInt8 = 1
  static let minorVersion: UInt8 = 0
  /// ChaCha20-Poly1305-IETF, BLAKE2b and Argon2id.
  static let suite: UInt8 = 1
  static let fixedByteCount = 128
  static let macByteCount = 32
  /// The chunk size that this library writes.
  static let chunkSize: UInt8 = 14
  static let chunkSizes: ClosedRange<UInt8> = 12...20

  let chunkSize: UInt8
  let archiveID: [UInt8]
  let fileSalt: [UInt8]
  let baseGeneration: UInt64
  let predecessorMAC: [UInt8]
  /// Kept from a newer writer when only the slots change.
  var minorVersion = Self.minorVersion
  var optionalFeatures: UInt32 = 0
  var slots: [ArchiveSlot] = []

  var chunkByteCount: Int { 1 << Int(chunkSize) }
  var replaced: ArchiveVersion { ArchiveVersion(generation: baseGeneration, mac: predecessorMAC) }

  var byteCount: Int {
    Self.byteCount(slotCount: slots.count)
  }

  static func byteCount(slotCount: Int) -> Int {
    fixedByteCount + slotCount * ArchiveSlot.byteCount + macByteCount
  }

  /// The part of the header that every key of the file depends on, except the keys of the slots.
  ///
  /// The slots are left out, so that they can change while the body stays.
  var head: [UInt8] {
    let writer = ByteBuffer(capacity: 1 << 7)
    writer.write(archiveID)
    writer.write(fileSalt)
    writer.writeInteger(baseGeneration)
    writer.write(predecessorMAC)
    writer.write([Self.majorVersion, Self.suite, chunkSize])
    writer.writeInteger(UInt32(0))
    return writer.bytes
  }

  /// The bytes that the header MAC covers: all but the checksum and the MAC.
  var authenticatedBytes: [UInt8] {
    let writer = ByteBuffer()
    writer.write(Self.magic)
    writer.write([Self.majorVersion, minorVersion])
    writer.writeInteger(UInt16(byteCount))
    writer.write([UInt8](zeros: 8))
    writer.writeInteger(optionalFeatures)
    writer.write([Self.suite, chunkSize, UInt8(slots.count)])
    writer.write([UInt8](zeros: 5 + 8))
    writer.write(archiveID)
    writer.write(fileSalt)
    writer.writeInteger(baseGeneration)
    writer.write(predecessorMAC)
    writer.write([UInt8](zeros: 16))
    for slot in slots { writer.write(slot.encoded) }
    return writer.bytes
  }

  func encoded(mac: [UInt8]) -> [UInt8] {
    var bytes = authenticatedBytes + mac
    bytes.replaceSubrange(Self.checksumRange, with: Self.checksum(of: bytes))
    return bytes
  }

  static let checksumRange = 32..<40
  static let reservedRange = 27..<32
  static let secondReservedRange = 112..<128

  /// The checksum; `bytes` are those of a header with zeros in place of the checksum.
  static func checksum(of bytes: [UInt8]) -> [UInt8] {
    Array(KeyDerivation.checksum.hash(bytes.span)[..<8])
  }
}

extension Header {
  /// A header without slots, for a file that is to be written.
  init(
    archiveID: [UInt8], replacing: ArchiveVersion?, random: RandomSource
  ) throws(ArchiveError) {
    guard (replacing?.mac.count ?? 32) == 32 else {
      throw ArchiveError(.malformed, subject: "version to replace")
    }
    self.init(
      chunkSize: Self.chunkSize, archiveID: archiveID, fileSalt: random.bytes(count: 16),
      baseGeneration: replacing?.generation ?? 0,
      predecessorMAC: replacing?.mac ?? [UInt8](zeros: 32))
  }
}
