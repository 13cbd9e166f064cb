/// The keys of one file, all derived from its data key.
///
///     header key ‖ root key = KDF(data key, file salt, head ‖ context)
///     chain key ‖ salt key  = KDF(root key, head)
///     commit key            = KDF(root key, commit salt, generation ‖ flags ‖ previous MAC)
///
/// The data key is random; only files that replace one another may share it,
/// and they differ in their salts. Every commit has a random salt and the whole
/// history before it in its key, so that no key and nonce are used twice,
/// whatever crashes, is copied or is restored from a backup.
struct KeySchedule: ~Copyable, Sendable {
  private let keys: SecretBytes
  private let head: [UInt8]

  /// Where each key begins.
  private static let headerKey = 0
  private static let rootKey = 32
  private static let chainKey = 64
  private static let saltKey = 96
  private static let end = 128

  init(
    dataKey: borrowing SecretBytes, fileSalt: [UInt8], head: [UInt8], context: ArchiveContext
  ) throws(ArchiveError) {
    self.head = head
    keys = try unsafe dataKey.withBytes { (dataKey) throws(ArchiveError) in
      try unsafe SecretBytes(count: Self.end) { keys in
        unsafe KeyDerivation.fileKeys.derive(
          into: keys, count: 64, key: dataKey, salt: fileSalt, input: head + context.hash)
        unsafe KeyDerivation.chainKeys.derive(
          into: keys + Self.chainKey, count: 64, key: UnsafeRawPointer(keys + Self.rootKey),
          input: head)
      }
    }
  }

  private func derive(
    _ use: KeyDerivation, count: Int, key: Int,
    salt: [UInt8] = KeyDerivation.zeroSalt, _ input: [UInt8]
  ) -> [UInt8] {
    unsafe keys.withBytes { keys in
      unsafe use.derivePublic(
        count: count, key: keys + key, salt: salt, input: input)
    }
  }

  func headerMAC(_ header: [UInt8]) -> [UInt8] {
    derive(.headerMAC, count: 32, key: Self.headerKey, header)
  }

  /// Where the chain of MACs begins.
  var genesis: [UInt8] {
    derive(.genesis, count: 32, key: Self.rootKey, head)
  }

  /// A salt that stays fresh even if the random source repeats itself, as long
  /// as `witness` says something of the content or of the moment.
  func commitSalt(
    random: RandomSource, previousMAC: [UInt8], generation: UInt64, witness: [UInt8]
  ) -> [UInt8] {
    let input = ByteBuffer(capacity: witness.count + previousMAC.count + 64)
    input.write(random.bytes(count: 32))
    input.write(previousMAC)
    input.writeInteger(generation)
    input.write(witness)
    return derive(.salt, count: KeyDerivation.saltByteCount, key: Self.saltKey, input.bytes)
  }

  func commitKey(
    generation: UInt64, flags: UInt32, salt: [UInt8], previousMAC: [UInt8]
  ) throws(ArchiveError) -> SecretBytes {
    let input = ByteBuffer()
    input.writeInteger(generation)
    input.writeInteger(flags)
    input.write(previousMAC)
    return try unsafe keys.withBytes { (keys) throws(ArchiveError) in
      try unsafe SecretBytes(count: 32, isReadOnly: false) { key in
        unsafe KeyDerivation.commitKey.derive(
          into: key, count: 32, key: keys + Self.rootKey, salt: salt, input: input.bytes)
      }
    }
  }

  func chainMAC(over bytes: [UInt8], salt: [UInt8]) -> [UInt8] {
    derive(.chainMAC, count: 32, key: Self.chainKey, salt: salt, bytes)
  }
}
