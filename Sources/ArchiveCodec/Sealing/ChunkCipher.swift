internal import CSodium

/// Seals and opens the chunks of one commit with ChaCha20-Poly1305-IETF.
///
/// The nonce is the chunk's number and whether it is the last. There is no
/// associated data: the commit's whole history is in its key, so a chunk can
/// only be opened in its own place. A zero nonce to begin with is right here,
/// because the key belongs to this commit alone.
struct ChunkCipher: ~Copyable, Sendable {
  static let tagByteCount = 16

  private let key: SecretBytes

  init(_ key: consuming SecretBytes) {
    self.key = key
  }

  func copy() throws(ArchiveError) -> ChunkCipher { ChunkCipher(try key.copy()) }

  private func nonce(_ number: UInt64, isLast: Bool) -> [UInt8] {
    var nonce = [UInt8](zeros: 12)
    for place in 0..<8 { nonce[place] = UInt8(truncatingIfNeeded: number >> UInt64(8 * place)) }
    nonce[8] = isLast ? 1 : 0
    return nonce
  }

  /// Seals bytes into memory, which may be that of the bytes, with the tag behind them.
  @unsafe func seal(
    _ content: UnsafeRawBufferPointer, into sealed: UnsafeMutableRawBufferPointer, number: UInt64,
    isLast: Bool
  ) {
    let byteCount = content.count
    let room = sealed.count
    precondition(byteCount > 0 && room == byteCount + Self.tagByteCount, "another size")
    let nonce = nonce(number, isLast: isLast)
    guard let output = sealed.baseAddress, let input = content.baseAddress else { return }
    unsafe key.withBytes { key in
      _ = unsafe crypto_aead_chacha20poly1305_ietf_encrypt(
        output.assumingMemoryBound(to: UInt8.self), nil,
        input.assumingMemoryBound(to: UInt8.self), UInt64(byteCount), nil, 0, nil, nonce, key)
    }
  }

  /// Opens the bytes from `start` on and appends the plaintext.
  ///
  /// False if any bit differs from the sealed bytes; then nothing is appended.
  func open(
    _ sealed: [UInt8], from start: Int, number: UInt64, isLast: Bool,
    to plaintext: inout OutputSpan<UInt8>
  ) -> Bool {
    let sealedCount = sealed.count - start
    guard start >= 0, sealedCount >= Self.tagByteCount else { return false }
    let nonce = nonce(number, isLast: isLast)
    let count = sealedCount - Self.tagByteCount
    guard count <= plaintext.freeCapacity else { return false }
    return unsafe plaintext.withUnsafeMutableBufferPointer { plaintext, opened in
      // The span has room for `count` bytes after the present ones.
      let place = unsafe plaintext.baseAddress.map { unsafe $0 + opened }
      let status = unsafe key.withBytes { key in
        unsafe sealed.withUnsafeBufferPointer { sealed in
          guard let base = sealed.baseAddress else { return CInt(-1) }
          // From `start` on there are `sealedCount` bytes.
          return unsafe crypto_aead_chacha20poly1305_ietf_decrypt(
            place, nil, nil, base + start, UInt64(sealedCount), nil, 0, nonce, key)
        }
      }
      if status == 0 { opened += count }
      return status == 0
    }
  }
}
