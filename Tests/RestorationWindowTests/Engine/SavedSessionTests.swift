import ArchiveCodec
import Foundation
import RestorationKit
import Synchronization
import TestSupport
import XCTest

/// The states and windows of earlier launches, to go back to.
@MainActor
final class SavedSessionTests: XCTestCase {
  private var directory: TemporaryDirectory?
  let keys = MemoryKeyProvider()
  var now = Date()
  var sessions: SessionBound? = .last(10)
  private var delegates: [TestSceneDelegate] = []

  func path() throws -> String {
    if let directory { return directory.path }
    let made = try TemporaryDirectory()
    directory = made
    return made.path
  }

  func keeper() throws -> StateKeeper {
    let keeper = try StateKeeper(
      application: "org.example.test", directory: FileStateDirectory(path: path()), keys: keys,
      environment: ApplicationEnvironment(applicationVersion: "1"), now: { [self] in now })
    keeper.policy.sessions = sessions
    return keeper
  }

  /// A launch that restores, shows a value and is killed.
  @discardableResult
  func launch(_ value: String?, changes: [String] = []) async throws -> String? {
    let keeper = try keeper()
    let node = TestNode("editor")
    _ = try await keeper.restore(into: [node])
    let found = node.value
    for value in [value].compactMap(\.self) + changes {
      node.value = value
      _ = try await keeper.save([node])
    }
    await keeper.close()
    return found
  }

  /// What each session has, the newest first.
  private func values(_ keeper: StateKeeper) async throws -> [String?] {
    var values: [String?] = []
    for session in try await keeper.savedSessions() {
      try await keeper.putBack(session)
      let node = TestNode("editor")
      _ = try await keeper.restore(into: [node])
      values.append(node.value)
    }
    return values
  }

  func testNothingIsKeptByDefault() async throws {
    sessions = StatePolicy().sessions
    for value in ["one", "two"] { try await launch(value) }
    let keeper = try keeper()
    let found = try await keeper.savedSessions()
    XCTAssertEqual(found, [])
    XCTAssertFalse(FileManager.default.fileExists(atPath: "\(try path())/main.sessions"))
  }

  func testEachLaunchKeepsWhatItHasFoundAlthoughSavesAppendToTheSameFile() async throws {
    try await launch("one", changes: ["one!", "one!!"])
    try await launch("two", changes: (0..<20).map { "two \($0)" })
    try await launch("three")
    let keeper = try keeper()
    _ = try await keeper.restore()
    let found = try await values(keeper)
    XCTAssertEqual(found, ["three", "two 19", "one!!"])
    let count = try await keeper.savedSessions().count
    XCTAssertEqual(count, 3)
  }

  func testALaunchThatFindsTheSameKeepsItOnce() async throws {
    try await launch("one")
    for _ in 0..<15 { try await launch(nil) }
    let keeper = try keeper()
    let found = try await keeper.savedSessions()
    XCTAssertEqual(found.count, 1)
    XCTAssertEqual(found.map(\.windows), [[]])
    let date = try XCTUnwrap(found.first?.date)
    XCTAssertLessThan(abs(date.timeIntervalSinceNow), 60)
  }

  func testTheBoundHoldsForTheNumber() async throws {
    sessions = .last(3)
    for value in 1...6 { try await launch("\(value)") }
    let keeper = try keeper()
    _ = try await keeper.restore()
    let found = try await values(keeper)
    XCTAssertEqual(found, ["6", "5", "4"])
  }

  func testTheBoundHoldsForTheBytes() async throws {
    for value in 1...3 { try await launch("\(value)") }
    let first = try keeper()
    let byteCount = try await first.savedSessions()[0].byteCount
    await first.close()
    // Room for two, of which one is that of the launch.
    sessions = SessionBound(count: 10, byteCount: 2 * byteCount + byteCount / 2 + 200)
    let keeper = try keeper()
    _ = try await keeper.restore()
    let found = try await values(keeper)
    XCTAssertEqual(found, ["3", "2"])
  }

  func testTheBoundHoldsForTheAge() async throws {
    sessions = .within(.seconds(3600))
    for value in 1...3 { try await launch("\(value)") }
    now = Date().addingTimeInterval(7200)
    let keeper = try keeper()
    _ = try await keeper.restore()
    let found = try await values(keeper)
    XCTAssertEqual(found, ["3"], "The one that the launch itself has found.")
  }

