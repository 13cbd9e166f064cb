internal import CSodium

/// A random key for one value inside of a record, in guarded memory.
///
/// Only the subkey opens the value: an owner of the archive and its key, but not of the
/// subkey, cannot read the value. When the last copy of the subkey is gone, the value
/// is gone from every copy of the archive.
///
///     encryption key ‖ nonce key = KDF("RKA1 value keys", subkey)
///     nonce 24                   = KDF("RKA1 value nonce", nonce key, value)
///     sealed                     = nonce ‖ XChaCha20-Poly1305(encryption key, nonce, value)
///
/// The nonce follows from the value, so an equal value has equal bytes, and a record
/// that has not changed need not be written again. Two values have one nonce only if
/// BLAKE2b has a collision of 192 bits. A reader of two sealed values learns only
/// whether they are equal, and how long they are.
///
/// A subkey is wrapped in the same way, with keys that follow from the key of an archive:
///
///     wrapping keys = KDF("RKA1 subkey wrap", key, context)
package final class ValueSubkey: Sendable {
  private let secret: SecretBytes

  private static let nonceByteCount = 24
  private static let tagByteCount = 16

  private init(_ secret: consuming SecretBytes) {
    self.secret = secret
  }

  /// Makes a new random subkey.
  ///
  /// - Throws: ``ArchiveError`` with `cryptographyUnavailable`.
  package convenience init() throws(ArchiveError) {
    self.init(try SecretBytes(.system, count: ArchiveKey.byteCount))
  }

  // MARK: Values

  /// Seals a value; equal values have equal bytes.
  ///
  /// - Parameter value: Any bytes.
  /// - Returns: 40 bytes more than those of the value.
  /// - Throws: ``ArchiveError`` with `cryptographyUnavailable`.
  package func seal(_ value: [UInt8]) throws(ArchiveError) -> [UInt8] {
    let keys = try valueKeys()
    return unsafe value.withUnsafeBytes { unsafe Self.seal($0, keys) }
  }

  /// Opens bytes that ``seal(_:)`` made; nil if a bit of them was changed, or another
  /// subkey sealed them.
  ///
  /// - Throws: ``ArchiveError`` with `cryptographyUnavailable`.
  package func open(_ sealed: [UInt8]) throws(ArchiveError) -> [UInt8]? {
    let count = sealed.count - Self.nonceByteCount - Self.tagByteCount
    guard count >= 0 else { return nil }
    let keys = try valueKeys()
    // An empty array has no address, so it gets one byte; for an empty value
    // nothing is written there.
    var value = [UInt8](repeating: 0, count: max(count, 1))
    let isOpen = unsafe Self.open(sealed, into: &value, keys)
    return isOpen ? Array(value.prefix(count)) : nil
  }

  private func valueKeys() throws(ArchiveError) -> SecretBytes {
    let nothing: [UInt8] = []
    return try unsafe secret.withBytes { (secret) throws(ArchiveError) in
      try unsafe SecretBytes(count: 64) { keys in
        unsafe KeyDerivation.valueKeys.derive(
          into: keys, count: 64, key: secret, input: nothing.span)
      }
    }
  }

  // MARK: Wrapping

  /// The subkey, sealed with keys that follow from a key.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - context: The context that the subkey belongs to.
  /// - Returns: 72 bytes, the same for the same key and context.
  /// - Throws: ``ArchiveError`` with `cryptographyUnavailable`.
  package func wrapped(
    with key: ArchiveKey, context: ArchiveContext
  ) throws(ArchiveError) -> [UInt8] {
    let keys = try Self.wrappingKeys(key, context)
    return unsafe secret.withBytes { secret in
      unsafe Self.seal(UnsafeRawBufferPointer(start: secret, count: ArchiveKey.byteCount), keys)
    }
  }

  /// Unwraps a subkey.
  ///
  /// - Parameters:
  ///   - wrapped: The bytes that ``wrapped(with:context:)`` returned.
  ///   - key: The key.
  ///   - context: The context that the subkey belongs to.
  /// - Throws: ``ArchiveError`` with `damaged` if the bytes are of another key or
  ///   context or were changed, or `cryptographyUnavailable`.
  package convenience init(
    unwrapping wrapped: [UInt8], with key: ArchiveKey, context: ArchiveContext
  ) throws(ArchiveError) {
    guard
      wrapped.count == Self.nonceByteCount + ArchiveKey.byteCount + Self.tagByteCount
    else { throw ArchiveError(.damaged, subject: "subkey") }
    let keys = try Self.wrappingKeys(key, context)
    self.init(
      try unsafe SecretBytes(count: ArchiveKey.byteCount) { (secret) throws(ArchiveError) in
        guard unsafe Self.open(wrapped, into: secret, keys) else {
          throw ArchiveError(.damaged, subject: "subkey")
        }
      })
  }

  private static func wrappingKeys(
    _ key: ArchiveKey, _ context: ArchiveContext
  ) throws(ArchiveError) -> SecretBytes {
    try unsafe key.secret.withBytes { (key) throws(ArchiveError) in
      try unsafe SecretBytes(count: 64) { keys in
        unsafe KeyDerivation.subkeyWrap.derive(
          into: keys, count: 64, key: key, input: context.hash.span)
      }
    }
  }

  // MARK: Sealing

  /// Seals bytes with an encryption key and the nonce key behind it.
  @unsafe private static func seal(
    _ content: UnsafeRawBufferPointer, _ keys: borrowing SecretBytes
  ) -> [UInt8] {
    let contentCount = content.count
    return unsafe keys.withBytes { keys in
      let bytes = unsafe content.bindMemory(to: UInt8.self)
      let nonce = unsafe KeyDerivation.valueNonce.derivePublic(
        count: nonceByteCount, key: keys + ArchiveKey.byteCount, input: bytes.span)
      var sealed = [UInt8](repeating: 0, count: contentCount + tagByteCount)
      let status = unsafe crypto_aead_xchacha20poly1305_ietf_encrypt(
        &sealed, nil, bytes.baseAddress, UInt64(contentCount), nil, 0, nil, nonce, keys)
      precondition(status == 0)
      return nonce + sealed
    }
  }

  /// Opens into memory that has room for the content; false if the bytes are not the sealed ones.
  @unsafe private static func open(
    _ sealed: [UInt8], into content: UnsafeMutableRawPointer, _ keys: borrowing SecretBytes
  ) -> Bool {
    unsafe keys.withBytes { keys in
      unsafe sealed.withUnsafeBufferPointer { sealed in
        guard let base = sealed.baseAddress, sealed.count >= nonceByteCount + tagByteCount else {
          return false
        }
        return unsafe crypto_aead_xchacha20poly1305_ietf_decrypt(
          content.assumingMemoryBound(to: UInt8.self), nil, nil, base + nonceByteCount,
          UInt64(sealed.count - nonceByteCount), nil, 0, base, keys) == 0
      }
    }
  }
}
