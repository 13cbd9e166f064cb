internal import Libsodium

/// libsodium alone: seals bytes that are ready into memory that is ready.
package final class SodiumPeer {
  private static let key = [UInt8](repeating: 0x5a, count: 32)
  private static let nonce = [UInt8](repeating: 0, count: 12)

  private let plain: [UInt8]
  private var sealed: [UInt8]

  package init(byteCount: Int) {
    precondition(sodium_init() >= 0, "libsodium does not start")
    plain = [UInt8](repeating: 0x33, count: byteCount)
    sealed = [UInt8](repeating: 0, count: byteCount + 16)
  }

  package func seal() {
    crypto_aead_chacha20poly1305_ietf_encrypt(
      &sealed, nil, plain, UInt64(plain.count), nil, 0, nil, Self.nonce, Self.key)
  }
}
