import ArchiveCodec
import Foundation
import RestorationKit
import Synchronization
import TestSupport
import XCTest

/// The records of values, as they lie in the file.
@MainActor
final class ValueRecordTests: XCTestCase {
  let directory = MemoryStateDirectory()
  let keys = MemoryKeyProvider()
  let failure = Failure()

  final class Failure: Sendable {
    let error = Mutex<ArchiveError?>(nil)
    /// How many writes have begun.
    let writeCount = Mutex(0)
  }

  static let application = "org.example.values"

  /// A launch whose saves are made by hand, and which ends as by a kill.
  func launch<Result>(
    roots: @escaping @MainActor () -> [any RestorableNode] = { [] },
    prepare: (StateKeeper) throws -> Void = { _ in },
    _ body: @MainActor (StateKeeper) async throws -> Result
  ) async throws -> Result {
    let store = HookedStore(directory) { [failure] _, call throws(ArchiveError) in
      if call.isWrite { failure.writeCount.withLock { $0 += 1 } }
      if call.isWrite, let error = failure.error.withLock(\.self) { throw error }
    }
    let session = RestorationSession(directory: store, keys: keys, now: { Date() })
    return try await session.run {
      let keeper = try await Restoration.begin(
        Self.application, signals: [], roots: roots, prepare: prepare)
      keeper.autosave { [] }.stop()
      let result = try await body(keeper)
      await keeper.close()
      return result
    }
  }

  func archive() throws -> Archive? {
    guard let key = try keys.key(creating: false) else { return nil }
    return try Archive.open(
      directory.memory(named: "main"), key: key,
      context: ArchiveContext([Self.application, "main"]))
  }

  /// The values that the file has, by their keys.
  func stored() throws -> [String: Int] {
    let archive = try archive()
    var found: [String: Int] = [:]
    for number in try archive?.recordIdentifiers() ?? [] where number &>> 61 == 6 {
      let record = try XCTUnwrap(try archive?.record(number))
      found[try record.decode(String.self, forKey: "key")] =
        try record.decode(Int.self, forKey: "value")
    }
    return found
  }

  func value(_ key: String) -> RestoredValue<Int> { RestoredValue(key, default: 0) }

  func testANewKeyWritesItsOwnRecordAndARemovedOneTakesItAway() async throws {
    try await launch { keeper in
      for number in 0..<100 { value("value \(number)").value = number }
      try await keeper.save([])
      value("new").value = 7
      let report = try await keeper.save([])
      XCTAssert((1...400).contains(report.writtenByteCount), "\(report.writtenByteCount)")
      value("value 3").remove()
      try await keeper.save([])
    }
    let stored = try stored()
    XCTAssertEqual(stored.count, 100)
    XCTAssertEqual(stored["new"], 7)
    XCTAssertNil(stored["value 3"])
  }

  func testASaveThatFailsWritesTheValuesWithTheNextOne() async throws {
    try await launch { keeper in
      value("a").value = 1
      try await keeper.save([])
      value("a").value = 2
      failure.error.withLock { $0 = ArchiveError(.storageFull) }
      do {
        try await keeper.save([])
        XCTFail("The disk is full.")
      } catch let error as RestorationError {
        XCTAssertEqual(error.archive?.code, .storageFull)
      }
      failure.error.withLock { $0 = nil }
      value("b").value = 3
      try await keeper.save([])
    }
    XCTAssertEqual(try stored(), ["a": 2, "b": 3])
  }

  func testAValueAndANodeThatChangeTogetherAreOneCommit() async throws {
    let node = TestNode("root", value: "1")
    try await launch(roots: { [node] }) { keeper in
      value("a").value = 1
      try await keeper.save([node])
      let before = try XCTUnwrap(try archive()).extent.changeCount
      (node.value, value("a").value) = ("2", 2)
      try await keeper.save([node])
      XCTAssertEqual(try archive()?.extent.changeCount, before + 1)
    }
  }

  func testARestoreOfAnOlderMomentTakesTheValuesOfThatMoment() async throws {
    try await launch { _ in self.value("a").value = 1 }
    try await launch(prepare: { $0.policy.historyCounts[.session] = 3 }) { keeper in
      value("a").value = 1
      try await keeper.save([])
    }
    try await launch(prepare: { $0.policy.historyCounts[.session] = 3 }) { keeper in
      value("a").value = 2
      try await keeper.save([])
    }
    directory.memory(named: "main").bytes?[100] ^= 1
    let found = try await launch { _ in self.value("a").value }
    XCTAssertEqual(found, 1)
  }

