internal import Crypto
internal import Foundation
package import Workload

/// Foundation's binary property lists, sealed as the JSON is.
package final class PropertyListPeer {
  private let catalog: Catalog
  private let key = SymmetricKey(size: .bits256)
  private var encoded = Data()
  private var sealed = Data()

  package init(_ catalog: Catalog) {
    self.catalog = catalog
  }

  package func encode() throws {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = .binary
    encoded = try encoder.encode(catalog)
  }

  package func decode() throws -> Catalog {
    try PropertyListDecoder().decode(Catalog.self, from: encoded)
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
