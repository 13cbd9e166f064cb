internal import Crypto
internal import Foundation
package import Workload

/// Foundation's binary property lists, sealed as the JSON is.
package final class PropertyListPeer {
  private let catalog: Catalog
  private let key = SymmetricKey(size: .bits256)
  private var sealed = Data()

  package init(_ catalog: Catalog) {
    self.catalog = catalog
  }

  package func encodeAndSeal() throws {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = .binary
    sealed = try ChaChaPoly.seal(try encoder.encode(catalog), using: key).combined
  }

  package func openAndDecode() throws -> Catalog {
    let plain = try ChaChaPoly.open(try ChaChaPoly.SealedBox(combined: sealed), using: key)
    return try PropertyListDecoder().decode(Catalog.self, from: plain)
  }
}
