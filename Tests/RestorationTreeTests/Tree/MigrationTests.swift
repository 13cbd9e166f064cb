import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

@MainActor
final class MigrationTests: XCTestCase {
  private struct Filter: Codable, Hashable {
    var name: String
    var limits: [Int]
  }

  /// Saves one node with what the body encodes, by an app of a version.
  private func save(
    _ launch: Launch, version: Int = 1, nodes: [TestNode]? = nil,
    _ encode: @escaping (StateEncoder) throws -> Void = { _ in }
  ) async throws {
    let node = TestNode("a", value: "stored")
    node.onEncode = encode
    let keeper = try launch.keeper()
    try keeper.register(
      TestNode.self, version: version, migrations: migrations(to: version))
    let report = try await keeper.save(nodes ?? [node])
    XCTAssertEqual(report.problems, [])
  }

  /// Restores one node with migrations, and gives its coder to the body.
  private func restore(
    _ launch: Launch, version: Int, _ migrations: Migrations,
    _ decode: @escaping (StateDecoder) throws -> Void = { _ in }
  ) async throws -> RestorationReport {
    let keeper = try launch.keeper()
    try keeper.register(TestNode.self, version: version, migrations: migrations)
    let node = TestNode("a")
    node.onDecode = decode
    return try await keeper.restore(into: [node])
  }

  func testStepsRunInOrderFromTheStoredVersionOn() async throws {
    for stored in 1...3 {
      let launch = Launch()
      try await save(launch, version: stored)
      var ran: [Int] = []
      let steps = migrations(to: 4) { from, _ in ran.append(from) }
      let report = try await restore(launch, version: 4, steps)
      XCTAssertEqual(ran, Array(stored...3))
      XCTAssertEqual(report.outcome(of: "a"), .restored(by: .existing))
      XCTAssertEqual(report.notes, [.migrated(from: stored)])
      XCTAssertEqual(
        report.entries.first?.description,
        "a (TestNode): restored, already there; migrated from version \(stored)")
    }
  }

  func testAStateOfTheSameVersionIsNotMigrated() async throws {
    let launch = Launch()
    try await save(launch, version: 3)
    let report = try await restore(
      launch, version: 3,
      migrations(to: 3) { _, _ in XCTFail("migrated") })
    XCTAssertEqual(report.outcome(of: "a"), .restored(by: .existing))
    XCTAssertEqual(report.notes, [])
  }

  func testAMigrationRenamesRemovesReadsAndSets() async throws {
    let launch = Launch()
    let filter = Filter(name: "red", limits: [1, 2])
    try await save(launch) { coder in
      coder.encode("Blender", forKey: "name")
      coder.encode(1, forKey: "old")
      try coder.encode(filter, forKey: "filter")
      coder.encode(["x": 1, "y": 2], forKey: "counts")
      coder.encodeContainer(forKey: "box") { inner in
        inner.encode(7, forKey: "width")
        inner.encode("deep", forKey: "text")
      }
    }
    let step = { (state: MigratingState) in
      XCTAssertEqual(state.keys, ["value", "name", "old", "filter", "counts", "box"])
      try state.rename("name", to: "title")
      try state.rename("absent", to: "nothing")
      state.remove("old")
      state.remove("absent")
      var filter = try XCTUnwrap(try state.decodeIfPresent(Filter.self, forKey: "filter"))
      filter.limits.append(3)
      try state.encode(filter, forKey: "filter")
      try state.encode(1.5, forKey: "zoom")
      try state.encode(nil as String?, forKey: "value")
      try state.changeContainer(forKey: "box") { box in
        try box.rename("width", to: "height")
        try box.changeContainer(forKey: "inner") { try $0.encode(true, forKey: "made") }
      }
      XCTAssertFalse(state.contains("name"))
      XCTAssertEqual(state.keys, ["filter", "counts", "box", "title", "zoom"])
      XCTAssertEqual(try state.decodeIfPresent(String.self, forKey: "title"), "Blender")
    }
    let report = try await restore(launch, version: 2, [1: step]) { coder in
      XCTAssertEqual(Set(coder.keys), ["title", "filter", "counts", "zoom", "box"])
      XCTAssertEqual(try coder.decode(String.self, forKey: "title"), "Blender")
      XCTAssertEqual(
        try coder.decode(Filter.self, forKey: "filter"), Filter(name: "red", limits: [1, 2, 3]))
      XCTAssertEqual(try coder.decode([String: Int].self, forKey: "counts"), ["x": 1, "y": 2])
      XCTAssertEqual(try coder.decode(Double.self, forKey: "zoom"), 1.5)
      let box = try XCTUnwrap(try coder.container(forKey: "box"))
      XCTAssertEqual(try box.decode(Int.self, forKey: "height"), 7)
      XCTAssertEqual(try box.decode(String.self, forKey: "text"), "deep")
      XCTAssertEqual(try box.container(forKey: "inner")?.decode(Bool.self, forKey: "made"), true)
    }
    XCTAssertEqual(report.outcome(of: "a"), .restored(by: .existing))
  }

