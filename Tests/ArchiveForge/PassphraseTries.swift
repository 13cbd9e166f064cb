import CSodium
import Synchronization

/// How often this process has paid for a passphrase, by sealing or opening.
///
/// The codec does not count. In a test binary its calls of libsodium's
/// `crypto_pwhash` come here first, because what a program defines itself goes
/// before its libraries. A counter that stays at 0 says that they do not.
package enum PassphraseTries {
  fileprivate static let counter = Atomic(0)

  /// The tries that the body makes; nothing else may run meanwhile.
  package static func count(during body: () throws -> Void) rethrows -> Int {
    let before = counter.load(ordering: .relaxed)
    try body()
    return counter.load(ordering: .relaxed) - before
  }
}

/// Counts, and does what libsodium does for Argon2id.
@_cdecl("crypto_pwhash")
public func countedPasswordHash(
  _ key: UnsafeMutablePointer<UInt8>, _ keyByteCount: UInt64, _ passphrase: UnsafePointer<CChar>,
  _ passphraseByteCount: UInt64, _ salt: UnsafePointer<UInt8>, _ passes: UInt64,
  _ memoryByteCount: Int, _ algorithm: CInt
) -> CInt {
  PassphraseTries.counter.add(1, ordering: .relaxed)
  return crypto_pwhash_argon2id(
    key, keyByteCount, passphrase, passphraseByteCount, salt, passes, memoryByteCount, algorithm)
}
