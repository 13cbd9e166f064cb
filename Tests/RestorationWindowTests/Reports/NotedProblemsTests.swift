// The new core notes no problems beside a state: they are printed, and `Restoration.lastSave` has the report.
#if !RESTORATION_NEXT
import ArchiveCodec
import Foundation
import RestorationInspection
import RestorationKit
import TestSupport
import XCTest

/// The problems of the last save, which a tool reads beside a state without the app.
@MainActor
final class NotedProblemsTests: XCTestCase {
  private struct Typed: Error, CustomStringConvertible {
    static let words = "words that a user typed"

    var description: String { Self.words }
  }

  /// The app: each keeper is a launch, over one directory.
  @MainActor
  private struct App {
    let directory: TemporaryDirectory
    let keys = MemoryKeyProvider()
    private let trees = Keep()

    private final class Keep { var all: [AnyObject] = [] }

    init() throws { directory = try TemporaryDirectory() }

    func keeper(version: String = "1") throws -> StateKeeper {
      try StateKeeper(
        application: "org.example.noted", directory: FileStateDirectory(path: directory.path),
        keys: keys, environment: ApplicationEnvironment(applicationVersion: version))
    }

    func noted(_ name: String = "main") throws -> [String] {
      StoredLaunches.problemsOfLastSave(
        in: FileStateDirectory(path: directory.path), named: name, of: "org.example.noted",
        with: try XCTUnwrap(try keys.key(creating: false)))
    }
  }

  private func failing(_ node: TestNode) -> TestNode {
    node.onEncode = { _ in throw Typed() }
    return node
  }

  private func tree() -> TestNode {
    TestNode(
      "typed/identifier",
      children: [failing(TestNode("a")), failing(SpecialTestNode("b")), failing(TestNode("c"))])
  }

  private func lock(_ app: App, _ name: String = "main") throws -> [UInt8] {
    try app.directory.bytes(of: ".\(name).rka.lock")
  }

  func testTheProblemsOfTheLastSaveAreReadWithoutTheApp() async throws {
    let app = try App()
    let keeper = try app.keeper()
    let root = tree()
    _ = try await keeper.restore(into: [root])
    let report = try await keeper.save([root])
    XCTAssertEqual(report.problems.count, 3)
    let expected = ["SpecialTestNode: encodeFailed", "TestNode: encodeFailed (2)"]
    XCTAssertEqual(try app.noted(), expected)
    await keeper.close()
    XCTAssertEqual(try app.noted(), expected, "They stay when the app ends.")

    let next = try app.keeper()
    _ = try await next.restore(into: [root])
    XCTAssertEqual(try app.noted(), expected, "They stay until a save has others.")
    root.restorationChildren.removeLast(2)
    _ = try await next.save([root])
    XCTAssertEqual(try app.noted(), ["TestNode: encodeFailed"])
    (root.restorationChildren.first as? TestNode)?.onEncode = nil
    _ = try await next.save([root])
    XCTAssertEqual(try app.noted(), [])
    await next.close()
    XCTAssertEqual(try app.noted(), [])
  }

  func testTheNoteIsSealedAndHasNoValueAndNoPath() async throws {
    let app = try App()
    let keeper = try app.keeper()
    _ = try await keeper.save([tree()])
    let noted = try app.noted().joined(separator: "\n")
    XCTAssertFalse(noted.isEmpty)
    for text in [Typed.words, "typed", app.directory.path] {
      XCTAssertFalse(noted.contains(text), noted)
    }
    let bytes = String(decoding: try lock(app), as: UTF8.self)
    XCTAssertFalse(bytes.contains("encodeFailed"))
    let other = StoredLaunches.problemsOfLastSave(
      in: FileStateDirectory(path: app.directory.path), named: "main", of: "org.example.noted",
      with: try ArchiveKey())
    XCTAssertEqual(other, [], "Another key opens nothing.")
    await keeper.close()
  }

  /// A node of many classes, whose names may be long.
  @MainActor
  private final class Generic<Value>: @MainActor RestorableNode {
    let restorationIdentifier: String?

    init(_ identifier: String) { restorationIdentifier = identifier }

    func encodeRestorableState(with coder: StateEncoder) throws { throw Typed() }
    func decodeRestorableState(with coder: StateDecoder) throws {}
  }

  private enum ANameThatIsLongerThanAnyoneWouldChooseForTheClassOfAScreenOrForAPartOfAScreen {}

  private func noted(of nodes: [any RestorableNode]) async throws -> [String] {
    let app = try App()
    let keeper = try app.keeper()
    _ = try await keeper.save([TestNode("root", children: nodes)])
    await keeper.close()
    return try app.noted()
  }

  func testANoteHasEightLinesAndFiveHundredAndTwelveBytesAtMost() async throws {
    let same = try await noted(of: (0..<300).map { failing(TestNode("node\($0)")) })
    XCTAssertEqual(same, ["TestNode: encodeFailed (300)"])
    let short: [any RestorableNode] = [
      Generic<Int>("1"), Generic<Int8>("2"), Generic<Int16>("3"), Generic<Int32>("4"),
      Generic<Int64>("5"), Generic<UInt>("6"), Generic<UInt8>("7"), Generic<UInt16>("8"),
      Generic<UInt32>("9"),
    ]
    let eight = try await noted(of: Array(short.dropLast()))
    XCTAssertEqual(eight.count, 8, "\(eight)")
    XCTAssert(eight.allSatisfy { $0.hasSuffix(": encodeFailed") }, "\(eight)")
    let nine = try await noted(of: short)
    XCTAssertEqual(nine.count, 8, "\(nine)")
    XCTAssertEqual(nine.last, "and 2 more")
    typealias Long = ANameThatIsLongerThanAnyoneWouldChooseForTheClassOfAScreenOrForAPartOfAScreen
    let long = try await noted(of: [
      Generic<(Long, Int)>("1"), Generic<(Long, Int8)>("2"), Generic<(Long, Int16)>("3"),
      Generic<(Long, Int32)>("4"), Generic<(Long, Int64)>("5"), Generic<(Long, UInt)>("6"),
      Generic<(Long, UInt8)>("7"),
    ])
    XCTAssertLessThanOrEqual(long.joined(separator: "\n").utf8.count, 512)
    XCTAssert(long.first?.hasSuffix(": encodeFailed") == true, "\(long)")
    XCTAssert(long.last?.hasSuffix(" more") == true, "\(long)")
  }

