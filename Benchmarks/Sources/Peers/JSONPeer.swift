internal import Crypto
internal import Foundation
package import Workload

/// Foundation's JSON coders, and ChaCha20-Poly1305 of swift-crypto around them.
package final class JSONPeer {
  private let catalog: Catalog
  private let key = SymmetricKey(size: .bits256)
  private var encoded = Data()
  private var sealed = Data()

  package init(_ catalog: Catalog) {
    self.catalog = catalog
  }

  /// The size of what was encoded last, in bytes.
  package var encodedByteCount: Int { encoded.count }

  package func encode() throws {
    encoded = try JSONEncoder().encode(catalog)
  }

  package func decode() throws -> Catalog {
    try JSONDecoder().decode(Catalog.self, from: encoded)
  }

  package func encodeAndSeal() throws {
    try encode()
    sealed = try ChaChaPoly.seal(encoded, using: key).combined
  }

  package func openAndDecode() throws -> Catalog {
    encoded = try ChaChaPoly.open(try ChaChaPoly.SealedBox(combined: sealed), using: key)
    return try decode()
  }
}
