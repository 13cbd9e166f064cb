import ArchiveCodec
import RestorationKit
import Synchronization
import TestSupport
import XCTest

/// Which files a start of an app with windows reads, and how often.
@MainActor
final class SceneReadingTests: XCTestCase {
  private struct Failure: Error {}

  private let app = SceneLaunch()
  /// Whether no delegate can be made.
  private let isFailing = Flag()

  /// The keeper of the last host that counts.
  private var countingKeeper: StateKeeper?

  /// A host whose reads of the files of scenes are counted by the names of these.
  private func countingHost() throws -> (host: SceneHost, counts: () -> [Int]) {
    let counts = Counts()
    let store = HookedStore(app.launch.store) { name, call in
      let isState = name.contains(".scene-") && !name.hasSuffix(".launch")
      if call == .readFirst, isState { counts.add(name) }
    }
    app.launch.endProcess()
    let keeper = try StateKeeper(
      application: Launch.application, directory: store, keys: app.launch.keys)
    countingKeeper = keeper
    let host = SceneHost(keeper)
    host.register(
      SceneConfiguration { [app, isFailing] in
        if isFailing.isSet { throw Failure() }
        return app.makeDelegate()
      })
    return (host, { counts.taken.values.sorted() })
  }

  private final class Counts: Sendable {
    private let counts = Mutex<[String: Int]>([:])
    func add(_ name: String) { counts.withLock { $0[name, default: 0] += 1 } }
    var taken: [String: Int] { counts.withLock { $0 } }
  }

  func testAStartReadsEachFileOnce() async throws {
    try await app.store(count: 3)
    app.prepare = { $0.roots = [TestNode("root")] }
    let (host, counts) = try countingHost()
    let start = try await host.start()
    XCTAssertEqual(start.problems.map(\.description), [])
    XCTAssertEqual(start.restoredScenes.map(\.testRoot?.value), ["3", "2", "1"])
    XCTAssertEqual(counts(), [1, 1, 1])
  }

  func testAStartWithoutAListReadsEachFileOnce() async throws {
    let stored = try await app.store(count: 2)
    try app.launch.store.memory(named: "main.scenes").remove()
    app.prepare = { $0.roots = [TestNode("root")] }
    let (host, counts) = try countingHost()
    let start = try await host.start()
    XCTAssertEqual(Set(start.restoredScenes.map(\.session.persistentIdentifier)), Set(stored))
    XCTAssertEqual(Set(start.restoredScenes.map(\.testRoot?.value)), ["1", "2"])
    XCTAssertEqual(counts(), [1, 1])
  }

  func testOfManyFilesAStartLeavesNoMoreOpenThanAProcessCanHave() async throws {
    try await app.store(count: 66)
    let (host, counts) = try countingHost()
    try await host.start()
    XCTAssertEqual(host.connectedScenes.count, 66)
    XCTAssertEqual(counts(), Array(repeating: 1, count: 64) + [2, 2])
  }

  func testAFileOfAWindowThatIsNotWantedIsReadAgainWhenTheWindowConnects() async throws {
    app.hostDelegate.skipped = Set(try await app.store(count: 1))
    app.prepare = { $0.roots = [TestNode("root")] }
    let (host, counts) = try countingHost()
    host.delegate = app.hostDelegate
    try await host.launch()
    await host.restoreScenes()
    XCTAssertEqual(counts(), [1])
    let scene = try await host.connect(host.openSessions[0])
    XCTAssertEqual(scene.testRoot?.value, "1")
    XCTAssertEqual(counts(), [2])
  }

  func testAFileOfAWindowWhoseDelegateCannotBeMadeIsReadAgainWhenTheWindowConnects() async throws {
    try await app.store(count: 1)
    app.prepare = { $0.roots = [TestNode("root")] }
    let (host, counts) = try countingHost()
    isFailing.isSet = true
    try await host.launch()
    let failures = await host.restoreScenes()
    XCTAssertEqual(failures.values.map(\.code), [.noDelegate])
    isFailing.isSet = false
    let scene = try await host.connect(host.openSessions[0])
    XCTAssertEqual(scene.testRoot?.value, "1")
    XCTAssertEqual(counts(), [2])
  }

  func testAFileThatAnotherHostHasChangedSinceTheLaunchIsReadAnew() async throws {
    try await app.store(count: 1)
    app.prepare = { $0.roots = [TestNode("root")] }
    let (first, counts) = try countingHost()
    try await first.launch()
    await first.close()
    let second = try await app.host()
    await second.restoreScenes()
    second.connectedScenes[0].testRoot?.value = "newer"
    try await second.saveEverything(of: second.connectedScenes[0])
    await second.close()
    await first.restoreScenes()
    XCTAssertEqual(first.connectedScenes.map(\.testRoot?.value), ["newer"])
    XCTAssertEqual(counts(), [2])
  }

  func testAFileThatWasChangedAfterTheKeeperLetTheStateGoIsReadAnew() async throws {
    try await app.store(count: 1)
    app.prepare = { $0.roots = [TestNode("root")] }
    let (first, counts) = try countingHost()
    try await first.launch()
    await countingKeeper?.close()
    let second = try await app.host()
    await second.restoreScenes()
    second.connectedScenes[0].testRoot?.value = "newer"
    try await second.saveEverything(of: second.connectedScenes[0])
    await second.close()
    await first.restoreScenes()
    XCTAssertEqual(first.connectedScenes.map(\.testRoot?.value), ["newer"])
    XCTAssertEqual(counts(), [2])
  }
}
