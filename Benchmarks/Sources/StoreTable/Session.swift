internal import RestorationKit
internal import RestorationSharing
internal import Workload

/// What one user has on the screen: ten products.
actor Session {
  static let nodeCount = 10

  let name: String
  private let keeper: StateKeeper
  private var nodes: [ProductRoot]

  init(
    _ name: String, products: [Product], in directory: RemoteStateDirectory,
    keys: any KeyProvider
  ) throws {
    self.name = name
    keeper = try StateKeeper(
      application: "org.example.bench", name: name, directory: directory, keys: keys)
    nodes = products.map { ProductRoot(ProductNode($0)) }
  }

  /// Saves, and says how many bytes were written.
  @discardableResult
  func save() async throws -> Int {
    let report = try await keeper.save(nodes)
    guard report.outcome == .saved else { throw WorkloadError(report.description) }
    return report.writtenByteCount
  }

  /// Changes one node, and saves.
  @discardableResult
  func change(_ number: Int) async throws -> Int {
    nodes[number % nodes.count].node.restock()
    return try await save()
  }

  func restore() async throws -> [Product] {
    nodes = nodes.map { ProductRoot(ProductNode(identifier: $0.node.product.identifier)) }
    let report = try await keeper.restore(into: nodes)
    guard report.outcome == .restored else { throw WorkloadError(report.description) }
    return nodes.map(\.node.product)
  }
}
