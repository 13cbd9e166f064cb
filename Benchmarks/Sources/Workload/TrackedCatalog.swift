package import RestorationKit

/// A catalog of nodes that say when they change, with the keeper that saves them.
package final class TrackedCatalog {
  private let root: TrackedRoot
  private let keeper: StateKeeper
  private let nodes: [TrackedProduct]
  private var number = 0

  private init(_ root: TrackedRoot, _ keeper: StateKeeper) {
    self.root = root
    self.keeper = keeper
    nodes = root.products
  }

  /// Makes a catalog of which nothing is saved.
  package convenience init(
    productCount: Int, in directory: any StateDirectory, _ keys: any KeyProvider
  ) throws {
    self.init(TrackedRoot(productCount: productCount), try Self.makeKeeper(directory, keys))
  }

  /// Brings a catalog back as a new process does.
  package static func restored(
    from directory: any StateDirectory, _ keys: any KeyProvider
  ) async throws -> TrackedCatalog {
    let root = TrackedRoot()
    let keeper = try makeKeeper(directory, keys)
    let report = try await keeper.restore(into: [root])
    guard report.outcome == .restored else { throw WorkloadError(report.description) }
    return TrackedCatalog(root, keeper)
  }

  private static func makeKeeper(
    _ directory: any StateDirectory, _ keys: any KeyProvider
  ) throws -> StateKeeper {
    let keeper = try StateKeeper(
      application: "org.example.catalog", directory: directory, keys: keys)
    try keeper.register(TrackedSection.self)
    try keeper.register(TrackedProduct.self)
    return keeper
  }

  package var products: [Product] { nodes.map(\.product) }

  /// Changes some products that lie far from each other, other ones at each call.
  package func change(_ count: Int) {
    for _ in 0..<count {
      number = (number + 38_197) % nodes.count
      nodes[number].change()
    }
  }

  /// Writes all products, because nothing is stored yet.
  package func saveFirst() async throws {
    try await keeper.save([root]).checkHasWrittenAll(productCount: nodes.count)
  }

  /// Writes all products and a screen that no later catalog makes, so that saves keep it.
  package func saveWithUnknownScreen() async throws {
    try await keeper.save([root, UnknownScreen()])
      .checkHasWrittenAll(productCount: nodes.count)
  }

  /// How many screens the last save has kept that are not back.
  package private(set) var keptCount = 0
  /// How long the caller of the last save could do nothing else.
  package private(set) var pause = Duration.zero

  /// Writes what has changed since the last save; returns how many bytes.
  @discardableResult
  package func save() async throws -> Int {
    let report = try await keeper.save([root])
    guard report.outcome == .saved, report.unaskedCount > 0 else {
      throw WorkloadError("nobody was left unasked")
    }
    (keptCount, pause) = (report.kept.count, report.walkDuration)
    return report.writtenByteCount
  }

  /// The same, which the first save after a restore does by itself.
  package func saveRestored() async throws {
    try checkHasAskedAll(try await keeper.save([root]))
  }

  private func checkHasAskedAll(_ report: PreservationReport) throws {
    guard report.outcome == .saved, report.setAside == nil, report.unaskedCount == 0,
      report.writtenByteCount > 0
    else { throw WorkloadError("not all changes were looked for") }
  }

  /// Lets the state go, so that another catalog can have it.
  package func close() async { await keeper.close() }
}

/// A screen of an older version of the app.
private final class UnknownScreen: RestorableNode {
  let restorationIdentifier: String? = "unknown"
}
