internal import ArchiveCodec
internal import Peers
internal import RestorationKit
internal import Tables
internal import Workload

/// The goals of the library, measured in one run of a minute or two.
enum GoalRows {
  private static let argument = "against sealed JSON"

  enum Part: String, CaseIterable {
    case saves, restores, small, changes, tracked, launch, windows
  }

  static func measure(_ part: Part, _ noise: inout Noise) async throws -> [Row] {
    switch part {
    case .saves: try await saves(&noise)
    case .restores: [try await restores(&noise)]
    case .small: try await small(&noise)
    case .changes: try await changes(&noise)
    case .tracked: [try await firstSaves(&noise)]
    case .launch: [try await LaunchRows.startOfProcess(goal: .atMost(1.18))]
    case .windows: try await windows(&noise)
    }
  }

  private static func saves(_ noise: inout Noise) async throws -> [Row] {
    let catalog = Catalog(productCount: 10_000)
    let (kept, json) = (try KeptCatalog(catalog), JSONPeer(catalog))
    let contest = try await Contest([
      .pausing(nodeCount: 10_000, preparing: kept.startAnew) { try await kept.save().pause },
      .init(nodeCount: 10_000) { try json.encodeAndSeal() },
    ])
    return [
      contest.row("Save 10,000 nodes, \(argument)", against: 1, goal: .atLeast(8), &noise),
      contest.row(
        "Save 10,000 nodes, \(argument), pause", by: \.pause, against: 1, goal: .atLeast(11),
        &noise),
    ]
  }

  private static func restores(_ noise: inout Noise) async throws -> Row {
    let catalog = Catalog(productCount: 10_000)
    let (kept, json) = (try KeptCatalog(catalog), JSONPeer(catalog))
    try await kept.save()
    try json.encodeAndSeal()
    guard try await kept.restore().catalog == catalog else {
      throw WorkloadError("what is restored is not what was saved")
    }
    let contest = try await Contest([
      .init(nodeCount: 10_000) { try await kept.restore() },
      .init(nodeCount: 10_000) { _ = try json.openAndDecode() },
    ])
    return contest.row(
      "Restore 10,000 nodes, \(argument)", against: 1, goal: .atLeast(4.2), &noise)
  }

  private struct SmallGoals {
    let (nodeCount, stateCount): (Int, Int)
    let (restore, save, change): (Double, Double, Double)
  }

  private static func small(_ noise: inout Noise) async throws -> [Row] {
    var rows: [Row] = []
    for goals in [
      SmallGoals(nodeCount: 1, stateCount: 60, restore: 0.15, save: 0.5, change: 2.2),
      SmallGoals(nodeCount: 10, stateCount: 40, restore: 0.65, save: 0.75, change: 2.5),
      SmallGoals(nodeCount: 50, stateCount: 30, restore: 1.7, save: 0.95, change: 3.2),
    ] {
      rows += try await small(goals, &noise)
    }
    return rows
  }

  private static func small(_ goals: SmallGoals, _ noise: inout Noise) async throws -> [Row] {
    let directory = try TemporaryDirectory()
    defer { directory.remove() }
    let (nodeCount, stateCount) = (goals.nodeCount, goals.stateCount)
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
    let restoring = try await Contest([
      .init(nodeCount: stateCount) { try await ours.restore() },
      .init(nodeCount: stateCount) { try json.restore() },
    ])
    let saving = try await Contest([
      .init(nodeCount: stateCount, preparing: ours.startAnew) { try await ours.save() },
      .init(nodeCount: stateCount, preparing: json.startAnew) { try json.save() },
    ])
    ours.change()
    try await ours.saveChanges(closing: false)
    let changing = try await Contest([
      .init(nodeCount: stateCount, preparing: ours.change) {
        try await ours.saveChanges(closing: false)
      },
      .init(nodeCount: stateCount) { try json.save() },
    ])
    await ours.close()
    return [
      restoring.row(
        "Restore \(nodeCount), \(argument)", unit: "µs", against: 1, goal: .atLeast(goals.restore),
        waitsForDisk: true, &noise),
      saving.row(
        "First save of \(nodeCount), \(argument), processor time", unit: "µs", by: \.processor,
        against: 1, goal: .atLeast(goals.save), &noise),
      changing.row(
        "Save a change of \(nodeCount), open, \(argument)", unit: "µs", against: 1,
        goal: .atLeast(goals.change), waitsForDisk: true, &noise),
    ]
  }