  func testADiscardedValueIsStoredWithTheNextChangeAndOneThatNobodyHasReadIsNot() async throws {
    try await launch { keeper in
      (value("read").value, value("unread").value) = (1, 2)
      try await keeper.save([])
    }
    try await launch { keeper in
      XCTAssertEqual(value("read").value, 1)
      try await keeper.discardState()
      XCTAssertEqual(try stored(), [:])
      value("new").value = 3
      try await keeper.save([])
      XCTAssertEqual(value("unread").value, 0)
    }
    XCTAssertEqual(try stored(), ["new": 3, "read": 1])
  }

  func testValuesAreNoLeftoversOfATree() async throws {
    let node = TestNode("root", value: "1")
    try await launch(roots: { [node] }) { keeper in
      value("a").value = 1
      try await keeper.save([node])
    }
    // A keeper without values, and one that changes the tree.
    let other = TestNode("root")
    let keeper = try StateKeeper(
      application: Self.application, directory: directory, keys: keys)
    try await keeper.restore(into: [other])
    other.value = "2"
    try await keeper.save([other])
    await keeper.close()
    XCTAssertEqual(try stored(), ["a": 1])
  }

  func testARecordThatIsNoValueStaysAsItIs() async throws {
    try await launch { keeper in
      value("a").value = 1
      try await keeper.save([])
    }
    let key = try XCTUnwrap(try keys.key(creating: false))
    let writer = try ArchiveWriter.open(
      directory.memory(named: "main"), key: key,
      context: ArchiveContext([Self.application, "main"]))
    let builder = writer.builder()
    for (record, key) in [(6 << 61 + 9, 7), (7 << 61 - 1, 8)] as [(UInt64, Int)] {
      try builder.append(record: record) { $0.encode(key, forKey: "key") }
    }
    try writer.append(builder.finish())
    _ = consume writer
    try await launch { keeper in
      XCTAssertEqual(value("a").value, 1)
      value("b").value = 2
      try await keeper.save([])
    }
    try await launch { _ in
      XCTAssertEqual([self.value("a").value, self.value("b").value], [1, 2])
    }
  }

  func testTheValuesOfAWindowGoWithItAndThoseOfOthersStay() async throws {
    try await launch { keeper in
      let host = SceneHost(keeper)
      host.register(SceneConfiguration { TestSceneDelegate(Trace()) })
      try await host.launch()
      let scenes = [try await host.open(), try await host.open()]
      for (number, scene) in scenes.enumerated() {
        Restoration.scope(scene) { Window() }.number = number + 1
      }
      value("app").value = 5
      try await host.saveSessions()
      try await host.close(scenes[0])
      XCTAssertEqual(try stored(), ["app": 5, "number": 2])
      let bytes = try XCTUnwrap(directory.memory(named: "main").bytes)
      XCTAssertFalse(bytes.isEmpty)
    }
    try await launch { keeper in
      let host = SceneHost(keeper)
      host.register(SceneConfiguration { TestSceneDelegate(Trace()) })
      try await host.launch()
      let scene = try await host.connect(host.openSessions[0])
      XCTAssertEqual(Restoration.scope(scene) { Window() }.number, 2)
    }
  }

  func testNothingIsStoredOfTheValuesOfAWindowThatIsNotRestorable() async throws {
    try await launch { keeper in
      let host = SceneHost(keeper)
      host.register(SceneConfiguration { TestSceneDelegate(Trace()) })
      try await host.launch()
      let scene = try await host.open()
      let window = Restoration.scope(scene) { Window() }
      window.number = 1
      try await host.saveSessions()
      XCTAssertEqual(try stored(), ["number": 1])
      scene.session.isRestorable = false
      try await host.saveSessions()
      window.number = 2
      try await host.saveSessions()
      XCTAssertEqual(try stored(), [:])
      scene.session.isRestorable = true
      try await host.saveSessions()
      XCTAssertEqual(try stored(), ["number": 2])
      try await host.close(scene)
      window.number = 3
      try await keeper.save([])
      XCTAssertEqual(try stored(), [:])
    }
  }

  struct Window {
    @Restored("number") var number = 0
  }
}
