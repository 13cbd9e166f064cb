internal import ArchiveCodec
internal import RestorationKit
internal import Tables
internal import Workload

/// Saves of what has changed since the last save, to a file.
enum ChangeRows {
  private static let nodeCount = 100_000
  private static let plainFile = "against pwrite + fdatasync of as many bytes, processor time"

  static func measure(_ noise: inout Noise) async throws -> [Row] {
    let temporary = try TemporaryDirectory()
    defer { temporary.remove() }
    let directory = CountingDirectory(FileStateDirectory(path: temporary.path("state")))
    let keys = try ArchiveKey()
    let rows = try await changes(directory, keys, temporary, &noise)
    return rows + [
      try await firstSave(directory, keys, temporary, &noise),
      try await oneWhileKept(keys, temporary, &noise),
    ]
  }

  private static func changes(
    _ directory: CountingDirectory, _ keys: ArchiveKey, _ temporary: TemporaryDirectory,
    _ noise: inout Noise
  ) async throws -> [Row] {
    let catalog = try TrackedCatalog(productCount: nodeCount, in: directory, keys)
    try await catalog.saveFirst()
    let rows =
      try await one(catalog, directory.counted, temporary, &noise)
      + [
        try await hundred(catalog, directory.counted, temporary, &noise),
        try await none(catalog, directory.counted, bound: 15, &noise),
      ]
    await catalog.close()
    let restored = try await TrackedCatalog.restored(from: directory, keys)
    guard restored.products == catalog.products else {
      throw WorkloadError("what is restored is not what was saved")
    }
    await restored.close()
    return rows
  }

  private static func one(
    _ catalog: TrackedCatalog, _ storage: CountingStorage, _ temporary: TemporaryDirectory,
    _ noise: inout Noise
  ) async throws -> [Row] {
    let what = "Save 1 changed node of 100,000"
    let cost = try await Cost(ofSaving: 1, catalog, storage)
    let plain = try PlainFile(
      path: temporary.path("plain-1"), byteCount: try storage.byteCount,
      commitByteCount: cost.byteCount)
    let contestants: [Contest.Contestant] = [
      .init {
        catalog.change(1)
        try await catalog.save()
      },
      .init { try plain.append() },
    ]
    let contest = try await Contest(contestants)
    let (byteCount, callCount) = (Double(cost.byteCount), Double(cost.synchronizeCount))
    let rows = [
      contest.row(
        "\(what), \(plainFile)", unit: "µs", by: \.processor, against: 1, goal: .atMost(1.5),
        &noise),
      Row("\(what), bytes", ours: byteCount, bound: 400, goal: "≤ 400", met: byteCount <= 400),
      Row("\(what), calls of fdatasync", ours: callCount, bound: 1, goal: "1", met: callCount == 1),
    ]
    return rows
  }

  private static func hundred(
    _ catalog: TrackedCatalog, _ storage: CountingStorage, _ temporary: TemporaryDirectory,
    _ noise: inout Noise
  ) async throws -> Row {
    let cost = try await Cost(ofSaving: 100, catalog, storage)
    let plain = try PlainFile(
      path: temporary.path("plain-100"), byteCount: try storage.byteCount,
      commitByteCount: cost.byteCount)
    let contest = try await Contest([
      .init {
        catalog.change(100)
        try await catalog.save()
      },
      .init { try plain.append() },
    ])
    return contest.row(
      "Save 100 changed nodes of 100,000, \(plainFile)", unit: "µs", by: \.processor, against: 1,
      goal: .none, &noise)
  }

  static func none(
    _ catalog: TrackedCatalog, _ storage: CountingStorage, bound: Double, _ noise: inout Noise
  ) async throws -> Row {
    let before = (try storage.byteCount, storage.synchronizeCount)
    let contest = try await Contest([
      .init {
        guard try await catalog.save() == 0 else {
          throw WorkloadError("what is stored is written")
        }
      }
    ])
    guard before == (try storage.byteCount, storage.synchronizeCount) else {
      throw WorkloadError("a save of nothing has written something")
    }
    return contest.row(
      "Save 100,000 nodes of which none changed, µs", bound: bound,
      goal: "≤ \(bound.asNumber) µs, no write", &noise)
  }

  /// Such a save asks all nodes, since nobody in this process knows what they have written.
  private static func firstSave(
    _ directory: CountingDirectory, _ keys: ArchiveKey, _ temporary: TemporaryDirectory,
    _ noise: inout Noise
  ) async throws -> Row {
    let empty = FileStateDirectory(path: temporary.path("empty"))
    var restored: TrackedCatalog?
    var unsaved: TrackedCatalog?
    let contest = try await Contest(
      rounds: 5,
      [
        .init(preparing: {
          await restored?.close()
          restored = nil
          restored = try await TrackedCatalog.restored(from: directory, keys)
          restored?.change(1)
        }) {
          try await restored?.saveRestored()
        },
        .init(preparing: {
          await unsaved?.close()
          unsaved = nil
          try empty.storage(named: "main").remove()
          unsaved = try TrackedCatalog(productCount: nodeCount, in: empty, keys)
        }) {
          try await unsaved?.saveFirst()
        },
      ])
    return contest.row(
      "Save 100,000 nodes for the first time after a restore, 1 of them changed, against saving "
        + "them with a new keeper, processor time", unit: "µs", by: \.processor, against: 1,
      goal: .none, &noise)
  }

  /// What is kept of an older version of the app must not make saves ask everything.
  private static func oneWhileKept(
    _ keys: ArchiveKey, _ temporary: TemporaryDirectory, _ noise: inout Noise
  ) async throws -> Row {
    func catalog(isKeeping: Bool) async throws -> TrackedCatalog {
      let directory = FileStateDirectory(path: temporary.path(isKeeping ? "keeping" : "whole"))
      let saved = try TrackedCatalog(productCount: nodeCount, in: directory, keys)
      try await isKeeping ? saved.saveWithUnknownScreen() : saved.saveFirst()
      await saved.close()
      let restored = try await TrackedCatalog.restored(from: directory, keys)
      restored.change(1)
      try await restored.saveRestored()
      restored.change(1)
      try await restored.save()
      guard restored.keptCount == (isKeeping ? 1 : 0) else {
        throw WorkloadError("\(restored.keptCount) screens are kept")
      }
      return restored
    }
    let keeping = try await catalog(isKeeping: true)
    let whole = try await catalog(isKeeping: false)
    let contest = try await Contest([
      .init {
        keeping.change(1)
        try await keeping.save()
      },
      .init {
        whole.change(1)
        try await whole.save()
      },
    ])
    return contest.row(
      "Save 1 changed node of 100,000 while a node is kept that is not back, against the same "
        + "without one, processor time", unit: "µs", by: \.processor, against: 1,
      goal: .atMost(1.1), &noise)
  }

  /// What a save of so many changed nodes does to the file.
  struct Cost {
    let byteCount: Int
    let synchronizeCount: Int

    init(
      ofSaving count: Int, _ catalog: TrackedCatalog, _ storage: CountingStorage
    ) async throws {
      let before = (bytes: try storage.byteCount, calls: storage.synchronizeCount)
      catalog.change(count)
      let writtenByteCount = try await catalog.save()
      byteCount = try storage.byteCount - before.bytes
      synchronizeCount = storage.synchronizeCount - before.calls
      guard writtenByteCount == byteCount else {
        throw WorkloadError("\(writtenByteCount) bytes are reported, but \(byteCount) written")
      }
    }
  }
}