  /// A value that a node has encoded, that a migration reads and sets under another key, and that a node decodes.
  private func assertMoves<Value: ArchiveValue & Equatable>(
    _ value: Value, line: UInt = #line
  ) async throws {
    let launch = Launch()
    try await save(launch) { $0.encode(value, forKey: "old") }
    let step = { (state: MigratingState) in
      try state.encode(try state.decode(Value.self, forKey: "old"), forKey: "new")
    }
    let report = try await restore(launch, version: 2, [1: step]) { coder in
      XCTAssertEqual(try coder.decode(Value.self, forKey: "new"), value, line: line)
    }
    XCTAssertEqual(report.outcome(of: "a"), .restored(by: .existing), line: line)
  }

  func testAMigrationMovesAValueOfEachPlainType() async throws {
    try await assertMoves(true)
    try await assertMoves(Int8.min)
    try await assertMoves(UInt64.max)
    try await assertMoves(Int128.min)
    try await assertMoves(Float(0.1))
    try await assertMoves(-0.1)
    try await assertMoves("text")
    try await assertMoves(Data([0, 255]))
    try await assertMoves(Date(timeIntervalSinceReferenceDate: 0.1))
    try await assertMoves(UUID())
    try await assertMoves(try XCTUnwrap(URL(string: "https://example.org/a")))
    try await assertMoves([UInt8](0...255))
    try await assertMoves([Int.min, 0, Int.max])
    try await assertMoves([0.1, -1])
    try await assertMoves([true, false])
    try await assertMoves(["a", ""])
    try await assertMoves([Data([1]), Data()])
    try await assertMoves([Date(timeIntervalSinceReferenceDate: 1)])
    try await assertMoves([[1], []])
    try await assertMoves(["x": [1.5]])
    try await assertMoves([String: Int]())
  }

  func testAMigrationReadsIntegersOfAnotherWidthAndNoneThatDoNotFit() async throws {
    let launch = Launch()
    try await save(launch) { coder in
      coder.encode(UInt16(300), forKey: "number")
      coder.encode("text", forKey: "text")
    }
    let step = { (state: MigratingState) in
      XCTAssertEqual(try state.decode(Int64.self, forKey: "number"), 300)
      XCTAssertThrowsError(try state.decode(Int8.self, forKey: "number"))
      XCTAssertThrowsError(try state.decodeIfPresent(Int.self, forKey: "text"))
      XCTAssertThrowsError(try state.decode(Int.self, forKey: "absent")) { error in
        XCTAssertEqual((error as? ArchiveError)?.code, .keyNotFound)
      }
      XCTAssertNil(try state.decodeIfPresent(Int.self, forKey: "absent"))
    }
    let report = try await restore(launch, version: 2, [1: step])
    XCTAssertEqual(report.outcome(of: "a"), .restored(by: .existing))
  }

