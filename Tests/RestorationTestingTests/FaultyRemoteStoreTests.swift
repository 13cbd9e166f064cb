import RestorationKit
import RestorationSharing
import RestorationSharingTesting
import RestorationTesting
import Synchronization
import TestSupport
import XCTest

final class FaultyRemoteStoreTests: XCTestCase {
  private let base = MemoryRemoteStateStore()

  private let unavailable = RemoteStoreError(
    .unavailable, "The test has made the store fail. Try again.")

  func testWithoutFaultsAllPromisesAreKept() async {
    let failures = await (RemoteStoreConformance.checks + RemoteStoreConformance.changesChecks)
      .failures {
        let base = MemoryRemoteStateStore()
        return { FaultyRemoteStateStore(base) }
      }
    XCTAssertEqual(failures, [])
  }

  func testDelaysBreakNoPromise() async {
    var seed = UInt64(1)
    let failures = await RemoteStoreConformance.checks.failures {
      let base = MemoryRemoteStateStore()
      seed += 1
      return { [seed] in
        FaultyRemoteStateStore(
          base, rates: RemoteFaultRates(longestDelay: .microseconds(10)), seed: seed)
      }
    }
    XCTAssertEqual(failures, [])
  }

  /// Whoever looks after each answer that is lost or refused keeps all promises over such a store.
  func testLostAnswersAndRepeatedWritesCanBeSettled() async {
    let seen = Mutex<Set<RemoteCall.Operation>>([])
    let failures = await RemoteStoreConformance.checks.failures {
      let base = MemoryRemoteStateStore()
      return {
        SettlingStore(
          FaultyRemoteStateStore(base) { call in
            guard [.replace, .append].contains(call.operation) else {
              return .delay(.microseconds(call.number % 7))
            }
            seen.withLock { _ = $0.insert(call.operation) }
            switch call.number % 3 {
            case 0: return .lostAnswer
            case 1: return .repeated
            default: return .delay(.microseconds(call.number % 7))
            }
          })
      }
    }
    XCTAssertEqual(failures, [])
    XCTAssertEqual(seen.withLock { $0 }, [.replace, .append])
  }

  func testAFailureDoesNotReachTheStore() async throws {
    let full = RemoteStoreError(.full, "It is full. Make room.")
    let store = FaultyRemoteStateStore(base, faults: [.unreachable, .failure(full)])
    for expected in [unavailable, full] {
      await assertThrows(expected) {
        _ = try await store.replace("main", with: [1], expecting: nil)
      }
      XCTAssertNil(base[bytes: "main"])
    }
    let stored = try await store.replace("main", with: [1], expecting: nil)
    XCTAssertNotNil(stored)
    XCTAssertEqual(store.calls.map(\.tookPlace), [false, false, true])
    XCTAssertEqual(store.calls.map(\.fault), [.unreachable, .failure(full), nil])
  }

  func testALostAnswerIsOfAWriteThatTookPlace() async throws {
    let store = FaultyRemoteStateStore(base)
    store.fail(.lostAnswer)
    await assertThrows(unavailable) {
      _ = try await store.replace("main", with: [1], expecting: nil)
    }
    let first = try await storedState()
    XCTAssertEqual(first.bytes, [1])
    store.fail(.lostAnswer, next: .append)
    await assertThrows(unavailable) {
      _ = try await store.append([2], to: "main", expecting: first.version)
    }
    let second = try await storedState()
    XCTAssertEqual(second.bytes, [1, 2])
    store.fail(.lostAnswer, next: .remove)
    await assertThrows(unavailable) {
      _ = try await store.remove("main", expecting: second.version)
    }
    XCTAssertNil(base[bytes: "main"])
    XCTAssertEqual(store.calls.map(\.tookPlace), [true, true, true])
  }

