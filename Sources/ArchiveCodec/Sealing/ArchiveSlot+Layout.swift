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
extension ArchiveSlot {
  static let byteCount = 128
  static let wrappedKeyByteCount = 48
  static let keyCheckOffset = 116
  private static let end = 124

  var salt: [UInt8] { Array(encoded[12..<28]) }

  static let keyReferenceRange = 28..<36
  var commitment: [UInt8] { Array(encoded[36..<68]) }
  var wrappedKey: [UInt8] { Array(encoded[68..<Self.keyCheckOffset]) }
  var keyCheck: [UInt8] { Array(encoded[Self.keyCheckOffset..<Self.end]) }

  /// Reads the bytes of a slot, which begins at an offset of a file.
  init(_ encoded: [UInt8], at offset: Int) throws(ArchiveError) {
    let kind = try Kind(of: encoded.span)
    // Any other bytes would be a second encoding of the same slot.
    guard
      kind == .unknown
        || encoded.starts(with: kind.parameters) && encoded[Self.end...].allSatisfy({ $0 == 0 })
    else { throw ArchiveError(.unsupportedFeature, offset: offset, subject: "key slot") }
    (self.kind, self.encoded) = (kind, encoded)
  }
}

extension ArchiveSlot.Kind {
  private static let keyType: UInt8 = 1
  private static let passphraseType: UInt8 = 2
  private static let lanes: UInt8 = 1
  private static let keyParameters = [keyType] + [UInt8](zeros: 11)

  /// Nil if the slot is not for a passphrase.
  var passphraseCost: PassphraseCost? {
    if case .passphrase(let cost) = self { cost } else { nil }
  }

  /// The first 12 bytes of a slot; empty for an unknown kind.
  var parameters: [UInt8] {
    switch self {
    case .key: return Self.keyParameters
    case .passphrase(let cost):
      let writer = ByteBuffer()
      writer.write([Self.passphraseType, Self.lanes])
      writer.write([UInt8](zeros: 2))
      writer.writeInteger(UInt32(cost.passes))
      writer.writeInteger(UInt32(cost.kibibytes))
      return writer.bytes
    case .unknown: return []
    }
  }

  /// Refuses a cost outside of the limits here, long before the slow work for a try.
  fileprivate init(of slot: Span<UInt8>) throws(ArchiveError) {
    switch slot[0] {
    case Self.keyType: self = .key
    case Self.passphraseType:
      self = .passphrase(
        try PassphraseCost(
          passes: Int(slot.littleEndian(4..<8)), kibibytes: Int(slot.littleEndian(8..<12))))
    default: self = .unknown
    }
  }
}
