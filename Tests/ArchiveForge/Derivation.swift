import CSodium

/// The functions of the specification that take keys, without the library.
///
/// All keys here are known to everybody, so they lie in ordinary memory.
package enum Derivation {
  private static let status = sodium_init()

  /// `KDF(label, key, salt, input)`; without a key it is `hash(label, input)`.
  ///
  /// - Precondition: A label of at most 16 bytes, no key or one of 32 bytes, a
  ///   salt of 16 bytes, and a digest of at most 64.
  package static func derive(
    _ label: String, key: [UInt8] = [], salt: [UInt8] = zeroSalt, _ input: [UInt8],
    count: Int = 32
  ) -> [UInt8] {
    precondition(status >= 0 && salt.count == 16 && [0, 32].contains(key.count))
    let personal = Array(label.utf8) + [UInt8](repeating: 0, count: 16 - label.utf8.count)
    var digest = [UInt8](repeating: 0, count: count)
    let failure = crypto_generichash_blake2b_salt_personal(
      &digest, count, input, UInt64(input.count), key, key.count, salt, personal)
    precondition(failure == 0)
    return digest
  }

  package static let zeroSalt = [UInt8](repeating: 0, count: 16)

  /// The hash of a context's fields, each with its length before it.
  package static func context(_ fields: [String]) -> [UInt8] {
    derive(
      "RKA1 context",
      fields.flatMap { ModelValue.varint(UInt64($0.utf8.count)) + Array($0.utf8) })
  }

  /// Ciphertext and tag of ChaCha20-Poly1305-IETF, without associated data.
  static func box(_ plaintext: [UInt8], key: [UInt8], nonce: [UInt8]) -> [UInt8] {
    precondition(status >= 0 && key.count == 32 && nonce.count == 12)
    var sealed = [UInt8](repeating: 0, count: plaintext.count + 16)
    crypto_aead_chacha20poly1305_ietf_encrypt(
      &sealed, nil, plaintext, UInt64(plaintext.count), nil, 0, nil, nonce, key)
    return sealed
  }
}
