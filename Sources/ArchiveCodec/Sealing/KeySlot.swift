/// One way into an archive: the data key, wrapped with a key of the caller.
///
///     0    1   type: 1 key, 2 passphrase
///     1    1   Argon2id lanes
///     2    2   zeros
///     4    4   Argon2id passes
///     8    4   Argon2id memory in KiB
///     12   16  salt
///     28   8   key reference
///     36   32  commitment
///     68   48  wrapped data key
///     116  8   key check
///     124  4   zeros
///
/// The commitment is compared before the box is opened. Without it, a box could be made
/// that opens under two keys, and guesses could be tested many at a time. The key check
/// covers all fields before it and leaves the context out; it only tells a wrong
/// context from a wrong key and opens nothing.
struct KeySlot: Sendable {
  static let byteCount = 128
  static let wrappedKeyByteCount = 48
  static let keyCheckOffset = 116

  let kind: ArchiveSlot.Kind
  let salt: [UInt8]
  /// A number by which a caller with many keys finds the right one; a hint.
  let keyReference: UInt64
  let commitment: [UInt8]
  let wrappedKey: [UInt8]
  let keyCheck: [UInt8]
  /// All bytes of the slot, also the unknown bytes of a slot of an unknown kind.
  let encoded: [UInt8]

  var isForPassphrase: Bool {
    if case .passphrase = kind { true } else { false }
  }

  init(
    kind: ArchiveSlot.Kind, salt: [UInt8], keyReference: UInt64, commitment: [UInt8],
    wrappedKey: [UInt8], keyCheck makeKeyCheck: (_ before: [UInt8]) -> [UInt8]
  ) {
    self.kind = kind
    self.salt = salt
    self.keyReference = keyReference
    self.commitment = commitment
    self.wrappedKey = wrappedKey
    let writer = ByteBuffer()
    writer.write(kind.parameters)
    writer.write(salt)
    writer.writeInteger(keyReference)
    writer.write(commitment)
    writer.write(wrappedKey)
    keyCheck = makeKeyCheck(writer.bytes)
    writer.write(keyCheck)
    writer.writeZeros(count: Self.byteCount - writer.count)
    encoded = writer.bytes
  }

  init(from reader: inout ByteReader) throws(ArchiveError) {
    let start = reader.offset
    kind = try ArchiveSlot.Kind(from: &reader)
    salt = try reader.readBytes(count: KeyDerivation.saltByteCount)
    keyReference = try reader.readInteger()
    commitment = try reader.readBytes(count: 32)
    wrappedKey = try reader.readBytes(count: Self.wrappedKeyByteCount)
    keyCheck = try reader.readBytes(count: 8)
    let end = try reader.readBytes(count: start + Self.byteCount - reader.offset)
    guard kind == .unknown || end.allSatisfy({ $0 == 0 }) else {
      throw ArchiveError(.unsupportedFeature, offset: start, subject: "key slot")
    }
    encoded = Array(reader.bytes[start..<reader.offset])
  }
}

extension ArchiveSlot.Kind {
  private static let keyType: UInt8 = 1
  private static let passphraseType: UInt8 = 2
  private static let lanes: UInt8 = 1

  /// The first 12 bytes of a slot; empty for an unknown kind.
  var parameters: [UInt8] {
    let writer = ByteBuffer()
    switch self {
    case .key:
      writer.writeByte(Self.keyType)
      writer.writeZeros(count: 11)
    case .passphrase(let cost):
      writer.write([Self.passphraseType, Self.lanes])
      writer.writeZeros(count: 2)
      writer.writeInteger(UInt32(cost.passes))
      writer.writeInteger(UInt32(cost.kibibytes))
    case .unknown: break
    }
    return writer.bytes
  }

  /// Refuses a cost outside of the limits here, long before the slow work for a try.
  fileprivate init(from reader: inout ByteReader) throws(ArchiveError) {
    let start = reader.offset
    let type = try reader.readByte()
    reader.offset += 3
    let passes = try reader.readInteger(UInt32.self)
    let kibibytes = try reader.readInteger(UInt32.self)
    switch type {
    case Self.keyType: self = .key
    case Self.passphraseType:
      self = .passphrase(try PassphraseCost(passes: Int(passes), kibibytes: Int(kibibytes)))
    default: self = .unknown
    }
    // Any other bytes would be a second encoding of the same slot.
    guard self == .unknown || parameters.elementsEqual(reader.bytes[start..<reader.offset]) else {
      throw ArchiveError(.unsupportedFeature, offset: start, subject: "key slot")
    }
  }
}