  func testTheBoundLeavesNoGapAndNeverTheNewest() throws {
    let directory = try TemporaryDirectory()
    let kept = FileSnapshots("\(directory.path)/kept", of: directory.path)
    for count in [1, 50, 1, 1] {
      let url = URL(filePath: "\(directory.path)/a.rka")
      try Data(count: count).write(to: url, options: .atomic)
      try kept.keep(["a.rka"])
    }
    let all = try kept.all()
    func left(_ bound: SessionBound, _ seconds: TimeInterval = 0) -> [Int] {
      let gone = bound.excess(of: all, at: Date().addingTimeInterval(seconds))
      return all.indices.filter { !gone.contains(all[$0]) }
    }
    XCTAssertEqual(left(SessionBound(count: 4, byteCount: 100)), [0, 1, 2, 3])
    XCTAssertEqual(left(SessionBound(count: 4, byteCount: 20)), [2, 3])
    XCTAssertEqual([-1, 0, 1, 2].map { left(.last($0)) }, [[3], [3], [3], [2, 3]])
    XCTAssertEqual(left(SessionBound(count: 4, byteCount: 0)), [3])
    XCTAssertEqual(left(.within(.seconds(10)), 60), [3])
    XCTAssertEqual(left(.within(.seconds(10)), -60), [0, 1, 2, 3])
    XCTAssertEqual(SessionBound.last(3).excess(of: [], at: Date()), [])
    // Names of files that are not there.
    for name in [
      "a.rka.\(Int.max)", "b.rka.\(Int.max)", "c.rka.-5", "d", ".5", "e.99999999999999999999",
    ] {
      for snapshot in all {
        _ = FileManager.default.createFile(
          atPath: "\(kept.location)/\(snapshot.identifier)/\(name)", contents: nil)
      }
    }
    XCTAssertEqual(
      SessionBound.last(3).excess(of: try kept.all(), at: Date()).map(\.identifier),
      all.dropLast().reversed().map(\.identifier))
  }

  func testASessionStaysWhenItIsPutBack() async throws {
    try await launch("one")
    try await launch("two")
    try await launch("three")
    let keeper = try keeper()
    _ = try await keeper.restore(into: [TestNode("editor")])
    let all = try await keeper.savedSessions()
    let oldest = try XCTUnwrap(all.last)
    try await keeper.putBack(oldest)
    let node = TestNode("editor")
    _ = try await keeper.restore(into: [node])
    XCTAssertEqual(node.value, "one")
    let aside = try await keeper.setAsideStates()
    XCTAssertEqual(aside.map(\.reason), [.replaced])
    let left = try await keeper.savedSessions()
    XCTAssertTrue(left.contains(oldest))
    let last = try XCTUnwrap(aside.last)
    try await keeper.putBack(last)
    _ = try await keeper.restore(into: [node])
    XCTAssertEqual(node.value, "three")
  }

  func testASessionIsNoGenerationAndNothingThatWasSetAside() async throws {
    for value in ["one", "two", "three"] { try await launch(value) }
    let keeper = try keeper()
    let before = try await (keeper.generations(), keeper.setAsideStates())
    XCTAssertEqual(before.0, [])
    XCTAssertEqual(before.1, [])
    try Data("damaged".utf8).write(to: URL(filePath: "\(path())/main.rka"))
    let node = TestNode("editor")
    do {
      _ = try await keeper.restore(into: [node])
      XCTFail("A session stood in for a damaged state.")
    } catch {
      XCTAssertEqual(error.code, .archive)
    }
    XCTAssertNil(node.value)
  }

  func testSessionsGoWithTheStateAndOneByOne() async throws {
    for value in ["one", "two", "three"] { try await launch(value) }
    let keeper = try keeper()
    _ = try await keeper.restore(into: [TestNode("editor")])
    let all = try await keeper.savedSessions()
    XCTAssertEqual(all.count, 3)
    try await keeper.remove(all[1])
    try await keeper.remove(all[1])
    var left = try await keeper.savedSessions()
    XCTAssertEqual(left, [all[0], all[2]])
    do {
      try await keeper.putBack(all[1])
      XCTFail("A session that is gone was put back.")
    } catch {
      XCTAssertEqual(error.code, .setAsideStateMissing)
    }
    try await keeper.discardState()
    left = try await keeper.savedSessions()
    XCTAssertEqual(left, [])
    XCTAssertFalse(FileManager.default.fileExists(atPath: "\(try path())/main.sessions"))
  }

