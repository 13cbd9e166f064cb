internal import ArchiveCodec
internal import RestorationKit

/// A catalog that a keeper saves to memory and brings back from there.
package final class KeptCatalog {
  private let root: CatalogNode
  private let productCount: Int
  private let keys: ArchiveKey
  private var store = MemoryStateDirectory()
  private var keeper: StateKeeper

  package init(_ catalog: Catalog) throws {
    root = CatalogNode(catalog)
    productCount = catalog.sections.reduce(0) { $0 + $1.products.count }
    keys = try ArchiveKey()
    keeper = try Self.makeKeeper(store, keys)
  }

  private static func makeKeeper(
    _ store: MemoryStateDirectory, _ keys: ArchiveKey
  ) throws -> StateKeeper {
    let keeper = try StateKeeper(application: "org.example.catalog", directory: store, keys: keys)
    try keeper.register(SectionNode.self)
    try keeper.register(ProductNode.self)
    return keeper
  }

  package struct Saved {
    /// The size of the archive, in bytes.
    package let byteCount: Int
    /// How long the caller could do nothing else.
    package let pause: Duration
  }

  /// Forgets what is stored, and the keeper that knows it: the next save writes all
  /// nodes, and not only those that have changed.
  package func startAnew() throws {
    store = MemoryStateDirectory()
    keeper = try Self.makeKeeper(store, keys)
  }

  /// Saves all nodes, for the first time or after ``startAnew()``.
  @discardableResult
  package func save() async throws -> Saved {
    let report = try await keeper.save([root])
    try report.checkHasWrittenAll(productCount: productCount)
    return Saved(byteCount: report.byteCount, pause: report.walkDuration)
  }

  /// Brings the nodes back as a new process does, with a keeper of its own.
  @discardableResult
  package func restore() async throws -> CatalogNode {
    // That process has ended.
    await keeper.close()
    let restored = CatalogNode()
    let report = try await Self.makeKeeper(store, keys).restore(into: [restored])
    guard report.outcome == .restored else { throw WorkloadError(report.description) }
    return restored
  }
}

/// A benchmark that would have measured something else than it says.
package struct WorkloadError: Error, CustomStringConvertible {
  package let description: String

  package init(_ description: String) {
    self.description = description
  }
}
