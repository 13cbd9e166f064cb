internal import Foundation
internal import Peers
internal import Tables
internal import Workload

/// Hundreds of small states, each in a file of its own, against as many files of sealed JSON.
enum SmallStateRows {
  private static let unit = "µs per state"
  private static let files = "files of JSON + ChaChaPoly"

  static func measure(_ noise: inout Noise) async throws -> [Row] {
    var rows: [Row] = []
    for (nodeCount, stateCount, restoring) in [(1, 1_000, 0.25), (10, 400, 1), (50, 200, 2)] {
      rows += try await measure(
        nodeCount: nodeCount, stateCount: stateCount, restoring: .atLeast(restoring), &noise)
    }
    rows += try await inMemory(&noise, calledOn: "the main actor")
    return rows + (try await inMemoryOnNoActor(&noise))
  }

  /// As a server calls, so that no call changes threads.
  @concurrent
  private static func inMemoryOnNoActor(_ noise: inout Noise) async throws -> [Row] {
    try await inMemory(&noise, calledOn: "no actor")
  }

  private static func inMemory(
    _ noise: inout Noise, calledOn actor: String
  ) async throws -> [Row] {
    [
      try await restoreFromMemory(&noise, calledOn: actor),
      try await changeInMemory(&noise, calledOn: actor),
    ]
  }

  private static func restoreFromMemory(
    _ noise: inout Noise, calledOn actor: String
  ) async throws -> Row {
    let pages = Catalog(productCount: 200).products.map { [$0] }
    let states = try SmallStates(inMemory: pages)
    try await states.save()
    guard try await states.restore() == pages else {
      throw WorkloadError("what is restored is not what was saved")
    }
    let contest = try await Contest([.init(nodeCount: pages.count) { try await states.restore() }])
    return contest.row(
      "Restore states of 1 node from memory, called on \(actor), processor time, \(unit)",
      by: \.processor, bound: 60,
      goal: "≤ 60 µs", &noise)
  }

  private static func changeInMemory(
    _ noise: inout Noise, calledOn actor: String
  ) async throws -> Row {
    let (keeperCount, nodeCount) = (1_000, 10)
    let products = Catalog(productCount: keeperCount * nodeCount).products
    let states = try SmallStates(
      inMemory: stride(from: 0, to: products.count, by: nodeCount).map {
        Array(products[$0..<$0 + nodeCount])
      })
    try await states.save()
    let contest = try await Contest([
      .init(nodeCount: keeperCount, preparing: states.change) {
        try await states.saveChanges(closing: false)
      }
    ])
    return contest.row(
      "Save 1 changed node of states of 10 nodes, one of 1,000 keepers in memory, called on \(actor),"
        + " processor time, \(unit)", by: \.processor, bound: 60, goal: "≤ 60 µs", &noise)
  }

  private static func measure(
    nodeCount: Int, stateCount: Int, restoring goal: Goal, _ noise: inout Noise
  ) async throws -> [Row] {
    let directory = try TemporaryDirectory()
    defer { directory.remove() }
    let products = Catalog(productCount: nodeCount * stateCount).products
    let pages = stride(from: 0, to: products.count, by: nodeCount).map {
      Array(products[$0..<$0 + nodeCount])
    }
    let ours = try SmallStates(pages) { directory.path("ours/\($0.identifier)") }
    let json = try JSONFilesPeer(pages) { directory.path("json/\($0.identifier)") }
    try await ours.save()
    try json.save()
    guard try await ours.restore() == pages, try json.restore() == pages else {
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
    let nodes = nodeCount == 1 ? "1 node" : "\(nodeCount) nodes"
    return [
      saving.row(
        "Save states of \(nodes), against \(files)", unit: unit, against: 1,
        goal: .atLeast(0.95), waitsForDisk: true, &noise),
      saving.row(
        "Save states of \(nodes), against \(files), processor time", unit: unit,
        by: \.processor, against: 1, goal: .atLeast(0.7), &noise),
      restoring.row(
        "Restore states of \(nodes), against \(files)", unit: unit, against: 1, goal: goal,
        waitsForDisk: true, &noise),
      changing.row(
        "Save 1 changed node of states of \(nodes), against \(files)", unit: unit, against: 1,
        goal: .atLeast(1.4), waitsForDisk: true, &noise),
      changing.row(
        "Save 1 changed node of states of \(nodes), against \(files), processor time", unit: unit,
        by: \.processor, against: 1, goal: .none, &noise),
    ]
  }
}
