internal import CSodium

extension Passphrase {
  /// The master key of a slot: Argon2id 1.3 of the passphrase, with one lane.
  ///
  /// The algorithm is named, because libsodium's default may change. The working memory
  /// goes back to the system, which clears it.
  func masterKey(salt: [UInt8], cost: PassphraseCost) throws(ArchiveError) -> ArchiveKey {
    precondition(salt.count == KeyDerivation.saltByteCount)
    let key = try unsafe SecretBytes(count: ArchiveKey.byteCount) { (key) throws(ArchiveError) in
      let status = unsafe secret.withBytes { passphrase in
        unsafe crypto_pwhash(
          key, UInt64(ArchiveKey.byteCount), passphrase, UInt64(secret.count), salt,
          UInt64(cost.passes), cost.kibibytes << 10, crypto_pwhash_ALG_ARGON2ID13)
      }
      guard status == 0 else {
        throw ArchiveError(.cryptographyUnavailable, subject: "memory to try a passphrase")
      }
    }
    return try ArchiveKey(key)
  }
}
