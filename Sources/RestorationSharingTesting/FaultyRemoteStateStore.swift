public import RestorationSharing
internal import RestorationTesting
internal import Synchronization

/// A store that fails as networks and databases do, when a test says so.
///
/// The store passes each call on to another store, and keeps a list of the calls:
///
///     let store = FaultyRemoteStateStore(MemoryRemoteStateStore())
///     let keeper = try StateKeeper(
///       application: "org.example.notes", directory: RemoteStateDirectory(store), keys: keys)
///     _ = try await keeper.restore(into: [screen])
///     store.fail(.lostAnswer, next: .append)
///     _ = try await keeper.save([screen])
///
/// The fault of a call is decided in this order: by ``isReachable``, by
/// ``fail(_:next:)``, and by the faults that the store was created with.
///
/// Give each machine of a test a faulty store of its own over the same base: then each
/// machine has faults of its own.
public final class FaultyRemoteStateStore: RemoteStateStore {
  private struct Progress {
    var isReachable = true
    var calls: [RemoteCall] = []
    var next: [(fault: RemoteFault, operation: RemoteCall.Operation?)] = []
    /// The states that were seen under each name, by the bytes of the names, the last
    /// one at the end.
    var seen: [[UInt8]: [RemoteState?]] = [:]
    var listeners: [Int: AsyncStream<RemoteChange>.Continuation] = [:]
    var listenerCount = 0
  }

  private let base: any RemoteStateStore
  private let choose: @Sendable (RemoteCall) -> RemoteFault?
  private let progress = Mutex(Progress())

  /// Creates a store whose faults a closure chooses.
  ///
  /// - Parameters:
  ///   - base: The store that the calls are passed on to.
  ///   - faults: Called for each call, maybe at once for several, and returns the fault
  ///     of the call; by default there is none.
  public init(
    _ base: any RemoteStateStore,
    faults: @escaping @Sendable (RemoteCall) -> RemoteFault? = { _ in nil }
  ) {
    self.base = base
    choose = faults
  }

  /// Creates a store whose first calls go wrong as a list says.
  ///
  /// - Parameters:
  ///   - base: The store that the calls are passed on to.
  ///   - faults: The faults of the first call, the second one, and so on; nil for a
  ///     call that goes well. All calls go well after the last one.
  public convenience init(_ base: any RemoteStateStore, faults: [RemoteFault?]) {
    self.init(base) { faults.indices.contains($0.number) ? faults[$0.number] : nil }
  }

  /// Creates a store in which faults happen at random.
  ///
  /// The same seed chooses the same faults for the same order of calls. Print the seed
  /// in a test, so that a failure can be seen again.
  ///
  /// - Parameters:
  ///   - base: The store that the calls are passed on to.
  ///   - rates: How often each fault happens.
  ///   - seed: The start of the random numbers.
  public convenience init(_ base: any RemoteStateStore, rates: RemoteFaultRates, seed: UInt64) {
    self.init(base) { call in
      // The numbers depend on the number of the call, so that simultaneous calls
      // do not exchange them.
      var numbers = CallNumbers(seed: seed, call: call.number)
      let fault = rates.fault(at: numbers.next())
      guard rates.longestDelay > .zero else { return fault }
      let delay = rates.longestDelay * numbers.next()
      return fault?.delayed(by: delay) ?? .delay(delay)
    }
  }

  /// Whether any call reaches the store; while the property is false, each call
  /// throws `unavailable`.
  ///
  /// No changes are told meanwhile. When the property becomes true again,
  /// ``/RestorationSharing/RemoteChange/any`` is told, as by a store that has its
  /// connection back.
  public var isReachable: Bool {
    get { progress.withLock { $0.isReachable } }
    set {
      // Told under the lock, so that a change which comes at the same time is told after it.
      progress.withLock { progress in
        let isBack = newValue && !progress.isReachable
        progress.isReachable = newValue
        guard isBack else { return }
        for listener in progress.listeners.values { listener.yield(.any) }
      }
    }
  }

  /// All calls so far, in the order in which they came.
  public var calls: [RemoteCall] { progress.withLock { $0.calls } }

  /// Makes the next call go wrong, once.
  ///
  /// Call the method several times for several calls.
  ///
  /// - Parameters:
  ///   - fault: The fault of the call.
  ///   - operation: The operation that the fault waits for; nil for any.
  public func fail(_ fault: RemoteFault, next operation: RemoteCall.Operation? = nil) {
    progress.withLock { $0.next.append((fault, operation)) }
  }

  /// The location of the base.
  public var location: String { base.location }

  /// Loads from the base.
  public func load(_ name: String) async throws -> RemoteState? {
    let call = begin(.load, name)
    return try await perform(call) { [self] in
      let state = try await base.load(name)
      let before = note(state, as: name)
      return call.fault?.kind == .staleRead ? before : state
    }
  }

