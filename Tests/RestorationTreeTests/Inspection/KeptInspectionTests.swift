import ArchiveCodec
import Foundation
import RestorationInspection
import RestorationKit
import TestSupport
import XCTest

/// What a tool sees of what no object has taken, and of older states.
@MainActor
final class KeptInspectionTests: XCTestCase {
  private let launch = Launch()

  private func key() throws -> ArchiveKey { try XCTUnwrap(try launch.keys.key(creating: false)) }

  private func history() throws -> StateHistory {
    StateHistory(of: "main", in: Launch.application, at: launch.store, key: try key())
  }

  private func open() throws -> StoredState {
    try XCTUnwrap(
      try StoredState.open(
        launch.store.memory(named: "main"), named: "main", of: Launch.application,
        with: .key(try key())))
  }

  private func elements(_ state: StoredState) throws -> [StoredState.Element] {
    var elements: [StoredState.Element] = []
    try state.outline().forEach { elements.append($0) }
    return elements
  }

  func testAnElementSaysWhyItIsKeptAndSinceWhen() async throws {
    let child = TestNode("child", value: "value", children: [TestNode("below")])
    _ = try await launch.keeper().save([TestNode("root", children: [child])])
    XCTAssertEqual(try elements(open()).map(\.kept), [nil, nil, nil])
    launch.now += 60
    let keeper = try launch.keeper()
    let root = TestNode("root", value: "changed")
    _ = try await keeper.restore(into: [root])
    _ = try await keeper.save([root])
    let elements = try elements(open())
    XCTAssertEqual(elements.map(\.path.description), ["root", "root/child", "root/child/below"])
    XCTAssertEqual(elements.map(\.kept?.reason), [nil, "notFound", nil])
    XCTAssertEqual(elements.map(\.kept?.since), [nil, launch.now, nil])
  }

  func testAStateThatNobodyCouldReadIsBesideTheOneOfItsElement() async throws {
    struct Failure: Error {}
    _ = try await launch.keeper().save([TestNode("root", value: "first")])
    launch.now += 60
    let keeper = try launch.keeper()
    let root = TestNode("root")
    root.onDecode = { _ in throw Failure() }
    _ = try await keeper.restore(into: [root])
    root.value = "second"
    _ = try await keeper.save([root])
    let state = try open()
    let element = try XCTUnwrap(try elements(state).first)
    XCTAssertNil(element.kept)
    XCTAssertEqual(element.unread.map(\.reason), ["decodeThrew"])
    XCTAssertEqual(element.unread.map(\.since), [launch.now])
    XCTAssertEqual(element.unread.map(\.className), ["TestNode"])
    XCTAssertEqual(element.unread.map(\.version), [1])
    let unread = try XCTUnwrap(element.unread.first)
    let values = { try XCTUnwrap(try state.values(ofRecord: $0)) }
    XCTAssertEqual(try values(element.record).decode(String.self, forKey: "value"), "second")
    XCTAssertEqual(try values(unread.record).decode(String.self, forKey: "value"), "first")
    XCTAssertGreaterThan(unread.byteCount, 0)
    var records: Set<UInt64> = []
    try state.forEachValues { record, _ in records.insert(record) }
    XCTAssertEqual(records, [element.record, unread.record])
    XCTAssertEqual(try state.outline().problemCount, 0)
  }

  // MARK: History

  /// Saves a value as a launch of a version of the app; returns what it has found.
  private func save(_ value: String, version: String) async throws -> String? {
    launch.environment = ApplicationEnvironment(applicationVersion: version)
    launch.now += 60
    let (keeper, root) = (try launch.keeper(), TestNode("root"))
    _ = try await keeper.restore(into: [root])
    defer { withExtendedLifetime(keeper) {} }
    let found = root.value
    root.value = value
    _ = try await keeper.save([root])
    await keeper.close()
    return found
  }

  func testOlderStatesAreListedOpenedPutBackAndRemoved() async throws {
    _ = try await save("one", version: "1")
    _ = try await save("two", version: "2")
    let all = try history().all()
    XCTAssertEqual(all.map(\.reason), [.version])
    let old = try XCTUnwrap(try history().state(at: all[0], with: .key(key())))
    XCTAssertEqual(old.facts?.applicationVersion, "1")
    let element = try XCTUnwrap(try elements(old).first)
    XCTAssertEqual(try old.values(ofRecord: element.record)?.decode(forKey: "value"), "one")

    try history().putBack(all[0])
    XCTAssertEqual(try history().all().map(\.reason), [.version, .putBack])
    let found = try await save("three", version: "2")
    XCTAssertEqual(found, "one")

    try history().remove(all)
    XCTAssertFalse(try history().all().contains(all[0]))
    XCTAssertNil(try history().state(at: all[0], with: .key(key())))
    try history().remove(all)
  }

  func testNothingIsPutBackWhileAnAppHasTheState() async throws {
    _ = try await save("one", version: "1")
    _ = try await save("two", version: "2")
    let keeper = try launch.keeper()
    _ = try await keeper.restore(into: [TestNode("root")])
    let (moment, before) = (try XCTUnwrap(try history().all().first), launch.storedBytes)
    for change in [{ try self.history().putBack(moment) }, { try self.history().remove([moment]) }]
    {
      XCTAssertThrowsError(try change()) { XCTAssertEqual(($0 as? ArchiveError)?.code, .locked) }
    }
    XCTAssertEqual(launch.storedBytes, before)
    await keeper.close()
  }

  func testATrimmedMomentIsNotPutBack() async throws {
    _ = try await save("one", version: "1")
    _ = try await save("two", version: "2")
    let moment = try XCTUnwrap(try history().all().first)
    let (store, before) = (
      launch.store.memory(named: "main.history-\(moment.id)"), launch.storedBytes
    )
    store.bytes?.removeLast()
    XCTAssertThrowsError(try history().putBack(moment)) {
      XCTAssertEqual(($0 as? ArchiveError)?.code, .truncated)
    }
    XCTAssertEqual(launch.storedBytes, before)
  }
}
