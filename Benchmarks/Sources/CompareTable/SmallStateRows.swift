internal import Foundation
internal import Peers
internal import Tables
internal import Workload

/// A thousand states of one node, each in a file of its own, against as many files
/// of sealed JSON.
enum SmallStateRows {
  private static let stateCount = 1_000
  private static let unit = "µs per state"

  static func measure(_ noise: inout Noise) async throws -> [Row] {
    let directory = try TemporaryDirectory()
    defer { directory.remove() }
    let products = Catalog(productCount: stateCount).products
    let ours = try SmallStates(products) { directory.path("ours/\($0.identifier)") }
    let json = try JSONFilesPeer(products) { directory.path("json/\($0.identifier)") }
    try await ours.save()
    try json.save()
    guard try await ours.restore() == products, try json.restore() == products else {
      throw WorkloadError("what is restored is not what was saved")
    }
    let saving = try await Contest([
      .init(nodeCount: stateCount, preparing: ours.startAnew) { try await ours.save() },
      .init(nodeCount: stateCount, preparing: json.startAnew) { try json.save() },
    ])
    let restoring = try await Contest([
      .init(nodeCount: stateCount) { try await ours.restore() },
      .init(nodeCount: stateCount) { try json.restore() },
    ])
    let changing = try await Contest([
      .init(nodeCount: stateCount, preparing: ours.change) { try await ours.saveChanges() },
      .init(nodeCount: stateCount) { try json.save() },
    ])
    let files = "files of JSON + ChaChaPoly"
    return [
      saving.row(
        "Save 1,000 states of 1 node, against \(files)", unit: unit, against: 1, goal: .none,
        waitsForDisk: true, &noise),
      saving.row(
        "Save 1,000 states of 1 node, against \(files), processor time", unit: unit,
        by: \.processor, against: 1, goal: .none, &noise),
      restoring.row(
        "Restore 1,000 states of 1 node, against \(files)", unit: unit, against: 1, goal: .none,
        waitsForDisk: true, &noise),
      changing.row(
        "Save 1,000 states of 1 changed node, against \(files)", unit: unit, against: 1,
        goal: .none,
        waitsForDisk: true, &noise),
      changing.row(
        "Save 1,000 states of 1 changed node, against \(files), processor time", unit: unit,
        by: \.processor, against: 1, goal: .none, &noise),
    ]
  }
}