  func testARepeatedWriteTakesPlaceOnceAndIsAnsweredWithARefusal() async throws {
    let store = FaultyRemoteStateStore(base)
    store.fail(.repeated)
    let replaced = try await store.replace("main", with: [1], expecting: nil)
    XCTAssertNil(replaced)
    let first = try await storedState()
    store.fail(.repeated)
    let appended = try await store.append([2], to: "main", expecting: first.version)
    XCTAssertNil(appended)
    let second = try await storedState()
    XCTAssertEqual(second.bytes, [1, 2])
    store.fail(.repeated)
    let isRemoved = try await store.remove("main", expecting: second.version)
    XCTAssertFalse(isRemoved)
    XCTAssertNil(base[bytes: "main"])
    XCTAssertEqual(store.calls.map(\.tookPlace), [true, true, true])
  }

  func testAStaleReadIsOfTheStateBefore() async throws {
    let store = FaultyRemoteStateStore(base)
    var states: [RemoteState?] = [nil]
    for number in 0..<3 {
      let version = try await store.replace(
        "main", with: [UInt8(number)], expecting: states.last??.version)
      XCTAssertNotNil(version)
      states.append(try await base.load("main"))
      store.fail(.staleRead, next: .load)
      let stale = try await store.load("main")
      XCTAssertEqual(stale, states[number])
      let current = try await store.load("main")
      XCTAssertEqual(current, states[number + 1])
    }
    // Written by another machine, and seen by a load.
    base[bytes: "main"] = [9]
    store.fail(.staleRead)
    let stale = try await store.load("main")
    XCTAssertEqual(stale, states[3])
  }

  func testSilenceEndsWithItsTime() async throws {
    let store = FaultyRemoteStateStore(
      base,
      faults: [
        .silence(for: .milliseconds(1)), .silence(for: .milliseconds(1), afterTheCall: true),
      ])
    await assertThrows(unavailable) {
      _ = try await store.replace("main", with: [1], expecting: nil)
    }
    XCTAssertNil(base[bytes: "main"])
    await assertThrows(unavailable) {
      _ = try await store.replace("main", with: [1], expecting: nil)
    }
    XCTAssertEqual(base[bytes: "main"], [1])
  }

  func testSilenceAndADelayEndWhenTheTaskIsCancelled() async throws {
    let store = FaultyRemoteStateStore(
      base, faults: [.silence(), .delay(.seconds(1000)), .silence(afterTheCall: true)])
    for expected in [nil, nil, [1]] as [[UInt8]?] {
      let call = Task { try await store.replace("main", with: [1], expecting: nil) }
      while store.calls.last?.fault == nil { await Task.yield() }
      if expected != nil {
        while base[bytes: "main"] == nil { await Task.yield() }
      }
      call.cancel()
      let result = await call.result
      XCTAssertThrowsError(try result.get()) { XCTAssert($0 is CancellationError, "\($0)") }
      XCTAssertEqual(base[bytes: "main"], expected)
    }
  }

  func testNothingIsReachedWhileItIsNotReachable() async throws {
    let store = FaultyRemoteStateStore(base)
    store.isReachable = false
    await assertThrows(unavailable) { _ = try await store.load("main") }
    await assertThrows(unavailable) { _ = try await store.names(prefix: "") }
    store.isReachable = true
    let names = try await store.names(prefix: "")
    XCTAssertEqual(names, [])
  }

  func testNothingIsToldWhileItIsNotReachableAndAnyAfterwards() async throws {
    let base = HandingStore()
    let store = FaultyRemoteStateStore(base)
    var iterators = [store.changes().makeAsyncIterator(), store.changes().makeAsyncIterator()]
    await base.hand(.any, to: 2)
    store.isReachable = false
    await base.hand(RemoteChange(name: "cut", version: RemoteVersion("1")), to: 2)
    store.isReachable = true
    store.isReachable = true
    let end = RemoteChange(name: "end", version: RemoteVersion("2"))
    await base.hand(end, to: 2)
    for index in iterators.indices {
      var told: [RemoteChange] = []
      while told.last != end {
        let change = await iterators[index].next()
        told.append(try XCTUnwrap(change))
      }
      XCTAssertEqual(told, [.any, .any, end])
    }
  }

  func testWhatABaseDoesNotTellIsNotTold() async {
    for await change in FaultyRemoteStateStore(SettlingStore(base)).changes() {
      XCTFail("It told \(change).")
    }
  }

