internal import CSodium

extension ArchiveSlot {
  /// The data that binds a slot to one archive.
  ///
  /// The rest of the head is left out, so that the slots can be copied unchanged into
  /// the file that follows this one.
  struct Binding: Sendable {
    let archive: [UInt8]
    let context: ArchiveContext
  }

  /// Wraps a data key.
  init(
    _ new: NewSlot, wrapping dataKey: borrowing SecretBytes, binding: Binding,
    random: RandomSource
  ) throws(ArchiveError) {
    let salt = random.bytes(count: KeyDerivation.saltByteCount)
    let masterKey = try Self.masterKey(new.credential, salt: salt, kind: new.kind)
    let keys = try Self.keys(masterKey, salt: salt, kind: new.kind, binding: binding)
    var wrapped = [UInt8](zeros: Self.wrappedKeyByteCount)
    unsafe dataKey.withBytes { dataKey in
      unsafe keys.withBytes { keys in
        _ = unsafe crypto_aead_chacha20poly1305_ietf_encrypt(
          &wrapped, nil, dataKey, UInt64(ArchiveKey.byteCount), nil, 0, nil,
          Self.nonce, keys)
      }
    }
    kind = new.kind
    let writer = ByteBuffer(capacity: Self.byteCount)
    writer.write(kind.parameters)
    writer.write(salt)
    writer.writeInteger(new.keyReference)
    writer.write(Self.commitment(in: keys))
    writer.write(wrapped)
    writer.write(Self.keyCheck(masterKey, salt: salt, input: binding.archive + writer.bytes))
    writer.write([UInt8](zeros: Self.byteCount - writer.count))
    encoded = writer.bytes
  }

  enum Opening: ~Copyable {
    case dataKey(SecretBytes)
    case otherContext
    case otherCredential
  }

  /// Opens the box if the commitment says that the credential fits.
  ///
  /// The credential must be of the slot's kind. A passphrase costs as much as the slot says.
  func open(_ credential: ArchiveCredential, _ binding: Binding) throws(ArchiveError) -> Opening {
    let salt = salt
    let masterKey = try Self.masterKey(credential, salt: salt, kind: kind)
    let keys = try Self.keys(masterKey, salt: salt, kind: kind, binding: binding)
    guard isEqualInConstantTime(Self.commitment(in: keys), commitment) else {
      let check = Self.keyCheck(
        masterKey, salt: salt, input: binding.archive + encoded[..<Self.keyCheckOffset])
      return isEqualInConstantTime(check, keyCheck) ? .otherContext : .otherCredential
    }
    return .dataKey(
      try unsafe SecretBytes(count: ArchiveKey.byteCount) { (dataKey) throws(ArchiveError) in
        let status = unsafe keys.withBytes { keys in
          unsafe crypto_aead_chacha20poly1305_ietf_decrypt(
            dataKey, nil, nil, wrappedKey, UInt64(Self.wrappedKeyByteCount), nil, 0,
            Self.nonce, keys)
        }
        guard status == 0 else { throw ArchiveError(.damaged, subject: "key slot") }
      })
  }

  private static func masterKey(
    _ credential: ArchiveCredential, salt: [UInt8], kind: Kind
  ) throws(ArchiveError) -> ArchiveKey {
    switch (credential, kind) {
    case (.key(let key), .key): return key
    case (.passphrase(let passphrase), .passphrase(let cost)):
      return try passphrase.masterKey(salt: salt, cost: cost)
    // The kind comes from the file, so a mismatch must never be a trap.
    default: throw ArchiveError(.wrongKey, subject: "a slot of another kind")
    }
  }

  /// The offset of the commitment, after the wrapping key.
  private static let commitmentOffset = 32

  private static func commitment(in keys: borrowing SecretBytes) -> [UInt8] {
    unsafe keys.withBytes { keys in
      unsafe Array(UnsafeRawBufferPointer(start: keys + commitmentOffset, count: 32))
    }
  }

  /// The wrapping key and the commitment.
  private static func keys(
    _ masterKey: ArchiveKey, salt: [UInt8], kind: Kind, binding: Binding
  ) throws(ArchiveError) -> SecretBytes {
    var input = binding.archive
    input.reserveCapacity(1 << 6)
    input += kind.parameters
    input += binding.context.hash
    return try unsafe SecretBytes(count: 64) { keys in
      unsafe masterKey.secret.withBytes { masterKey in
        unsafe KeyDerivation.slot.derive(
          into: keys, count: 64, key: masterKey, salt: salt, input: input.span)
      }
    }
  }

  private static func keyCheck(
    _ masterKey: ArchiveKey, salt: [UInt8], input: [UInt8]
  ) -> [UInt8] {
    let check = unsafe masterKey.secret.withBytes { masterKey in
      unsafe KeyDerivation.keyCheck.derivePublic(
        count: 32, key: masterKey, salt: salt, input: input.span)
    }
    return Array(check[..<8])
  }

  /// The wrapping key is used for one box only, so its nonce may be zero.
  private static let nonce = [UInt8](zeros: 12)
}

extension ArchiveCredential {
  func isFor(_ kind: ArchiveSlot.Kind) -> Bool {
    switch (self, kind) {
    case (.key, .key), (.passphrase, .passphrase): true
    default: false
    }
  }
}