  private static func changes(_ noise: inout Noise) async throws -> [Row] {
    let temporary = try TemporaryDirectory()
    defer { temporary.remove() }
    let directory = CountingDirectory(FileStateDirectory(path: temporary.path("state")))
    let catalog = try TrackedCatalog(
      productCount: 100_000, in: directory, try ArchiveKey())
    try await catalog.saveFirst()
    let cost = try await ChangeRows.Cost(ofSaving: 1, catalog, directory.counted)
    let plain = try PlainFile(
      path: temporary.path("plain"), byteCount: try directory.counted.byteCount,
      commitByteCount: cost.byteCount)
    let contest = try await Contest([
      .pausing(nodeCount: 1) {
        catalog.change(1)
        try await catalog.save()
        return catalog.pause
      },
      .init { try plain.append() },
    ])
    let pause = try await Contest([
      .pausing(nodeCount: 1) {
        catalog.change(1)
        try await catalog.save()
        return catalog.pause
      }
    ])
    let none = try await ChangeRows.none(catalog, directory.counted, bound: 5, &noise)
    await catalog.close()
    let (bytes, calls) = (Double(cost.byteCount), Double(cost.synchronizeCount))
    let what = "1 changed of 100,000"
    return [
      contest.row(
        "\(what), against pwrite + fdatasync, processor time", unit: "µs", by: \.processor,
        against: 1, goal: .atMost(2.6), &noise),
      pause.row("\(what), pause, µs", by: \.pause, bound: 25, goal: "≤ 25 µs", &noise),
      Row("\(what), bytes", ours: bytes, bound: 345, goal: "≤ 345", met: bytes <= 345),
      Row("\(what), calls of fdatasync", ours: calls, bound: 1, goal: "1", met: calls == 1),
      none,
    ]
  }

  private static func firstSaves(_ noise: inout Noise) async throws -> Row {
    let temporary = try TemporaryDirectory()
    defer { temporary.remove() }
    let (directory, keys) = (
      FileStateDirectory(path: temporary.path("state")), try ArchiveKey()
    )
    var catalog: TrackedCatalog?
    let contest = try await Contest([
      .init(
        nodeCount: 10_000,
        preparing: {
          await catalog?.close()
          catalog = nil
          try directory.storage(named: "main").remove()
          catalog = try TrackedCatalog(productCount: 10_000, in: directory, keys)
        }
      ) { try await catalog?.saveFirst() }
    ])
    await catalog?.close()
    return contest.row(
      "First save of 10,000 nodes that say when they change, µs per node", bound: 1.45,
      goal: "≤ 1.45 µs", &noise)
  }

  private static func windows(_ noise: inout Noise) async throws -> [Row] {
    let temporary = try TemporaryDirectory()
    defer { temporary.remove() }
    let (windowCount, nodeCount) = (20, 10)
    let products = Catalog(productCount: nodeCount * windowCount).products
    let pages = stride(from: 0, to: products.count, by: nodeCount).map {
      Array(products[$0..<$0 + nodeCount])
    }
    let ours = WindowStates(
      pages, in: FileStateDirectory(path: temporary.path("windows")),
      try ArchiveKey())
    let json = try JSONFilesPeer(pages) { temporary.path("json/\($0.identifier)") }
    let alone = try SmallStates([pages[0]]) { temporary.path("alone/\($0.identifier)") }
    try await ours.save()
    try json.save()
    try await alone.save()
    guard Set(try await ours.restore()) == Set(pages) else {
      throw WorkloadError("what is restored is not what was saved")
    }
    let starting = try await Contest([
      .init(preparing: ours.close) { try await ours.restore() },
      .init { try json.restore() },
    ])
    alone.change()
    try await alone.saveChanges(closing: false)
    let changing = try await Contest([
      .init { try await ours.saveChange() },
      .init(preparing: alone.change) { try await alone.saveChanges(closing: false) },
    ])
    await ours.close()
    await alone.close()
    return [
      starting.row(
        "Start of a host with 20 windows, against 20 files of JSON", unit: "µs", against: 1,
        goal: .atLeast(3), waitsForDisk: true, &noise),
      changing.row(
        "Save one of 20 windows that has changed, against a keeper's save", unit: "µs",
        against: 1, goal: .atMost(1.3), waitsForDisk: true, &noise),
    ]
  }
}
