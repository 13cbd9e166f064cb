internal import RestorationSharing
internal import RestorationTesting
internal import Synchronization

extension RemoteStoreConformance {
  static let sharing = [
    StoreCheck("openedStoresAreOne", "Whoever opens the store sees what others have written.") {
      let stores = [try await $0(), try await $0()]
      for round in 0..<4 {
        let (one, other) = (stores[round % 2], stores[1 - round % 2])
        try await other.expectStored(nil, "Before it was stored")
        try await other.expectNames([], prefix: "", "Before it was stored")
        let first = try await one.store(.sample(1))
        try await other.expectStored(.sample(1), at: first, "Stored by the other one,")
        try await other.expectNames([checkedName], prefix: "", "Stored by the other one,")
        let second = try await other.extend(first, by: .sample(2))
        let both = [UInt8].sample(1) + .sample(2)
        try await one.expectStored(both, at: second, "Appended by the other one,")
        try await one.expectRefused(first, "With the version before that of the other one,")
        let third = try await one.update(second, with: .sample(3))
        try await other.expectStored(.sample(3), at: third, "Replaced by the other one,")
        try await other.clear(third)
        try await one.expectStored(nil, "Removed by the other one,")
        try await one.expectNames([], prefix: "", "Removed by the other one,")
      }
    },
    StoreCheck("oneOfManyStores", "Of those who store the first state at once, one does.") { open in
      try await race(open) { store, round, number in
        try await store.replace("state \(round)", with: .sample(number), expecting: nil)
      } check: { store, round, winner, version in
        try await store.expectStored(
          .sample(winner), at: version, as: "state \(round)", "With one answer that is no refusal,")
      }
    },
    StoreCheck("oneOfManyReplaces", "Of those who replace one version at once, one does.") { open in
      let first = Mutex(try await open().store(.sample(50)))
      try await race(open) { store, _, number in
        try await store.replace(
          checkedName, with: .sample(number), expecting: first.withLock { $0 })
      } check: { store, _, winner, version in
        try await store.expectStored(
          .sample(winner), at: version, "With one answer that is no refusal,")
        first.withLock { $0 = version }
      }
    },
    StoreCheck("oneOfManyAppends", "Of those who append to one version at once, one does.") {
      open in
      let first = Mutex((bytes: [UInt8].sample(50), version: try await open().store(.sample(50))))
      try await race(open) { store, _, number in
        try await store.append(
          .sample(number), to: checkedName, expecting: first.withLock { $0.version })
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
    StoreCheck(
      "oneOfManyChanges", "Of those who replace, append and remove one version at once, one does."
    ) { open in
      let version = try await open().store(.sample(50))
      let stored = Mutex(RemoteState(bytes: .sample(50), version: version))
      try await race(open) { store, round, number in
        let (bytes, version) = ([UInt8].sample(number), stored.withLock { $0.version })
        switch (round + number) % 3 {
        case 0: return try await store.replace(checkedName, with: bytes, expecting: version)
        case 1: return try await store.append(bytes, to: checkedName, expecting: version)
        default: return try await store.remove(checkedName, expecting: version) ? version : nil
        }
      } check: { store, round, winner, version in
        let before = stored.withLock { $0.bytes }
        let results = [.sample(winner), before + .sample(winner), nil]
        let result = results[(round + winner) % 3]
        try await store.expectStored(result, at: version, "With one answer that is no refusal,")
        let next = result == nil ? try await store.store(.sample(50)) : version
        stored.withLock { $0 = RemoteState(bytes: result ?? .sample(50), version: next) }
      }
    },
    StoreCheck("loadIsOfOneMoment", "What is loaded during writes is one state and its version.") {
      open in
      try await readDuringWrites(open, to: checkedName) { writer, number, state in
        let bytes = [UInt8].growing(number)
        guard let state else {
          return RemoteState(bytes: bytes, version: try await writer.store(bytes))
        }
        guard number.isMultiple(of: 3) else {
          let version = try await writer.extend(state.version, by: bytes)
          return RemoteState(bytes: state.bytes + bytes, version: version)
        }
        let version = try await writer.update(state.version, with: bytes)
        return RemoteState(bytes: bytes, version: version)
      }
      try await readDuringWrites(open, to: "other", mayBeGone: true) { writer, number, state in
        if let state {
          try await writer.clear(state.version, of: "other")
          return nil
        }
        let version = try await writer.store(.growing(number), as: "other")
        return RemoteState(bytes: .growing(number), version: version)
      }
    },
    StoreCheck(
      "cancelledCallsDoNoHarm",
      "After a call in a task that was cancelled, the store works, and has the old or the new state."
    ) {
      let stores = [try await $0(), try await $0()]
      var stored = RemoteState(bytes: .sample(0), version: try await stores[0].store(.sample(0)))
      for number in 1...24 {
        let (bytes, version) = ([UInt8].sample(number, count: 10_000), stored.version)
        await withTaskGroup(of: Void.self) { group in
          // The first calls are cancelled before they begin, the others later and later.
          if number <= 6 { group.cancelAll() }
          group.addTask {
            switch number % 3 {
            case 0: _ = try? await stores[0].replace(checkedName, with: bytes, expecting: version)
            case 1: _ = try? await stores[0].append(bytes, to: checkedName, expecting: version)
            default: _ = try? await stores[0].remove(checkedName, expecting: version)
            }
          }
          for _ in 6..<max(7, number) { await Task.yield() }
          group.cancelAll()
        }
        let results = [bytes, stored.bytes + bytes, nil]
        stored = try await overwrite(
          [stored.bytes, results[number % 3]], in: stores, with: .sample(number))
      }
    },
  ]

  /// Lets eight callers at once do a write in which only one may succeed, several times.
  private static func race(
    _ open: () async throws -> any RemoteStateStore,
    _ write:
      @escaping @Sendable (_ store: any RemoteStateStore, _ round: Int, _ number: Int)
      async throws -> RemoteVersion?,
    check:
      (_ store: any RemoteStateStore, _ round: Int, _ winner: Int, _ version: RemoteVersion)
      async throws -> Void
  ) async throws {
    let stores = try await openEight(open)
    for round in 0..<roundCount {
      let answers = try await atOnce(stores) { number, store in
        try await write(store, round, number).map { (number, $0) }
      }
      let winners = answers.compactMap(\.self)
      try expect(winners.count == 1, "Of eight at once, \(winners.count) were not refused.")
      try await check(stores[0], round, winners[0].0, winners[0].1)
    }
  }

  /// Reads while another store writes, and ends the check if a read gives bytes that
  /// were never stored.
  private static func readDuringWrites(
    _ open: () async throws -> any RemoteStateStore, to name: String, mayBeGone: Bool = false,
    _ write:
      (_ writer: any RemoteStateStore, _ number: Int, _ state: RemoteState?)
      async throws -> RemoteState?
  ) async throws {
    let (writer, readers) = (
      try await open(), [try await open(), try await open(), try await open()]
    )
    var state = try await write(writer, 0, nil)
    var written = Set([state])
    let seen = Mutex<Set<RemoteState?>>([])
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
            let state = try await reader.load(name)
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
        state = try await write(writer, number, state)
        written.insert(state)
        writeCount.store(number, ordering: .relaxed)
        await Task.yield()
      }
      try await group.waitForAll()
    }
    let versions = Set(written.map(\.?.version))
    for state in seen.withLock({ $0 }) where !written.contains(state) {
      try expect(mayBeGone || state != nil, "There was nothing.")
      try expect(
        versions.contains(state?.version), "A version was loaded that no write has returned.")
      throw Observation("The bytes that were loaded are not of their version.")
    }
  }

  /// Replaces one of the possible contents, or nothing.
  ///
  /// A write that nobody waits for any more may take place late, but only once.
  private static func overwrite(
    _ possible: [[UInt8]?], in stores: [any RemoteStateStore], with bytes: [UInt8]
  ) async throws -> RemoteState {
    for attempt in 0..<3 {
      let store = stores[attempt % stores.count]
      let found = try await store.load(checkedName)
      try expect(
        possible.contains(found?.bytes),
        "It had \(describe(found?.bytes)), neither what was before nor what was asked for.")
      let new = try await store.replace(checkedName, with: bytes, expecting: found?.version)
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
