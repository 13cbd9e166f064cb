internal import Crypto
package import Foundation
package import Workload

/// Foundation's JSON coders, and ChaCha20-Poly1305 of swift-crypto around them.
package final class JSONPeer {
  private let catalog: Catalog
  private let key = SymmetricKey(size: .bits256)
  private var sealed = Data()

  package init(_ catalog: Catalog) {
    self.catalog = catalog
  }

  package func encode() throws -> Data {
    try JSONEncoder().encode(catalog)
  }

  package func encodeAndSeal() throws {
    sealed = try ChaChaPoly.seal(try encode(), using: key).combined
  }

  package func openAndDecode() throws -> Catalog {
    let plain = try ChaChaPoly.open(try ChaChaPoly.SealedBox(combined: sealed), using: key)
    return try JSONDecoder().decode(Catalog.self, from: plain)
  }
}
