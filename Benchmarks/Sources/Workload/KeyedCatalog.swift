internal import ArchiveCodec

/// The products as keyed records of an archive in memory, one record each.
package final class KeyedCatalog {
  private let products: [Product]
  private let key: ArchiveKey
  private let context = ArchiveContext(["org.example.catalog", "benchmark"])
  private let storage = MemoryStorage()

  package init(_ catalog: Catalog) throws {
    products = catalog.products
    key = try ArchiveKey()
  }

  package var productCount: Int { products.count }

  /// Encodes and seals all products; returns the size of the archive in bytes.
  @discardableResult
  package func write() throws -> Int {
    let builder = RecordBuilder()
    for (place, product) in products.enumerated() {
      try builder.append(record: UInt64(place + 1)) { product.encode(with: $0) }
    }
    return try Archive.write(try builder.finish(), to: storage, key: key, context: context)
      .byteCount
  }

  /// Opens the archive and decodes every product.
  package func readAll() throws -> [Product] {
    var products: [Product] = []
    try open().forEachRecord { products.append(try Product(from: try $0.content.get())) }
    return products
  }

  /// Opens the archive and decodes one product.
  package func readOne(_ number: UInt64) throws -> Product {
    guard let decoder = try open().record(number) else { throw WorkloadError("no record") }
    return try Product(from: decoder)
  }

  private func open() throws -> Archive {
    guard let archive = try Archive.open(storage, key: key, context: context) else {
      throw WorkloadError("no archive")
    }
    return archive
  }
}
