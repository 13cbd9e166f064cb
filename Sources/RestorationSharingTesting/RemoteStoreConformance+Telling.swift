internal import RestorationSharing
internal import RestorationTesting
internal import Synchronization

extension RemoteStoreConformance {
  static let telling = [
    StoreCheck("listeningIsTold", "Who listens is told first that any state may have changed.") {
      let (listener, writer) = (try await $0(), try await $0())
      let told = Told(listener.changes())
      defer { told.end() }
      // A store that does not begin with `any` may tell of this write first.
      let isTold = try await told.wait { !$0.isEmpty }
      _ = try await writer.store(.sample(1))
      try expect(isTold && told.changes.first?.change == .any, "It was not told that, in a second.")
    },
    StoreCheck("changesAreTold", "Who listens is told of what others store, append and remove.") {
      let (listener, writer) = (try await $0(), try await $0())
      let told = Told(listener.changes())
      defer { told.end() }
      try await told.expectTold("of a state that was stored") { name in
        try await writer.store(.sample(1), as: name)
      }
      let parts: [(String, @Sendable (String, RemoteVersion) async throws -> RemoteVersion?)] = [
        ("replaced", { try await writer.update($1, of: $0, with: .sample(2)) }),
        ("appended to", { try await writer.extend($1, of: $0, by: .sample(3)) }),
        (
          "removed",
          {
            try await writer.clear($1, of: $0)
            return nil
          }
        ),
      ]
      for (what, write) in parts {
        try await told.expectTold("of a state that was \(what)") { name in
          let version = try await writer.store(.sample(1), as: name)
          // The store may tell of this first write late.
          try await told.wait { $0.contains { $0.name == name } }
          told.forget()
          return try await write(name, version)
        }
      }
    },
    StoreCheck("allListenersAreTold", "Each who listens is told, also two of one store.") {
      let (listener, writer) = (try await $0(), try await $0())
      let all = [listener.changes(), listener.changes(), writer.changes()].map { Told($0) }
      defer { for told in all { told.end() } }
      for (number, told) in all.enumerated() {
        try await told.expectTold("as number \(number + 1) of three listeners") { name in
          try await writer.store(.sample(1), as: name)
        }
      }
    },
    StoreCheck("toldVersionsAreTrue", "A version that is told is stored under that name by then.") {
      let (listener, writer) = (try await $0(), try await $0())
      let told = Told(listener.changes(), loadingFrom: listener)
      defer { told.end() }
      let stored = Mutex<[String: [RemoteVersion]]>([:])
      for round in 1...5 {
        try await told.expectTold("of a state that was stored in round \(round)") { name in
          let first = try await writer.store(.sample(1), as: name)
          let second = try await writer.update(first, of: name, with: .sample(2))
          let third = try await writer.extend(second, of: name, by: .sample(3))
          stored.withLock { $0[name] = [first, second, third] }
          return third
        }
      }
      for (change, loaded) in told.changes {
        guard let name = change.name, let version = change.version else { continue }
        let versions = stored.withLock { $0[name] ?? [] }
        let number = try require(
          versions.firstIndex(of: version),
          "It told of “\(name)” in a version that was not stored.")
        try expect(
          versions[number...].contains { $0 == loaded?.version },
          "It told of “\(name)” before that could be loaded.")
      }
    },
  ]
}

/// The changes that a store has told, heard in a task of its own.
private final class Told: Sendable {
  typealias Change = (change: RemoteChange, loaded: RemoteState?)

  private let content = Mutex<(changes: [Change], error: (any Error)?)>(([], nil))
  private let task = Mutex<Task<Void, Never>?>(nil)

  /// Listens, and loads the state of each change if there is a store to load from.
  init(_ stream: AsyncStream<RemoteChange>, loadingFrom store: (any RemoteStateStore)? = nil) {
    let listening = Task { [weak self] in
      for await change in stream {
        do {
          var loaded: RemoteState?
          if let name = change.name { loaded = try await store?.load(name) }
          self?.content.withLock { [loaded] in $0.changes.append((change, loaded)) }
        } catch {
          self?.content.withLock { $0.error = error }
        }
      }
    }
    task.withLock { $0 = listening }
  }

  var changes: [Change] { content.withLock { $0.changes } }

  func forget() { content.withLock { $0.changes = [] } }

  func end() { task.withLock { $0?.cancel() } }

  /// Waits for changes for up to a second.
  ///
  /// - Returns: Whether they have come.
  @discardableResult
  func wait(until isTold: ([RemoteChange]) -> Bool) async throws -> Bool {
    let end = ContinuousClock.now + .seconds(1)
    while !isTold(changes.map(\.change)) {
      if let error = content.withLock({ $0.error }) { throw error }
      guard ContinuousClock.now < end else { return false }
      try await Task.sleep(for: .milliseconds(5))
    }
    return true
  }

  /// Ends the check if the store does not tell of the name that the body writes to, several times.
  ///
  /// The store may begin to listen late, and tell of an older version first. The body
  /// returns the version that is stored now; nil if the state was removed.
  func expectTold(
    _ what: String, _ write: (_ name: String) async throws -> RemoteVersion?
  ) async throws {
    var name = ""
    for attempt in 0..<3 {
      name = "\(what) \(attempt)"
      let version = try await write(name)
      let isTold = try await wait {
        $0.contains { $0.name == name && ($0.version == nil || $0.version == version) }
      }
      if isTold { return }
    }
    try expect(
      !changes.contains { $0.change.name == name },
      "It was told \(what), but in another version than the one that is stored now.")
    throw Observation("It was not told \(what), in three attempts of a second.")
  }
}
