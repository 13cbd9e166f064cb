internal import RestorationKit
internal import Synchronization

extension RemoteStoreConformance {
  /// Names of states, of what is set aside, and what an app may call one.
  ///
  /// Some differ only for those who compare bytes: in upper case, in the spelling of a
  /// character, by a space at the end, as patterns of SQL.
  private static let names = [
    "main", "Main", "main ", " main", "main2", "main~2", "main.scene-7d4b8f9e", "main.scenes",
    "Größe", "Gro\u{308}ße", "e", "e\u{301}", "é", "写真", "👩🏽‍🚀", "\u{FEFF}main",
    "%", "_", "\\", "a%b", "a_b", "axb", "a\\b", "a\\\\b", "'", "\"", "a'b", "a\"b", "`", "$1",
    "?", "*", ";--", "/", "a/b", "a/../b", "..", ".", "-", "a b", "a+b", "%61", "&amp;", "null",
    "0", "00", String(repeating: "n", count: 254), String(repeating: "n", count: 255),
    String(repeating: "n", count: 254) + "m", String(repeating: "ö", count: 127) + "n",
  ]

  static let naming = [
    StoreCheck("everyNameIsAPlace", "Every name has a state of its own, told apart by its bytes.") {
      let store = try await $0()
      var versions: [RemoteVersion] = []
      for (number, name) in names.enumerated() {
        try await store.expectStored(nil, as: name, "Before it was stored, “\(name)”:")
        versions.append(try await store.store(.sample(number), as: name))
      }
      for (number, name) in names.enumerated() {
        try await store.expectStored(
          .sample(number), at: versions[number], as: name, "Of all, “\(name)”:")
      }
      try await store.expectNames(names, prefix: "", "Of all,")
      for (number, name) in names.enumerated() where number.isMultiple(of: 2) {
        try await store.clear(versions[number], of: name)
      }
      for (number, name) in names.enumerated() {
        let left: [UInt8]? = number.isMultiple(of: 2) ? nil : .sample(number)
        try await store.expectStored(left, as: name, "With half of them removed, “\(name)”:")
      }
    },
    StoreCheck("prefixesAreBytes", "Names are found by the bytes that they begin with.") {
      let store = try await $0()
      try await store.expectNames([], prefix: "", "In an empty store")
      for (number, name) in names.enumerated() {
        _ = try await store.store(.sample(number), as: name)
      }
      let prefixes = names + ["m", "ma", "a", "a%", "a_", "nothing", "main.s", "%%", "__", "Gr"]
      for prefix in prefixes {
        let expected = names.filter { $0.utf8.starts(with: prefix.utf8) }
        try await store.expectNames(expected, prefix: prefix, "For “\(prefix)”")
      }
    },
  ]

