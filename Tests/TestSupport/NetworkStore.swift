package import RestorationSharing
import Synchronization

/// A store on a network that can be cut, or loses answers, or shows what was stored before.
@dynamicMemberLookup
package final class NetworkStore: RemoteStateStore {
  /// What the network does; each is also a member of the store.
  package struct Faults: Sendable {
    package var isReachable = true

    /// Without answers each call waits for them.
    package var answers = true

    /// Does what it is asked, and throws.
    package var losesAnswers = false

    /// The next load of each state shows what was stored before, if something was.
    package var isBehind = false

    /// The next load shows nothing, as of a replica that has not heard of the state.
    package var hidesNext = false

    /// Loads take place, and their answers wait until it is false.
    package var holdsLoads = false

    /// Writes take place, and their answers wait until it is false.
    package var holdsWrites = false

    /// Writes throw, and get to the store with ``NetworkStore/landDelayedWrites()`` only.
    package var delaysWrites = false

    /// After so many writes the network is cut; nil if it is not.
    package var writesBeforeTheCut: Int?
  }

  private struct Content {
    var faults = Faults()
    var heldCount = 0
    var before: [String: RemoteState] = [:]
    var writeCount = 0
    var callCount = 0
    var delayed: [@Sendable () async throws -> Void] = []
  }

  private let base: any RemoteStateStore
  private let content = Mutex(Content())

  package init(_ base: any RemoteStateStore) {
    self.base = base
  }

  package subscript<Value>(dynamicMember fault: WritableKeyPath<Faults, Value>) -> Value {
    get { content.withLock { $0.faults }[keyPath: fault] }
    set { content.withLock { $0.faults[keyPath: fault] = newValue } }
  }

  /// How many times the store was asked to replace or to append.
  package var writeCount: Int { content.withLock { $0.writeCount } }

  /// How many times the store was asked for anything.
  package var callCount: Int { content.withLock { $0.callCount } }

  /// Lets the writes that were delayed get to the store, in their order.
  package func landDelayedWrites() async throws {
    let delayed = content.withLock { content in
      defer { content.delayed = [] }
      return content.delayed
    }
    for write in delayed { try await write() }
  }

  private func countWrite() {
    content.withLock { content in
      guard let count = content.faults.writesBeforeTheCut else { return }
      content.faults.writesBeforeTheCut = count > 0 ? count - 1 : nil
      if count == 0 { content.faults.isReachable = false }
    }
  }

  /// Whether an answer waits.
  package var isHolding: Bool { content.withLock { $0.heldCount > 0 } }

  private func hold(while isHeld: () -> Bool) async throws {
    content.withLock { $0.heldCount += 1 }
    defer { content.withLock { $0.heldCount -= 1 } }
    while isHeld() { try await Task.sleep(for: .milliseconds(1)) }
  }

  package var location: String { "a store on a network" }

  private func checked<Value>(
    isWrite: Bool = false, _ body: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    let error = RemoteStoreError(.unavailable, "The network is down. Connect it.")
    content.withLock { $0.callCount += 1 }
    if isWrite { countWrite() }
    guard self.isReachable else { throw error }
    if isWrite, self.delaysWrites {
      content.withLock { $0.delayed.append { _ = try await body() } }
      throw error
    }
    while !self.answers { try await Task.sleep(for: .milliseconds(5)) }
    let value = try await body()
    try await hold { isWrite ? self.holdsWrites : self.holdsLoads }
    if self.losesAnswers { throw error }
    return value
  }

  package func load(_ name: String) async throws -> RemoteState? {
    try await checked { [self] in
      let state = try await base.load(name)
      return content.withLock { content in
        if content.faults.hidesNext {
          content.faults.hidesNext = false
          return nil
        }
        if content.faults.isBehind, let before = content.before.removeValue(forKey: name) {
          return before
        }
        return state
      }
    }
  }

  /// Keeps what is about to be replaced.
  private func keep(_ name: String) async throws {
    guard self.isBehind, let state = try await base.load(name) else { return }
    content.withLock { $0.before[name] = state }
  }

  package func replace(
    _ name: String, with bytes: [UInt8], expecting version: RemoteVersion?
  ) async throws -> RemoteVersion? {
    try await checked(isWrite: true) { [self] in
      content.withLock { $0.writeCount += 1 }
      try await keep(name)
      return try await base.replace(name, with: bytes, expecting: version)
    }
  }

  package func append(
    _ bytes: [UInt8], to name: String, expecting version: RemoteVersion
  ) async throws -> RemoteVersion? {
    try await checked(isWrite: true) { [self] in
      content.withLock { $0.writeCount += 1 }
      try await keep(name)
      return try await base.append(bytes, to: name, expecting: version)
    }
  }

  package func remove(_ name: String, expecting version: RemoteVersion) async throws -> Bool {
    try await checked(isWrite: true) { [base] in try await base.remove(name, expecting: version) }
  }

  package func names(prefix: String) async throws -> [String] {
    try await checked { [base] in try await base.names(prefix: prefix) }
  }

  package func changes() -> AsyncStream<RemoteChange> { base.changes() }
}
