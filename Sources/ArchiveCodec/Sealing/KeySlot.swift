internal import CSodium

/// One way into an archive: the data key, wrapped with a key of the caller.
///
/// The commitment is compared before the box is opened. Without it, a box
/// could be made that opens under two keys, and guesses could be tested many
/// at a time. The key check leaves the context out; it only tells a wrong
/// context from a wrong key and opens nothing.
struct KeySlot: Sendable {
  static let byteCount = 128
  static let wrappedKeyByteCount = 48
  static let rawKey: UInt8 = 1

  let type: UInt8
  /// Argon2id lanes, operations and memory in KiB; zeros for a raw key.
  let lanes: UInt8
  let operations: UInt32
  let memory: UInt32
  let salt: [UInt8]
  /// A number by which a caller with many keys finds the right one; a hint.
  let keyReference: UInt64
  let commitment: [UInt8]
  let wrappedKey: [UInt8]
  let keyCheck: [UInt8]
}

extension KeySlot {
  /// Where the commitment begins, after the wrapping key.
  private static let commitmentOffset = 32

  /// Wraps a data key with a raw key.
  init(
    wrapping dataKey: borrowing SecretBytes, with key: ArchiveKey, head: [UInt8],
    context: ArchiveContext, random: RandomSource
  ) throws(ArchiveError) {
    type = Self.rawKey
    lanes = 0
    operations = 0
    memory = 0
    keyReference = 0
    salt = random.bytes(count: KeyDerivation.saltByteCount)
    let keys = try Self.keys(
      key, salt: salt, input: head + Self.parameters(type, 0, 0, 0) + context.hash)
    commitment = Self.commitment(in: keys)
    keyCheck = Self.keyCheck(key, salt: salt, head: head)
    var wrapped = [UInt8](repeating: 0, count: Self.wrappedKeyByteCount)
    unsafe dataKey.withBytes { dataKey in
      unsafe keys.withBytes { keys in
        _ = unsafe crypto_aead_chacha20poly1305_ietf_encrypt(
          &wrapped, nil, dataKey, UInt64(ArchiveKey.byteCount), nil, 0, nil,
          Self.nonce, keys)
      }
    }
    wrappedKey = wrapped
  }

  enum Match {
    case key, keyInOtherContext, nothing
  }

  /// Tells whether the key fits, without opening the box.
  func match(_ key: ArchiveKey, head: [UInt8], context: ArchiveContext) throws(ArchiveError)
    -> Match
  {
    let keys = try slotKeys(key, head: head, context: context)
    let commitment = Self.commitment(in: keys)
    if isEqualInConstantTime(commitment, self.commitment) { return .key }
    return isEqualInConstantTime(Self.keyCheck(key, salt: salt, head: head), keyCheck)
      ? .keyInOtherContext : .nothing
  }

  /// Opens the box; call it only after a match.
  func dataKey(
    _ key: ArchiveKey, head: [UInt8], context: ArchiveContext
  ) throws(ArchiveError) -> SecretBytes {
    let keys = try slotKeys(key, head: head, context: context)
    return try unsafe SecretBytes(count: ArchiveKey.byteCount) { (dataKey) throws(ArchiveError) in
      let status = unsafe keys.withBytes { keys in
        unsafe crypto_aead_chacha20poly1305_ietf_decrypt(
          dataKey, nil, nil, wrappedKey, UInt64(wrappedKey.count), nil, 0,
          Self.nonce, keys)
      }
      guard status == 0 else { throw ArchiveError(.damaged, subject: "key slot") }
    }
  }

  private func slotKeys(
    _ key: ArchiveKey, head: [UInt8], context: ArchiveContext
  ) throws(ArchiveError) -> SecretBytes {
    try Self.keys(
      key, salt: salt,
      input: head + Self.parameters(type, lanes, operations, memory) + context.hash)
  }

  private static func commitment(in keys: borrowing SecretBytes) -> [UInt8] {
    unsafe keys.withBytes { keys in
      unsafe Array(UnsafeRawBufferPointer(start: keys + commitmentOffset, count: 32))
    }
  }

  /// The wrapping key and the commitment.
  private static func keys(
    _ key: ArchiveKey, salt: [UInt8], input: [UInt8]
  ) throws(ArchiveError) -> SecretBytes {
    try unsafe SecretBytes(count: 64) { keys in
      unsafe key.secret.withBytes { key in
        unsafe KeyDerivation.slot.derive(into: keys, count: 64, key: key, salt: salt, input: input)
      }
    }
  }

  private static func keyCheck(_ key: ArchiveKey, salt: [UInt8], head: [UInt8]) -> [UInt8] {
    let check = unsafe key.secret.withBytes { key in
      unsafe KeyDerivation.keyCheck.derivePublic(count: 32, key: key, salt: salt, input: head)
    }
    return Array(check[..<8])
  }

  /// The wrapping key is used for one box only, so its nonce may be zero.
  private static let nonce = [UInt8](repeating: 0, count: 12)
}

extension KeySlot {
  private static func parameters(
    _ type: UInt8, _ lanes: UInt8, _ operations: UInt32, _ memory: UInt32
  ) -> [UInt8] {
    var writer = ByteWriter()
    writer.writeByte(type)
    writer.writeByte(lanes)
    writer.writeZeros(count: 2)
    writer.writeInteger(operations)
    writer.writeInteger(memory)
    return writer.bytes
  }

  var encoded: [UInt8] {
    var writer = ByteWriter()
    writer.write(Self.parameters(type, lanes, operations, memory))
    writer.write(salt)
    writer.writeInteger(keyReference)
    writer.write(commitment)
    writer.write(wrappedKey)
    writer.write(keyCheck)
    writer.writeZeros(count: Self.byteCount - writer.count)
    return writer.bytes
  }

  init(from reader: inout ByteReader) throws(ArchiveError) {
    let start = reader.offset
    type = try reader.readByte()
    lanes = try reader.readByte()
    reader.offset += 2
    operations = try reader.readInteger()
    memory = try reader.readInteger()
    salt = try reader.readBytes(count: KeyDerivation.saltByteCount)
    keyReference = try reader.readInteger()
    commitment = try reader.readBytes(count: 32)
    wrappedKey = try reader.readBytes(count: Self.wrappedKeyByteCount)
    keyCheck = try reader.readBytes(count: 8)
    reader.offset = start + Self.byteCount
    // Zeros that are not zero would be a second encoding of the same slot.
    guard type != Self.rawKey || encoded.elementsEqual(reader.bytes[start..<reader.offset]) else {
      throw ArchiveError(.unsupportedFeature, offset: start, subject: "key slot")
    }
  }
}