  func testTheSessionsOfAnotherInstanceGoWithItsState() async throws {
    try await launch("one")
    let first = try keeper()
    _ = try await first.restore(into: [TestNode("editor")])
    for _ in 0..<2 {
      let second = try keeper()
      _ = try await second.restore(into: [TestNode("editor")])
      _ = try await second.save([TestNode("editor", value: "second")])
      XCTAssertEqual(second.stateName, "main~2")
      await second.close()
    }
    let sessions = "\(try path())/main~2.sessions"
    XCTAssertTrue(FileManager.default.fileExists(atPath: sessions))
    try await first.discardState(includingSetAside: true)
    XCTAssertFalse(FileManager.default.fileExists(atPath: sessions))
  }

  func testASessionWithADamagedEndIsTheStateBeforeIt() async throws {
    try await launch("one", changes: ["two"])
    let file = try FileHandle(forWritingTo: URL(filePath: "\(path())/main.rka"))
    try file.seekToEnd()
    try file.write(contentsOf: Data(repeating: 7, count: 300))
    try file.close()
    let keeper = try keeper()
    let node = TestNode("editor")
    _ = try await keeper.restore(into: [node])
    XCTAssertEqual(node.value, "two")
    node.value = "three"
    _ = try await keeper.save([node])
    let found = try await values(keeper)
    XCTAssertEqual(found, ["two"])
  }

  func testASessionOpensWithItsKeyOnly() async throws {
    for value in ["one", "two"] { try await launch(value) }
    let keeper = try keeper()
    let listed = try await keeper.savedSessions()
    let session = try XCTUnwrap(listed.first)
    keys.isLocked = true
    do {
      try await keeper.putBack(session)
      XCTFail("A session opened without its key.")
    } catch {
      XCTAssertEqual(error.code, .archive)
    }
  }

  // MARK: Kills

  /// A directory of which the process ends before one of the changes to its sessions.
  struct KilledDirectory: StateDirectory {
    let files: FileStateDirectory
    let beforeChange: @Sendable () throws(ArchiveError) -> Void

    func storage(named name: String) -> any ArchiveStorage { files.storage(named: name) }
    func launchStorage(ofStateNamed name: String) -> any ArchiveStorage {
      files.launchStorage(ofStateNamed: name)
    }
    func names() throws(ArchiveError) -> [String] { try files.names() }
    func keptSessions(ofStateNamed name: String) -> KeptSessions? {
      let snapshots = FileSnapshots(
        "\(files.path)/\(name).sessions", of: files.path, beforeChange: beforeChange)
      return KeptSessions(snapshots) { "\($0).rka" }
    }
  }

  func testTheSessionsSurviveAHundredKillsBetweenAnyTwoCalls() async throws {
    sessions = .last(4)
    var expected: [String] = []
    for number in 0..<100 {
      // Dead from the first, the second and so on call on; the longest launch has eight.
      let left = Mutex(number % 10)
      let killed = KilledDirectory(files: FileStateDirectory(path: try path())) {
        () throws(ArchiveError) in
        let isDead = left.withLock { left in
          left -= 1
          return left < 0
        }
        if isDead { throw ArchiveError(.inputOutput, location: "killed") }
      }
      let keeper = try StateKeeper(
        application: "org.example.test", directory: killed, keys: keys,
        environment: ApplicationEnvironment(applicationVersion: "1"), now: { [self] in now })
      keeper.policy.sessions = sessions
      let node = TestNode("editor")
      _ = try await keeper.restore(into: [node])
      XCTAssertEqual(node.value, expected.last)
      node.value = "\(number)"
      _ = try await keeper.save([node])
      await keeper.close()
      expected.append("\(number)")

      let looking = try self.keeper()
      var found: [Int] = []
      for session in try await looking.savedSessions() {
        if number % 10 == 9 { found.append(try await value(of: session)) }
      }
      let count = try await looking.savedSessions().count
      XCTAssertLessThanOrEqual(count, 5, "The oldest goes with the next launch at the latest.")
      await looking.close()
      guard number % 10 == 9 else { continue }
      XCTAssertEqual(found.prefix(4), [number - 1, number - 2, number - 3, number - 4])
      XCTAssertEqual(found, found.sorted(by: >))
    }
  }

