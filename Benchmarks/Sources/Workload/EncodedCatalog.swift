internal import ArchiveCodec

/// A catalog that ArchiveEncoder turns into sealed bytes, and back.
package final class EncodedCatalog {
  private let catalog: Catalog
  private let key: ArchiveKey
  private let context = ArchiveContext(["org.example.catalog", "codable"])
  private var bytes: [UInt8] = []

  package init(_ catalog: Catalog) throws {
    self.catalog = catalog
    key = try ArchiveKey()
  }

  package func encode() throws {
    bytes = try ArchiveEncoder().encode(catalog, key: key, context: context)
  }

  package func decode() throws -> Catalog {
    try ArchiveDecoder().decode(Catalog.self, from: bytes, key: key, context: context)
  }
}