  func testAStepReadsAContainerAsItHasChangedIt() async throws {
    struct Box: Codable, Equatable {
      var width: Int
      var text: String?
    }
    let launch = Launch()
    try await save(launch) { coder in
      coder.encodeContainer(forKey: "box") { inner in
        inner.encode(7, forKey: "width")
        inner.encode("deep", forKey: "text")
      }
    }
    let steps: Migrations = [
      1: { state in
        XCTAssertEqual(
          try state.decodeIfPresent(Box.self, forKey: "box"), Box(width: 7, text: "deep"))
        try state.changeContainer(forKey: "box") { box in
          box.remove("text")
          try box.encode(8, forKey: "width")
        }
        XCTAssertEqual(try state.decodeIfPresent(Box.self, forKey: "box"), Box(width: 8))
        try state.changeContainer(forKey: "box") { box in
          XCTAssertEqual(box.keys, ["width"])
          XCTAssertEqual(try box.decodeIfPresent(Int.self, forKey: "width"), 8)
        }
        try state.rename("box", to: "case")
        XCTAssertEqual(try state.decodeIfPresent(Box.self, forKey: "case"), Box(width: 8))
      },
      2: { state in
        XCTAssertEqual(try state.decodeIfPresent(Box.self, forKey: "case"), Box(width: 8))
      },
    ]
    let report = try await restore(launch, version: 3, steps) { coder in
      XCTAssertEqual(try coder.decode(Box.self, forKey: "case"), Box(width: 8))
    }
    XCTAssertEqual(report.outcome(of: "a"), .restored(by: .existing))
  }

  func testAMigrationReadsWhatMustBeThereAndFailsWithoutIt() async throws {
    for key in ["zoom", "filter", "absent"] {
      let launch = Launch()
      try await save(launch) { coder in
        coder.encode(150, forKey: "zoom")
        try coder.encode(Filter(name: "x", limits: [1]), forKey: "filter")
      }
      let steps: Migrations = [
        1: { state in
          if key == "filter" {
            let filter = try state.decode(Filter.self, forKey: key)
            XCTAssertEqual(filter, Filter(name: "x", limits: [1]))
          } else {
            try state.encode(try state.decode(Int.self, forKey: key) / 100, forKey: "zoom")
          }
        }
      ]
      let report = try await restore(launch, version: 2, steps) { coder in
        XCTAssertEqual(try coder.decode(Int.self, forKey: "zoom"), key == "zoom" ? 1 : 150)
        _ = coder.contains("filter")
      }
      XCTAssertEqual(
        report.outcome(of: "a"),
        key == "absent"
          ? .migrationFailed(
            by: .existing, from: 1, ArchiveError(.keyNotFound, path: ["absent"]).description)
          : .restored(by: .existing))
    }
  }

  func testReferencesAreTheSameAfterAMigration() async throws {
    let launch = Launch()
    let other = TestNode("b")
    let node = TestNode("a")
    node.onEncode = { coder in
      coder.encode(other, forKey: "friend")
      coder.encode([other], forKey: "friends")
      coder.encodeContainer(forKey: "box") { $0.encode(other, forKey: "friend") }
    }
    try await save(launch, nodes: [node, other])
    let keeper = try launch.keeper()
    try keeper.register(
      TestNode.self, version: 2,
      migrations: [
        1: { state in
          try state.rename("friend", to: "peer")
          try state.changeContainer(forKey: "box") { try $0.encode(1, forKey: "new") }
        }
      ])
    let (newNode, newOther) = (TestNode("a"), TestNode("b"))
    newNode.onDecode = { coder in
      XCTAssertIdentical(try coder.decodeObject(TestNode.self, forKey: "peer"), newOther)
      XCTAssertEqual(try coder.decodeObjects(TestNode.self, forKey: "friends").count, 1)
      XCTAssertIdentical(
        try coder.container(forKey: "box")?.decodeObject(TestNode.self, forKey: "friend"), newOther)
      XCTAssertEqual(try coder.container(forKey: "box")?.decode(Int.self, forKey: "new"), 1)
    }
    newOther.onDecode = { coder in
      XCTAssertEqual(try coder.container(forKey: "box")?.decode(Int.self, forKey: "new"), 1)
    }
    // The other has no friend and no box: a step sees what is there.
    let report = try await keeper.restore(into: [newNode, newOther])
    XCTAssertEqual(report.problems, [])
  }

