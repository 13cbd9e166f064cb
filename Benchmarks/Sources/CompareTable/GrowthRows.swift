internal import Tables
internal import Workload

/// The time per node in a tree of a million, against one of ten thousand.
enum GrowthRows {
  static func measure(_ noise: inout Noise) async throws -> [Row] {
    let small = try KeptCatalog(Catalog(productCount: 10_000))
    let large = try KeptCatalog(Catalog(productCount: 1_000_000))
    let saving = try await Contest(
      rounds: 5, sampleTime: 1,
      [
        .init(nodeCount: 1_000_000, preparing: large.startAnew) { try await large.save() },
        .init(nodeCount: 10_000, preparing: small.startAnew) { try await small.save() },
      ])
    let restoring = try await Contest(
      rounds: 5, sampleTime: 1,
      [
        .init(nodeCount: 1_000_000) { try await large.restore() },
        .init(nodeCount: 10_000) { try await small.restore() },
      ])
    return [
      saving.row(
        "Save 1,000,000 nodes, against 10,000", against: 1, goal: .atMost(1.25), &noise),
      restoring.row(
        "Restore 1,000,000 nodes, against 10,000", against: 1, goal: .atMost(1.25), &noise),
    ]
  }
}