  private func value(of session: SavedSession) async throws -> Int {
    Int(try await text(of: session) ?? "") ?? -1
  }

  // MARK: Windows

  func host() async throws -> SceneHost {
    let host = SceneHost(try keeper())
    host.declaredActivityTypes = ["product"]
    host.register(
      SceneConfiguration { [unowned self] in
        let delegate = TestSceneDelegate(root: TestNode("root", value: "new"))
        delegates.append(delegate)
        return delegate
      })
    try await host.launch()
    return host
  }

  func show(_ value: String, in scene: RestorableScene) {
    let delegate = scene.delegate as? TestSceneDelegate
    (delegate?.roots.first as? TestNode)?.value = value
    let activity = UserActivity(activityType: "product")
    activity.title = "Window \(value)"
    delegate?.activity = activity
    scene.needsSave = true
  }

  func shown(_ scenes: [RestorableScene]) -> [String?] {
    scenes.map { (($0.delegate as? TestSceneDelegate)?.roots.first as? TestNode)?.value }
  }

  /// A launch that opens windows and is killed.
  func launchWindows(_ values: [String]) async throws -> [String] {
    let host = try await host()
    var identifiers: [String] = []
    for value in values {
      let scene = try await host.open()
      show(value, in: scene)
      identifiers.append(scene.session.persistentIdentifier)
    }
    _ = try await host.saveChangedScenes()
    await host.close()
    return identifiers
  }

  func testTheWindowsOfYesterdayOpenAgainAlsoThoseThatWereClosedSince() async throws {
    let identifiers = try await launchWindows(["a", "b", "c"])
    // Today one is closed, one is used and one is discarded by hand; then the app is killed.
    let today = try await host()
    try await today.discard(
      today.openSessions.filter { $0.persistentIdentifier == identifiers[0] })
    let used = try XCTUnwrap(
      today.openSessions.first { $0.persistentIdentifier == identifiers[1] })
    let scene = try await today.connect(used)
    show("b of today", in: scene)
    _ = try await today.saveChangedScenes()
    await today.close()

    let host = try await host()
    let listed = try await host.savedSessions()
    let yesterday = try XCTUnwrap(listed.last)
    XCTAssertEqual(
      yesterday.windows.map(\.persistentIdentifier), identifiers.reversed())
    // The one that is in use stays as it is.
    let open = try XCTUnwrap(host.openSessions.first { $0.persistentIdentifier == identifiers[2] })
    let kept = try await host.connect(open)
    show("c of today", in: kept)
    let scenes = try await host.putBack(yesterday)
    XCTAssertEqual(shown(scenes), ["b", "a"])
    XCTAssertEqual(shown([kept]), ["c of today"])
    _ = try await host.saveChangedScenes()
    await host.close()

    let last = try await self.host()
    await last.restoreScenes()
    XCTAssertEqual(Set(shown(last.connectedScenes)), ["a", "b", "c of today"])
    let aside = try await last.setAsideStates(
      of: try XCTUnwrap(last.openSessions.first { $0.persistentIdentifier == identifiers[1] }))
    XCTAssertEqual(aside.map(\.reason), [.replaced])
  }

  func testOneWindowOfASessionOpensAlone() async throws {
    let identifiers = try await launchWindows(["a", "b"])
    let today = try await host()
    try await today.discard(today.openSessions)
    let listed = try await today.savedSessions()
    let session = try XCTUnwrap(listed.first)
    let scenes = try await today.putBack(
      session, windows: session.windows.filter { $0.persistentIdentifier == identifiers[0] })
    XCTAssertEqual(shown(scenes), ["a"])
    XCTAssertEqual(today.openSessions.map(\.persistentIdentifier), [identifiers[0]])
  }

  func testTitlesAreThoseOfThen() async throws {
    _ = try await launchWindows(["a", "b"])
    let host = try await host()
    let listed = try await host.savedSessions()
    let session = try XCTUnwrap(listed.first)
    XCTAssertEqual(session.windows.map(\.title), ["Window b", "Window a"])
  }
}
