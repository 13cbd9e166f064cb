internal import CSodium

/// Bytes that are sealed with a key and nothing else.
///
///     0     8    magic
///     8     4    the size of what follows the nonce, little-endian
///     12    24   nonce, random
///     36    …    XChaCha20-Poly1305(record key, nonce, plaintext; magic and size)
///
///     record key = KDF("RKA1 sealed rec", key, context)
package enum SealedBytes {
  static let magic: [UInt8] = [0x89, 0x52, 0x4B, 0x52, 0x0D, 0x0A, 0x1A, 0x0A]
  private static let nonceOffset = 12
  private static let sealedOffset = 36
  private static let tagByteCount = 16
  static let nonceByteCount = sealedOffset - nonceOffset

  /// Seals any bytes.
  package static func seal(
    _ plaintext: [UInt8], _ key: ArchiveKey, _ context: ArchiveContext,
    _ random: RandomSource = .system
  ) throws(ArchiveError) -> [UInt8] {
    let count = plaintext.count + tagByteCount
    let key = try recordKey(key, context)
    var bytes = [UInt8](zeros: sealedOffset + count)
    bytes.replaceSubrange(..<magic.count, with: magic)
    for place in 0..<4 {
      bytes[magic.count + place] = UInt8(truncatingIfNeeded: count >> (8 * place))
    }
    unsafe bytes.withUnsafeMutableBufferPointer { bytes in
      guard let base = bytes.baseAddress else { return }
      unsafe random.fill(base + nonceOffset, nonceByteCount)
      // From the offset on there are `count` bytes.
      let status = unsafe key.withBytes { key in
        unsafe crypto_aead_xchacha20poly1305_ietf_encrypt(
          base + sealedOffset, nil, plaintext, UInt64(plaintext.count), base,
          UInt64(nonceOffset), nil, base + nonceOffset, key.assumingMemoryBound(to: UInt8.self))
      }
      precondition(status == 0)
    }
    return bytes
  }

  /// Opens sealed bytes; those behind them do not count.
  ///
  /// - Throws: As ``SealedRecord/open(_:key:context:limits:)``.
  static func open(
    _ bytes: [UInt8], _ key: ArchiveKey, _ context: ArchiveContext
  ) throws(ArchiveError) -> (plaintext: [UInt8], byteCount: Int) {
    guard bytes.starts(with: magic) else { throw ArchiveError(.notAnArchive, offset: 0) }
    guard bytes.count >= sealedOffset + tagByteCount else {
      throw ArchiveError(.truncated, offset: bytes.count)
    }
    let count = Int(bytes.span.littleEndian(magic.count..<nonceOffset))
    guard count >= tagByteCount else { throw ArchiveError(.damaged, offset: magic.count) }
    guard count <= bytes.count - sealedOffset else {
      throw ArchiveError(.truncated, offset: bytes.count)
    }
    // An empty array has no address, so there is one byte more.
    var plaintext = [UInt8](zeros: count - tagByteCount + 1)
    let isOpen = try unsafe recordKey(key, context).withBytes { key in
      unsafe bytes.withUnsafeBufferPointer { bytes in
        guard let base = bytes.baseAddress else { return false }
        // From the offset on there are at least `count` bytes.
        return unsafe crypto_aead_xchacha20poly1305_ietf_decrypt(
          &plaintext, nil, nil, base + sealedOffset, UInt64(count), base, UInt64(nonceOffset),
          base + nonceOffset, key.assumingMemoryBound(to: UInt8.self)) == 0
      }
    }
    guard isOpen else { throw ArchiveError(.damaged, offset: sealedOffset) }
    plaintext.removeLast()
    return (plaintext, sealedOffset + count)
  }

  private static func recordKey(
    _ key: ArchiveKey, _ context: ArchiveContext
  ) throws(ArchiveError) -> SecretBytes {
    try unsafe key.secret.withBytes { (key) throws(ArchiveError) in
      try unsafe SecretBytes(count: ArchiveKey.byteCount) { derived in
        unsafe KeyDerivation.sealedRecord.derive(
          into: derived, count: ArchiveKey.byteCount, key: key, input: context.hash.span)
      }
    }
  }
}
