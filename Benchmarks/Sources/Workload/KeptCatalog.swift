internal import ArchiveCodec
internal import RestorationKit

/// A catalog that a keeper saves to memory and brings back from there.
package final class KeptCatalog {
  private let root: CatalogNode
  private let store = MemoryStateDirectory()
  private let keys: FixedKeyProvider
  private let keeper: StateKeeper

  package init(_ catalog: Catalog) throws {
    root = CatalogNode(catalog)
    keys = FixedKeyProvider(try ArchiveKey())
    keeper = try Self.makeKeeper(store, keys)
  }

  private static func makeKeeper(
    _ store: MemoryStateDirectory, _ keys: FixedKeyProvider
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

  /// Saves all nodes.
  @discardableResult
  package func save() async throws -> Saved {
    let report = try await keeper.save([root])
    guard report.outcome == .saved else { throw WorkloadError(report.description) }
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
