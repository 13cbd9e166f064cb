internal import RestorationKit
internal import Synchronization

extension RemoteStoreConformance {
  static let telling = [
    StoreCheck("listeningIsTold", "Who listens is told first that any state may have changed.") {
      let (listener, writer) = (try await $0(), try await $0())
      let told = Told(listener.changes())
      defer { told.end() }
      // A store that does not say so may tell of this one first.
      let isTold = try await told.wait { !$0.isEmpty }
      _ = try await writer.store(.sample(1))
      try expect(isTold && told.changes.first == .any, "It was not told that, in a second.")
    },
    StoreCheck("changesAreTold", "Who listens is told of what others store, append and remove.") {
      let (listener, writer) = (try await $0(), try await $0())
      let told = Told(listener.changes())
      defer { told.end() }
      try await told.expectTold("of a state that was stored") { name in
        _ = try await writer.store(.sample(1), as: name)
      }
      let parts: [(String, @Sendable (String, RemoteVersion) async throws -> Void)] = [
        ("replaced", { _ = try await writer.update($1, of: $0, with: .sample(2)) }),
        ("appended to", { _ = try await writer.extend($1, of: $0, by: .sample(3)) }),
        ("removed", { try await writer.clear($1, of: $0) }),
      ]
      for (what, write) in parts {
        try await told.expectTold("of a state that was \(what)") { name in
          let version = try await writer.store(.sample(1), as: name)
          // It may tell of this one late.
          try await told.wait { $0.contains { $0.name == name } }
          told.forget()
          try await write(name, version)
        }
      }
    },
    StoreCheck("allListenersAreTold", "Each who listens is told, also two of one store.") {
      let (listener, writer) = (try await $0(), try await $0())
      let all = [listener.changes(), listener.changes(), writer.changes()].map { Told($0) }
      defer { for told in all { told.end() } }
      for (number, told) in all.enumerated() {
        try await told.expectTold("as number \(number + 1) of three listeners") { name in
          _ = try await writer.store(.sample(1), as: name)
        }
      }
    },
    StoreCheck("toldVersionsAreTrue", "A version that is told was stored under that name.") {
      let (listener, writer) = (try await $0(), try await $0())
      let told = Told(listener.changes())
      defer { told.end() }
      let stored = Mutex<Set<RemoteChange>>([])
      try await told.expectTold("of a state that was replaced") { name in
        let first = try await writer.store(.sample(1), as: name)
        let second = try await writer.update(first, of: name, with: .sample(2))
        stored.withLock { set in
          for version in [nil, first, second] {
            set.insert(RemoteChange(name: name, version: version))
          }
        }
      }
      for change in told.changes {
        guard let name = change.name else { continue }
        try expect(
          stored.withLock { $0.contains(change) },
          "It told of “\(name)” in a version that was not stored.")
      }
    },
  ]
}

/// What a store has told of, in a task of its own.
private final class Told: Sendable {
  private let content = Mutex<[RemoteChange]>([])
  private let task = Mutex<Task<Void, Never>?>(nil)

  init(_ stream: AsyncStream<RemoteChange>) {
    let listening = Task { [weak self] in
      for await change in stream { self?.content.withLock { $0.append(change) } }
    }
    task.withLock { $0 = listening }
  }

  var changes: [RemoteChange] { content.withLock { $0 } }

  func forget() { content.withLock { $0 = [] } }

  func end() { task.withLock { $0?.cancel() } }

  /// Waits until it was told, for up to a second.
  ///
  /// - Returns: Whether it was.
  @discardableResult
  func wait(until isTold: ([RemoteChange]) -> Bool) async throws -> Bool {
    let end = ContinuousClock.now + .seconds(1)
    while !isTold(changes) {
      guard ContinuousClock.now < end else { return false }
      try await Task.sleep(for: .milliseconds(5))
    }
    return true
  }

  /// Ends the check if it is not told of the name that the body writes to, several times.
  ///
  /// It may listen later than it was asked to.
  func expectTold(_ what: String, _ write: (_ name: String) async throws -> Void) async throws {
    for attempt in 0..<3 {
      let name = "\(what) \(attempt)"
      try await write(name)
      if try await wait(until: { $0.contains { $0.name == name } }) { return }
    }
    throw Observation("It was not told \(what), in three attempts of a second.")
  }
}
