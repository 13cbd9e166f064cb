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

  /// The offset of each key.
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
          into: keys, count: 64, key: dataKey, salt: fileSalt, input: (head + context.hash).span)
        unsafe KeyDerivation.chainKeys.derive(
          into: keys + Self.chainKey, count: 64, key: UnsafeRawPointer(keys + Self.rootKey),
          input: head.span)
      }
    }
  }

  private func derive(
    _ use: KeyDerivation, count: Int, key: Int,
    salt: [UInt8] = KeyDerivation.zeroSalt, _ input: Span<UInt8>
  ) -> [UInt8] {
    unsafe keys.withBytes { keys in
      unsafe use.derivePublic(
        count: count, key: keys + key, salt: salt, input: input)
    }
  }

  func headerMAC(_ header: [UInt8]) -> [UInt8] {
    derive(.headerMAC, count: 32, key: Self.headerKey, header.span)
  }

  /// The first value of the chain of MACs.
  var genesis: [UInt8] {
    derive(.genesis, count: 32, key: Self.rootKey, head.span)
  }

  /// A salt that stays fresh even if the random source repeats itself, as long as the
  /// witness depends on the content or on the moment.
  func commitSalt(
    random: RandomSource, previousMAC: [UInt8], generation: UInt64,
    writingWitness writeWitness: (ByteBuffer) -> Void
  ) -> [UInt8] {
    let input = ByteBuffer(capacity: 1 << 9)
    input.write(random.bytes(count: 32))
    input.write(previousMAC)
    input.writeInteger(generation)
    writeWitness(input)
    return input.withBytes { input in
      derive(.salt, count: KeyDerivation.saltByteCount, key: Self.saltKey, input)
    }
  }

  func commitKey(
    generation: UInt64, flags: UInt32, salt: [UInt8], previousMAC: [UInt8]
  ) throws(ArchiveError) -> SecretBytes {
    let input = ByteBuffer()
    input.writeInteger(generation)
    input.writeInteger(flags)
    input.write(previousMAC)
    return try unsafe keys.withBytes { (keys) throws(ArchiveError) in
      try unsafe SecretBytes(count: 32) { key in
        input.withBytes { input in
          unsafe KeyDerivation.commitKey.derive(
            into: key, count: 32, key: keys + Self.rootKey, salt: salt, input: input)
        }
      }
    }
  }

  func chainMAC(over bytes: Span<UInt8>, salt: [UInt8]) -> [UInt8] {
    derive(.chainMAC, count: 32, key: Self.chainKey, salt: salt, bytes)
  }
}
