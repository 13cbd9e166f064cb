internal import CSodium

/// BLAKE2b of content that is not secret and comes in parts: 32 bytes, without a key, as `b2sum -l 256` has it.
@safe
package final class ContentHash {
  /// The length of a hash.
  package static let byteCount = 32

  private let state: OpaquePointer
  private let memory: UnsafeMutableRawPointer

  /// Begins the hash of nothing.
  ///
  /// - Throws: ``ArchiveError`` with `cryptographyUnavailable`.
  package init() throws(ArchiveError) {
    try Sodium.start()
    // libsodium wants 64 bytes of alignment, which ordinary memory does not have.
    unsafe memory = UnsafeMutableRawPointer.allocate(
      byteCount: crypto_generichash_statebytes(), alignment: 64)
    unsafe state = OpaquePointer(memory)
    let status = unsafe crypto_generichash_init(state, nil, 0, Self.byteCount)
    precondition(status == 0)
  }

  deinit { unsafe memory.deallocate() }

  /// Takes the next bytes.
  package func append(_ bytes: UnsafeRawBufferPointer) {
    guard unsafe !bytes.isEmpty else { return }
    let status = unsafe crypto_generichash_update(
      state, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), UInt64(bytes.count))
    precondition(status == 0)
  }

  /// The hash of all bytes that were taken; none can be taken after that.
  package func finish() -> [UInt8] {
    var hash = [UInt8](zeros: Self.byteCount)
    let status = unsafe crypto_generichash_final(state, &hash, hash.count)
    precondition(status == 0)
    return hash
  }
}
