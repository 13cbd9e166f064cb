internal import ArchiveCodec
internal import RestorationKit

/// A catalog in a directory of files, with the key beside it, which one process
/// saves and another one restores.
package struct FiledCatalog {
  private let keeper: StateKeeper

  package init(directory: String) throws {
    keeper = try StateKeeper(
      application: "org.example.catalog", directory: FileStateDirectory(path: directory),
      keys: KeyFile(path: "\(directory)/catalog.key"))
    try keeper.register(SectionNode.self)
    try keeper.register(ProductNode.self)
  }

  package func save(productCount: Int) async throws {
    try await keeper.save([CatalogNode(productCount: productCount)])
      .checkHasWrittenAll(productCount: productCount)
  }

  /// Returns how many products came back.
  package func restore() async throws -> Int {
    let root = CatalogNode()
    let report = try await keeper.restore(into: [root])
    guard report.outcome == .restored else { throw WorkloadError(report.description) }
    return root.sections.reduce(0) { $0 + $1.restorationChildren.count }
  }
}