  func testCallsAreRecordedInTheirOrder() async throws {
    let store = FaultyRemoteStateStore(base)
    _ = try await store.load("a")
    let version = try await store.replace("b", with: [1, 2], expecting: nil)
    _ = try await store.append([3], to: "b", expecting: try XCTUnwrap(version))
    _ = try await store.remove("c", expecting: RemoteVersion("7"))
    _ = try await store.names(prefix: "d")
    XCTAssertEqual(store.calls.map(\.operation), [.load, .replace, .append, .remove, .names])
    XCTAssertEqual(store.calls.map(\.name), ["a", "b", "b", "c", "d"])
    XCTAssertEqual(store.calls.map(\.byteCount), [0, 2, 1, 0, 0])
    XCTAssertEqual(store.calls.map(\.tookPlace), [false, true, true, false, false])
    XCTAssertEqual(store.calls.map(\.number), Array(0..<5))
  }

  func testASeedChoosesTheSameFaultsAndRatesHowMany() async throws {
    let rates = RemoteFaultRates(unreachable: 0.1, lostAnswer: 0.2, repeated: 0.3, staleRead: 0.1)
    func faults(seed: UInt64) async -> [RemoteFault?] {
      let store = FaultyRemoteStateStore(base, rates: rates, seed: seed)
      for _ in 0..<2000 { _ = try? await store.load("main") }
      return store.calls.map(\.fault)
    }
    let (one, again, other) = (
      await faults(seed: 1), await faults(seed: 1), await faults(seed: 2)
    )
    XCTAssertEqual(one, again)
    XCTAssertNotEqual(one, other)
    let expected: [(RemoteFault?, Double)] = [
      (.unreachable, 0.1), (.lostAnswer, 0.2), (.repeated, 0.3), (.staleRead, 0.1), (nil, 0.3),
    ]
    for (fault, rate) in expected {
      let count = one.filter { $0 == fault }.count
      XCTAssertEqual(Double(count) / 2000, rate, accuracy: 0.05, "\(String(describing: fault))")
    }
  }

  private func storedState() async throws -> RemoteState {
    let state = try await base.load("main")
    return try XCTUnwrap(state)
  }

  private func assertThrows(
    _ expected: RemoteStoreError, line: UInt = #line, _ body: () async throws -> Void
  ) async {
    do {
      try await body()
      XCTFail("It did not throw.", line: line)
    } catch {
      XCTAssertEqual(error as? RemoteStoreError, expected, line: line)
    }
  }
}

/// A store that tells the changes that a test hands to it, and nothing else.
private final class HandingStore: RemoteStateStore {
  private struct Listener {
    let changes: AsyncStream<RemoteChange>.Continuation
    let takenUp: AsyncStream<Void>
  }

  private let base = MemoryRemoteStateStore()
  private let listeners = Mutex<[Listener]>([])

  var location: String { base.location }

  /// Tells each of the listeners a change, and returns when all of them ask for the next one.
  func hand(_ change: RemoteChange, to count: Int) async {
    let listeners = listeners.withLock { $0 }
    XCTAssertEqual(listeners.count, count)
    for listener in listeners {
      listener.changes.yield(change)
      for await _ in listener.takenUp { break }
    }
  }

  func changes() -> AsyncStream<RemoteChange> {
    let (handed, changes) = AsyncStream.makeStream(of: RemoteChange.self)
    let (takenUp, takes) = AsyncStream.makeStream(of: Void.self)
    listeners.withLock { $0.append(Listener(changes: changes, takenUp: takenUp)) }
    let isFirst = Mutex(true)
    return AsyncStream {
      let isAfterAnother = isFirst.withLock { isFirst in
        defer { isFirst = false }
        return !isFirst
      }
      if isAfterAnother { takes.yield() }
      for await change in handed { return change }
      return nil
    }
  }

  func load(_ name: String) async throws -> RemoteState? { try await base.load(name) }

  func replace(
    _ name: String, with bytes: [UInt8], expecting version: RemoteVersion?
  ) async throws -> RemoteVersion? {
    try await base.replace(name, with: bytes, expecting: version)
  }

  func remove(_ name: String, expecting version: RemoteVersion) async throws -> Bool {
    try await base.remove(name, expecting: version)
  }

  func names(prefix: String) async throws -> [String] { try await base.names(prefix: prefix) }
}