  func testTheFactoryReadsMigratedValues() async throws {
    let launch = Launch()
    let keeper = try launch.keeper()
    try keeper.register(TestNode.self) { _, _ in nil }
    _ = try await keeper.save([TestNode("a", value: "stored")])

    let next = try launch.keeper()
    var seen: String?
    try next.register(
      TestNode.self, version: 2,
      migrations: [1: { try $0.encode("migrated", forKey: "value") }]
    ) { path, coder in
      seen = try coder.decode(String.self, forKey: "value")
      return TestNode(path.identifier)
    }
    let report = try await next.restore()
    XCTAssertEqual(seen, "migrated")
    XCTAssertEqual(report.outcome(of: "a"), .restored(by: .restorationClass))
  }

  func testARestorationClassGivesTheVersionOfNodesWhoseClassIsNotRegistered() async throws {
    let launch = Launch()
    let node = TestNode("a", value: "stored")
    node.restorationClass = TestFactory.self
    _ = try await launch.keeper().save([node])
    let keeper = try launch.keeper()
    try keeper.register(
      restorationClass: TestFactory.self, version: 2,
      migrations: [1: { try $0.encode("migrated", forKey: "value") }])
    let made = TestNode("a")
    TestFactory.make = { _, _ in made }
    defer { TestFactory.make = { _, _ in nil } }
    _ = try await keeper.restore()
    XCTAssertEqual(made.value, "migrated")
  }

  func testObjectsAreMigrated() async throws {
    final class Shared: RestorableObject {
      var value = 0
      func encodeRestorableState(with coder: StateEncoder) { coder.encode(value, forKey: "old") }
      func decodeRestorableState(with coder: StateDecoder) throws {
        value = try coder.decode(forKey: "new")
      }
    }
    let launch = Launch()
    let keeper = try launch.keeper()
    let shared = Shared()
    shared.value = 5
    keeper.registerObject(shared, restorationIdentifier: "shared")
    let node = TestNode("a")
    node.onEncode = { $0.encode(shared, forKey: "shared") }
    _ = try await keeper.save([node])

    let next = try launch.keeper()
    try next.register(
      Shared.self, version: 2,
      migrations: [1: { try $0.rename("old", to: "new") }])
    let again = Shared()
    next.registerObject(again, restorationIdentifier: "shared")
    let report = try await next.restore(into: [TestNode("a")])
    XCTAssertEqual(again.value, 5)
    XCTAssertEqual(report.entries.last?.notes, [.migrated(from: 1)])
  }

  func testTheNextSaveStoresTheNewVersion() async throws {
    let launch = Launch()
    try await save(launch)
    let keeper = try launch.keeper()
    var count = 0
    let steps: Migrations = [1: { _ in count += 1 }]
    try keeper.register(TestNode.self, version: 2, migrations: steps)
    let node = TestNode("a")
    _ = try await keeper.restore(into: [node])
    _ = try await keeper.save([node])
    let report = try await restore(launch, version: 2, steps)
    XCTAssertEqual(report.outcome(of: "a"), .restored(by: .existing))
    XCTAssertEqual(count, 1)
  }

  func testAMigrationThatThrowsCostsTheStateOfItsNodeOnly() async throws {
    struct Failure: Error {}
    let launch = Launch()
    try await save(
      launch,
      nodes: [TestNode("a", value: "first", children: [TestNode("c", value: "below")])])
    let keeper = try launch.keeper()
    var failing = true
    let steps: Migrations = [
      1: { try $0.encode("lost", forKey: "value") },
      2: { state in
        if failing, state.contains("value") {
          failing = false
          throw Failure()
        }
      },
    ]
    try keeper.register(TestNode.self, version: 3, migrations: steps)
    let child = TestNode("c")
    let node = TestNode("a", value: "default", children: [child])
    let report = try await keeper.restore(into: [node])
    XCTAssertEqual(
      report.outcome(of: "a"), .migrationFailed(by: .existing, from: 2, "Failure"))
    XCTAssertEqual(report.outcome(of: "a/c"), .restored(by: .existing))
    XCTAssertEqual(node.value, "default")
    XCTAssertEqual(child.value, "lost")
    XCTAssertEqual(
      report.problems.map(\.reason),
      [
        "already there, but its migration from version 2 failed: Failure; nothing was decoded,"
          + " and saves keep the state as it is stored"
      ])

    // A later version of the app, with a step that works, has the stored state.
    _ = try await keeper.save([node])
    let again = TestNode("a")
    let next = try launch.keeper()
    try next.register(
      TestNode.self, version: 3,
      migrations: migrations(to: 3))
    let last = try await next.restore(into: [again])
    XCTAssertEqual(again.value, "first")
    XCTAssertEqual(last.entries.first?.notes, [.migrated(from: 1)])
  }