  static let sharing = [
    StoreCheck("openedStoresAreOne", "Whoever opens the store sees what others have written.") {
      let (one, other) = (try await $0(), try await $0())
      try await other.expectStored(nil, "At first")
      let first = try await one.store(.sample(1))
      try await other.expectStored(.sample(1), at: first, "Stored by the other one,")
      let second = try await other.extend(first, by: .sample(2))
      try await one.expectStored(.sample(1) + .sample(2), at: second, "Appended by the other one,")
      try await one.expectRefused(first, "With the version before that of the other one,")
      let third = try await one.update(second, with: .sample(3))
      try await other.expectStored(.sample(3), at: third, "Replaced by the other one,")
      try await other.clear(third)
      try await one.expectStored(nil, "Removed by the other one,")
      try await one.expectNames([], prefix: "", "Removed by the other one,")
    },
    StoreCheck("oneOfManyStores", "Of those who store the first state at once, one does.") { open in
      try await race(open) { store, round, bytes in
        try await store.replace("state \(round)", with: bytes, expecting: nil)
      } check: { store, round, winner, version in
        try await store.expectStored(
          .sample(winner), at: version, as: "state \(round)", "With one answer that is no refusal,")
      }
    },
    StoreCheck("oneOfManyReplaces", "Of those who replace one version at once, one does.") { open in
      let first = Mutex(try await open().store(.sample(50)))
      try await race(open) { store, _, bytes in
        try await store.replace(checkedName, with: bytes, expecting: first.withLock { $0 })
      } check: { store, _, winner, version in
        try await store.expectStored(
          .sample(winner), at: version, "With one answer that is no refusal,")
        first.withLock { $0 = version }
      }
    },
    StoreCheck("oneOfManyAppends", "Of those who append to one version at once, one does.") {
      open in
      let first = Mutex((bytes: [UInt8].sample(50), version: try await open().store(.sample(50))))
      try await race(open) { store, _, bytes in
        try await store.append(bytes, to: checkedName, expecting: first.withLock { $0.version })
      } check: { store, _, winner, version in
        let all = first.withLock { $0.bytes } + .sample(winner)
        try await store.expectStored(all, at: version, "With one answer that is no refusal,")
        first.withLock { $0 = (all, version) }
      }
    },
    StoreCheck("oneOfManyRemoves", "Of those who remove one version at once, one does.") { open in
      let stored = Mutex(try await open().store(.sample(50)))
      try await race(open) { store, _, _ in
        let version = stored.withLock { $0 }
        return try await store.remove(checkedName, expecting: version) ? version : nil
      } check: { store, _, _, _ in
        try await store.expectStored(nil, "Afterwards")
        let next = try await store.store(.sample(50))
        stored.withLock { $0 = next }
      }
    },
    StoreCheck("loadIsOfOneMoment", "What is loaded during writes is one state and its version.") {
      let (writer, readers) = (try await $0(), [try await $0(), try await $0(), try await $0()])
      var version = try await writer.store(.growing(0))
      var written = [version: 0]
      let seen = Mutex<Set<RemoteState>>([])
      // Neither side ends before the other one has done its share.
      let share = 50
      let writeCount = Atomic(0)
      let readingCount = Atomic(readers.count)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for reader in readers {
          group.addTask { @Sendable in
            defer { readingCount.subtract(1, ordering: .relaxed) }
            var loadCount = 0
            while loadCount < share || writeCount.load(ordering: .relaxed) < share {
              try Task.checkCancellation()
              let state = try require(try await reader.load(checkedName), "There was nothing.")
              seen.withLock { _ = $0.insert(state) }
              loadCount += 1
              // A store that never waits would keep the thread from the writer.
              await Task.yield()
            }
          }
        }
        var number = 0
        while number < share || readingCount.load(ordering: .relaxed) > 0 {
          number += 1
          version = try await writer.update(version, with: .growing(number))
          written[version] = number
          writeCount.store(number, ordering: .relaxed)
          await Task.yield()
        }
        try await group.waitForAll()
      }
      for state in seen.withLock({ $0 }) {
        let number = try require(
          written[state.version], "A version was loaded that no write has returned.")
        try expect(
          state.bytes == .growing(number), "The bytes that were loaded are not of their version.")
      }
    },
    StoreCheck(
      "cancelledCallsDoNoHarm",
      "After a call in a task that was cancelled, the store works, and has the old or the new state."
    ) {
      let stores = [try await $0(), try await $0()]
      var stored = RemoteState(bytes: .sample(0), version: try await stores[0].store(.sample(0)))
      for number in 1...20 {
        let (bytes, version) = ([UInt8].sample(number, count: 10_000), stored.version)
        let isReplaced = number.isMultiple(of: 2)
        await withTaskGroup(of: Void.self) { group in
          // At first before it begins, then later and later.
          if number <= 6 { group.cancelAll() }
          group.addTask {
            _ =
              isReplaced
              ? try? await stores[0].replace(checkedName, with: bytes, expecting: version)
              : try? await stores[0].append(bytes, to: checkedName, expecting: version)
          }
          for _ in 6..<max(7, number) { await Task.yield() }
          group.cancelAll()
        }
        stored = try await overwrite(
          [stored.bytes, isReplaced ? bytes : stored.bytes + bytes], in: stores,
          with: .sample(number))
      }
    },
  ]

  /// Lets eight at once do what only one may succeed in, several times.
  private static func race(
    _ open: () async throws -> any RemoteStateStore,
    _ write:
      @escaping @Sendable (_ store: any RemoteStateStore, _ round: Int, _ bytes: [UInt8])
      async throws -> RemoteVersion?,
    check:
      (_ store: any RemoteStateStore, _ round: Int, _ winner: Int, _ version: RemoteVersion)
      async throws -> Void
  ) async throws {
    var stores: [any RemoteStateStore] = []
    for _ in 0..<8 { stores.append(try await open()) }
    for round in 0..<roundCount {
      let winners = try await withThrowingTaskGroup(of: (Int, RemoteVersion)?.self) { group in
        for (number, store) in stores.enumerated() {
          group.addTask {
            try await write(store, round, .sample(number)).map { (number, $0) }
          }
        }
        return try await group.reduce(into: [(Int, RemoteVersion)]()) { winners, one in
          if let one { winners.append(one) }
        }
      }
      try expect(winners.count == 1, "Of eight at once, \(winners.count) were not refused.")
      try await check(stores[0], round, winners[0].0, winners[0].1)
    }
  }

  /// Stores bytes in place of one of those that are possible.
  ///
  /// A write that nobody waits for any more may take place late, but only once.
  private static func overwrite(
    _ possible: [[UInt8]], in stores: [any RemoteStateStore], with bytes: [UInt8]
  ) async throws -> RemoteState {
    for attempt in 0..<3 {
      let store = stores[attempt % stores.count]
      let found = try require(try await store.load(checkedName), "There was nothing.")
      try expect(
        possible.contains(found.bytes),
        "There were \(describe(found.bytes)), neither those before nor those after.")
      let new = try await store.replace(checkedName, with: bytes, expecting: found.version)
      guard let new else { continue }
      try await stores[1].expectStored(bytes, at: new, "Stored by the one with the cancelled call,")
      return RemoteState(bytes: bytes, version: new)
    }
    throw Observation("With the version that was loaded, replace was refused three times.")
  }
}

extension [UInt8] {
  /// More bytes for a larger number, within a bound.
  fileprivate static func growing(_ number: Int) -> [UInt8] {
    .sample(number, count: 1000 + number % 50 * 100)
  }
}

extension RemoteStateStore {
  /// Ends the check if there are other names, told apart by their bytes.
  func expectNames(_ expected: [String], prefix: String, _ moment: String) async throws {
    let found = try await names(prefix: prefix)
    let (foundBytes, expectedBytes) = (
      found.map { Array($0.utf8) }, expected.map { Array($0.utf8) }
    )
    try expect(Set(foundBytes).count == found.count, "\(moment) a name was listed twice.")
    for (name, bytes) in zip(expected, expectedBytes) {
      try expect(foundBytes.contains(bytes), "\(moment) “\(name)” was not listed.")
    }
    for (name, bytes) in zip(found, foundBytes) {
      try expect(expectedBytes.contains(bytes), "\(moment) “\(name)” was listed.")
    }
  }
}
