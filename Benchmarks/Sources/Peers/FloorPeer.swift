internal import Libsodium
package import Workload

/// What saving and restoring these nodes needs at least: code by hand that walks,
/// writes and makes the same objects, and libsodium for chunks of 16 KiB.
///
/// All memory but that of the objects is there before the clock starts.
package final class FloorPeer {
  private static let key = [UInt8](repeating: 0x5a, count: 32)
  private static let chunkByteCount = 16 << 10
  private static let tagByteCount = Int(crypto_aead_chacha20poly1305_ietf_ABYTES)

  private let root: CatalogNode
  private var writer = PlainWriter()
  private var sealed = UnsafeMutablePointer<UInt8>.allocate(capacity: 0)
  private var opened = UnsafeMutablePointer<UInt8>.allocate(capacity: 0)
  private var capacity = 0
  /// Of what is sealed, in bytes.
  package private(set) var byteCount = 0

  /// Saves once, so that the memory is ready.
  package init(_ catalog: Catalog) throws {
    guard sodium_init() >= 0 else { throw WorkloadError("libsodium does not start") }
    root = CatalogNode(catalog)
    try save()
  }

  deinit {
    sealed.deallocate()
    opened.deallocate()
  }

  package func save() throws {
    writer.removeAll()
    try writePlainTree(root, to: &writer)
    guard let plain = writer.bytes.bindMemory(to: UInt8.self).baseAddress else { return }
    let plainByteCount = writer.bytes.count
    makeRoom(plainByteCount)
    byteCount = 0
    var nonce = Nonce()
    for start in stride(from: 0, to: plainByteCount, by: Self.chunkByteCount) {
      let count = min(Self.chunkByteCount, plainByteCount - start)
      crypto_aead_chacha20poly1305_ietf_encrypt(
        sealed + byteCount, nil, plain + start, UInt64(count), nil, 0, nil, nonce.next(), Self.key)
      byteCount += count + Self.tagByteCount
    }
  }

  package func restore() throws -> CatalogNode {
    let sealedChunkByteCount = Self.chunkByteCount + Self.tagByteCount
    var end = 0
    var nonce = Nonce()
    for start in stride(from: 0, to: byteCount, by: sealedChunkByteCount) {
      let count = min(sealedChunkByteCount, byteCount - start)
      let status = crypto_aead_chacha20poly1305_ietf_decrypt(
        opened + end, nil, nil, sealed + start, UInt64(count), nil, 0, nonce.next(), Self.key)
      guard status == 0 else { throw WorkloadError("a chunk does not open") }
      end += count - Self.tagByteCount
    }
    var reader = PlainReader(UnsafeRawBufferPointer(start: opened, count: end))
    return try CatalogNode(from: &reader)
  }

  private func makeRoom(_ plainByteCount: Int) {
    guard capacity < plainByteCount else { return }
    let chunkCount = plainByteCount / Self.chunkByteCount + 1
    sealed.deallocate()
    opened.deallocate()
    sealed = .allocate(capacity: plainByteCount + chunkCount * Self.tagByteCount)
    opened = .allocate(capacity: plainByteCount)
    capacity = plainByteCount
  }
}

/// The number of the chunk.
private struct Nonce {
  private var bytes = [UInt8](repeating: 0, count: 12)

  mutating func next() -> [UInt8] {
    for place in bytes.indices {
      bytes[place] &+= 1
      if bytes[place] != 0 { break }
    }
    return bytes
  }
}