  func testASaveThatFailsIsNotedUntilOneIsStored() async throws {
    let app = try App()
    let keeper = try app.keeper()
    let root = TestNode("root", children: [TestNode("a"), TestNode("b")])
    _ = try await keeper.save([root])
    keeper.policy.nodeLimit = 2
    do {
      _ = try await keeper.save([root])
      XCTFail("It has too many nodes.")
    } catch {
      XCTAssertEqual(error.code, .tooManyNodes)
    }
    XCTAssertEqual(try app.noted(), ["save failed: tooManyNodes"])
    keeper.policy.nodeLimit = 3
    _ = try await keeper.save([root])
    XCTAssertEqual(try app.noted(), [])
    await keeper.close()
  }

  func testAProblemIsNotedAsLongAsItsElementHasItWhateverElseChanges() async throws {
    let app = try App()
    let keeper = try app.keeper()
    let (root, well, ill) = (TrackedNode("root"), TrackedNode("well"), TrackedNode("ill"))
    root.below = [well, ill] + (0..<9).map { TrackedNode("node\($0)") }
    ill.references = [PlainNode(nil)]
    _ = try await keeper.save([root])
    let noted = try app.noted()
    XCTAssertEqual(noted, ["TrackedNode: referenceWithoutIdentifier"])
    for text in ["another", "a third"] {
      well.value = text
      _ = try await keeper.save([root])
      XCTAssertEqual(try app.noted(), noted)
    }
    root.below += [TrackedNode("same"), TrackedNode("same")]
    ill.references = []
    ill.throwsInEncode = true
    _ = try await keeper.save([root])
    XCTAssertEqual(try app.noted(), ["TrackedNode: duplicate", "TrackedNode: encodeFailed"])
    await keeper.close()
  }

  func testTheProblemsOfAWindowAreBesideItsState() async throws {
    let app = try App()
    let host = SceneHost(try app.keeper())
    let delegate = TestSceneDelegate(root: failing(TestNode("root")))
    delegate.activity = UserActivity(activityType: "org.example.undeclared")
    host.declaredActivityTypes = []
    host.register(SceneConfiguration { delegate })
    try await host.launch()
    let scene = try await host.open()
    _ = try await host.save(scene)
    let name = "main.scene-\(scene.session.persistentIdentifier)"
    let noted = try app.noted(name)
    XCTAssert(noted.contains("TestNode: encodeFailed"), "\(noted)")
    XCTAssert(noted.contains("scene: undeclaredActivityType"), "\(noted)")
    await host.close()
    XCTAssertEqual(try app.noted(name), noted)
  }

  // MARK: What it must not touch

  func testASaveIsStoredWhereNothingCanBeNoted() async throws {
    let app = try App()
    let host = SceneHost(try app.keeper())
    let delegate = TestSceneDelegate(root: failing(TestNode("root")))
    host.register(SceneConfiguration { delegate })
    try await host.launch()
    let scene = try await host.open()
    let name = "main.scene-\(scene.session.persistentIdentifier)"
    // A directory in the place of the file.
    try FileManager.default.createDirectory(
      atPath: app.directory.child(".\(name).rka.lock"), withIntermediateDirectories: true)
    let report = try await host.save(scene)
    XCTAssertEqual(report.outcome, .saved)
    XCTAssertEqual(report.problems.count, 1)
    XCTAssertEqual(try app.noted(name), [])
    await host.close()
  }

  func testCrashesAreCountedBesideANote() async throws {
    let app = try App()
    let root = tree()
    let first = try app.keeper()
    _ = try await first.save([root])
    await first.close()
    let noted = try app.noted()
    XCTAssertNotEqual(noted, [])
    // Copies of the files are what a killed process leaves.
    let crashing = try app.keeper()
    let delegate = TestDelegate()
    crashing.delegate = delegate
    var files: [String: [UInt8]] = [:]
    delegate.onDidDecode = { _ in
      for file in try app.directory.names() { files[file] = try app.directory.bytes(of: file) }
    }
    _ = try await crashing.restore(into: [root])
    withExtendedLifetime(delegate) {}
    await crashing.close()
    for (file, bytes) in files { try app.directory.write(bytes, to: file) }
    let key = try XCTUnwrap(try app.keys.key(creating: false))
    let states = FileStateDirectory(path: app.directory.path)
    let state = try XCTUnwrap(
      try StoredState.open(
        states.storage(named: "main"), named: "main", of: "org.example.noted", with: .key(key)))
    let launches = try StoredLaunches(
      in: states, named: "main", of: "org.example.noted", before: state, with: key)
    XCTAssertEqual(launches.crashCount, 1)
    XCTAssertEqual(try app.noted(), noted)
  }
}
#endif
