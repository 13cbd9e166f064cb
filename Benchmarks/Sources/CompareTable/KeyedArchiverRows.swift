internal import Peers
internal import Tables
internal import Workload

/// NSKeyedArchiver, for orientation: on Linux its time grows with the square.
enum KeyedArchiverRows {
  private static let nodeCount = 300

  static func measure(_ noise: inout Noise) async throws -> [Row] {
    let catalog = Catalog(productCount: nodeCount)
    let kept = try KeptCatalog(catalog)
    try await kept.save()
    let archiver = KeyedArchiverPeer(catalog)
    try archiver.encode()
    guard try archiver.decode() == nodeCount else {
      throw WorkloadError("NSKeyedUnarchiver does not read what NSKeyedArchiver wrote")
    }
    let saving = try await Contest(
      rounds: 3,
      [
        .init(nodeCount: nodeCount, preparing: kept.startAnew) { try await kept.save() },
        .init(nodeCount: nodeCount) { try archiver.encode() },
      ])
    let restoring = try await Contest(
      rounds: 3,
      [
        .init(nodeCount: nodeCount) { try await kept.restore() },
        .init(nodeCount: nodeCount) { _ = try archiver.decode() },
      ])
    return [
      saving.row(
        "Save \(nodeCount) nodes, against NSKeyedArchiver, not sealed", against: 1, goal: .none,
        &noise),
      restoring.row(
        "Restore \(nodeCount) nodes, against NSKeyedUnarchiver, not sealed", against: 1,
        goal: .none, &noise),
    ]
  }
}