  /// Replaces in the base.
  public func replace(
    _ name: String, with bytes: [UInt8], expecting version: RemoteVersion?
  ) async throws -> RemoteVersion? {
    try await write(begin(.replace, name, byteCount: bytes.count)) { [base] in
      try await base.replace(name, with: bytes, expecting: version)
    }
  }

  /// Appends in the base.
  public func append(
    _ bytes: [UInt8], to name: String, expecting version: RemoteVersion
  ) async throws -> RemoteVersion? {
    try await write(begin(.append, name, byteCount: bytes.count)) { [base] in
      try await base.append(bytes, to: name, expecting: version)
    }
  }

  /// Removes from the base.
  public func remove(_ name: String, expecting version: RemoteVersion) async throws -> Bool {
    let answer = try await write(begin(.remove, name)) { [base] in
      try await base.remove(name, expecting: version) ? version : nil
    }
    return answer != nil
  }

  /// The names in the base.
  public func names(prefix: String) async throws -> [String] {
    try await perform(begin(.names, prefix)) { [base] in try await base.names(prefix: prefix) }
  }

  /// The changes of the base, while it is reachable.
  public func changes() -> AsyncStream<RemoteChange> {
    let (stream, continuation) = AsyncStream.makeStream(of: RemoteChange.self)
    let changes = base.changes()
    let number = progress.withLock { progress in
      progress.listenerCount += 1
      progress.listeners[progress.listenerCount] = continuation
      return progress.listenerCount
    }
    let passing = Task { [self] in
      for await change in changes {
        progress.withLock { if $0.isReachable { continuation.yield(change) } }
      }
      progress.withLock { _ = $0.listeners.removeValue(forKey: number) }
      continuation.finish()
    }
    continuation.onTermination = { _ in passing.cancel() }
    return stream
  }

  private func begin(
    _ operation: RemoteCall.Operation, _ name: String, byteCount: Int = 0
  ) -> RemoteCall {
    var (call, isChosen) = progress.withLock { progress in
      var call = RemoteCall(
        number: progress.calls.count, operation: operation, name: name, byteCount: byteCount)
      if !progress.isReachable {
        call.fault = .unreachable
      } else if let index = progress.next.firstIndex(where: {
        $0.operation == nil || $0.operation == operation
      }) {
        call.fault = progress.next.remove(at: index).fault
      }
      progress.calls.append(call)
      return (call, call.fault != nil)
    }
    if !isChosen {
      // The closure of a test may read the calls, so the lock is not held.
      call.fault = choose(call)
      progress.withLock { [call] in $0.calls[call.number].fault = call.fault }
    }
    return call
  }

  private func write(
    _ call: RemoteCall, _ body: () async throws -> RemoteVersion?
  ) async throws -> RemoteVersion? {
    try await perform(call) {
      _ = note(try await base.load(call.name), as: call.name)
      var answer = try await body()
      if answer != nil { progress.withLock { $0.calls[call.number].tookPlace = true } }
      if call.fault?.kind == .repeated { answer = try await body() }
      return answer
    }
  }

  private func perform<Answer>(
    _ call: RemoteCall, _ body: () async throws -> Answer
  ) async throws -> Answer {
    if let delay = call.fault?.delay { try await Task.sleep(for: delay) }
    switch call.fault?.kind {
    case .failure(let error): throw error
    case .lostAnswer:
      _ = try await body()
      throw RemoteFault.unavailable
    case .silence(let duration, let afterTheCall):
      if afterTheCall { _ = try await body() }
      // A time that is never reached stands for no end.
      try await Task.sleep(for: duration ?? .seconds(1_000_000_000))
      throw RemoteFault.unavailable
    case .some(.none), .repeated, .staleRead, nil: return try await body()
    }
  }

  /// Remembers the stored state, and returns the one before.
  private func note(_ state: RemoteState?, as name: String) -> RemoteState? {
    progress.withLock { progress in
      var seen = progress.seen[Array(name.utf8)] ?? [nil]
      if seen.last != state { seen = [seen.last ?? nil, state] }
      progress.seen[Array(name.utf8)] = seen
      return seen.first ?? nil
    }
  }
}

/// Random numbers for one call: SplitMix64.
private struct CallNumbers {
  private var state: UInt64

  init(seed: UInt64, call: Int) {
    state = seed
    state = scrambled() &+ UInt64(call) &* 0xD1B5_4A32_D192_ED03
  }

  /// A number from 0 to 1, without 1.
  mutating func next() -> Double {
    Double(scrambled() >> 11) * 0x1p-53
  }

  private mutating func scrambled() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