  func testAVersionThatIsNotReadAnyMoreIsKept() async throws {
    let launch = Launch()
    try await save(launch)
    let report = try await restore(launch, version: 3, [2: { _ in }])
    XCTAssertEqual(
      report.outcome(of: "a"),
      .migrationFailed(by: .existing, from: 1, "there is no migration from this version"))
  }

  func testMigrationsWithAGapAreRefusedAtRegistration() throws {
    let keeper = try Launch().keeper()
    func refusal(_ version: Int, _ from: [Int]) -> WholeError? {
      do throws(RestorationError) {
        try keeper.register(
          TestNode.self, version: version,
          migrations: Dictionary(uniqueKeysWithValues: from.map { ($0, { _ in }) }))
        return nil
      } catch {
        return WholeError(error)
      }
    }
    for fitting in [(1, []), (2, [1]), (3, [2]), (3, []), (4, [3, 1, 2])] as [(Int, [Int])] {
      XCTAssertNil(refusal(fitting.0, fitting.1), "\(fitting)")
    }
    let refused: [(Int, [Int])] = [
      (0, []), (-1, []), (.min, [.max]), (1, [0]), (1, [1]), (2, [2]), (3, [1]),
      (4, [1, 3]), (2, [0, 1]), (.max, [.min]),
    ]
    for (version, from) in refused {
      XCTAssertEqual(
        refusal(version, from),
        WholeError(
          .invalidMigrations,
          "TestNode has version \(version) and migrations from \(from.sorted())."
            + " There must be one from every version from the oldest that is still read up to the"
            + " one before it."))
    }
  }

  func testAKeyThatIsTakenIsNotRenamedTo() async throws {
    let launch = Launch()
    try await save(launch) { $0.encode(1, forKey: "other") }
    let report = try await restore(
      launch, version: 2, [1: { try $0.rename("value", to: "other") }])
    XCTAssertEqual(
      report.outcome(of: "a"),
      .migrationFailed(
        by: .existing, from: 1, "“value” cannot be renamed, “other” has a value."))
  }

  func testAKeyThatLooksLikeAFactIsOrdinaryInAMigrationToo() async throws {
    let launch = Launch()
    try await save(launch)
    let key = "RestorationKit.timestamp"
    let report = try await restore(
      launch, version: 2,
      [
        1: {
          try $0.rename("value", to: key)
          try $0.changeContainer(forKey: "container") { try $0.encode(1, forKey: key) }
          try $0.encode($0.decodeIfPresent(String.self, forKey: key), forKey: "value")
        }
      ])
    XCTAssertEqual(report.outcome(of: "a"), .restored(by: .existing))
    XCTAssertEqual(
      report.entries.map(\.notes), [[.migrated(from: 1), .unreadKeys([key, "container"])]])
  }

  func testMigrationsSeeACopyAndRunOffTheHooks() async throws {
    let launch = Launch()
    try await save(launch)
    let before = launch.storedBytes
    let keeper = try launch.keeper()
    try keeper.register(
      TestNode.self, version: 2,
      migrations: [1: { try $0.encode("new", forKey: "value") }])
    let seen = Trace()
    let node = TestNode("a", trace: seen)
    _ = try await keeper.restore(into: [node])
    XCTAssertEqual(node.value, "new")
    XCTAssertEqual(launch.storedBytes, before)
    XCTAssertEqual(seen.events, ["load a", "decode a", "finished a"])
  }
}
