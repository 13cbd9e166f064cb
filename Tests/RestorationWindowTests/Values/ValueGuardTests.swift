import ArchiveCodec
import Foundation
import RestorationKit
import Synchronization
import TestSupport
import XCTest

/// Values whose decoding ends the process, which is long after the restore.
@MainActor
final class ValueGuardTests: XCTestCase {
  private let launch = Launch()

  /// A value that runs a hook when it is decoded.
  private struct Trap: Codable, Sendable, Equatable {
    var text = ""

    init(_ text: String = "") { self.text = text }

    init(from decoder: any Decoder) throws {
      text = try decoder.singleValueContainer().decode(String.self)
      if let hook = Trap.hook.withLock({ $0 }) { hook(text) }
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(text)
    }

    static let hook = Mutex<(@Sendable (String) -> Void)?>(nil)
  }

  private struct App {
    @Restored("bad") var bad = Trap("initial")
    @Restored("good") var good = Trap("initial")
    @Restored("draft") var draft = ""
  }

  override func tearDown() async throws { Trap.hook.withLock { $0 = nil } }

  /// A launch of the app; nothing is saved in it but by hand.
  private func run(_ body: (App) async throws -> Void) async throws {
    let session = RestorationSession(
      directory: launch.store, keys: launch.keys, environment: launch.environment,
      now: { Date() })
    try await session.run {
      try await Restoration.begin("org.example.values", signals: [])
      try XCTUnwrap(Restoration.keeper).autosave { [] }.stop()
      try await body(App())
      await Restoration.end()
    }
  }

  private func save() async throws -> PreservationReport {
    try await XCTUnwrap(Restoration.keeper).save([])
  }

  /// What is on the disk, for any thread.
  private struct Disk: Sendable {
    let state: MemoryStorage
    let marker: MemoryStorage

    @MainActor init(_ launch: Launch, _ name: String) {
      state = launch.store.memory(named: name)
      marker = launch.store.memory(named: "\(name).launch")
    }

    var now: LaunchDisk { LaunchDisk(state: state.bytes, marker: marker.bytes) }
  }

  /// What is on the disk while a value with a text is decoded.
  private func disk(decoding text: String, _ read: (App) -> Void) -> LaunchDisk? {
    let disk = Disk(launch, "main")
    let found = Mutex<LaunchDisk?>(nil)
    Trap.hook.withLock {
      $0 = { decoded in
        if decoded == text { found.withLock { $0 = $0 ?? disk.now } }
      }
    }
    defer { Trap.hook.withLock { $0 = nil } }
    read(App())
    return found.withLock { $0 }
  }

  /// A launch that crashes when it reads the bad value, after it has saved something.
  ///
  /// - Returns: Whether it has decoded it.
  @discardableResult
  private func crash(_ before: (App) async throws -> Void = { _ in }) async throws -> Bool {
    var left: LaunchDisk?
    try await run { app in
      try await before(app)
      left = disk(decoding: "stored") { _ = $0.bad }
    }
    if let left { launch.disk = left }
    return left != nil
  }

  private func store() async throws {
    try await run { app in
      (app.bad, app.good, app.draft) = (Trap("stored"), Trap("fine"), "Milk")
      _ = try await save()
    }
  }

  func testAValueThatCrashesWhenItIsReadIsLeftOutAfterTwoCrashesAlsoIfOtherThingsAreSaved()
    async throws
  {
    try await store()
    for round in 1...2 {
      let hasCrashed = try await crash { app in
        XCTAssertEqual(app.good.text, "fine")
        app.draft = "round \(round)"
        _ = try await save()
      }
      XCTAssertTrue(hasCrashed, "\(round)")
    }
    try await run { app in
      let report = try XCTUnwrap(Restoration.report?.get())
      XCTAssertEqual(report.outcome, .restored)
      XCTAssertEqual(report.problems.map(\.path.description), ["@values/bad"])
      XCTAssertEqual(report.outcome(of: "@values/bad"), .skipped)
      XCTAssertNil(disk(decoding: "stored") { XCTAssertEqual($0.bad.text, "initial") })
      XCTAssertEqual(app.good.text, "fine")
      XCTAssertEqual(app.draft, "round 2")
      app.draft = "round 3"
      _ = try await save()
    }
    // What is stored was kept, and is tried again after a launch without it.
    try await run { app in
      XCTAssertEqual(app.bad.text, "stored")
      XCTAssertEqual(app.draft, "round 3")
    }
  }

  func testALaunchThatTriesAValueAgainAndCrashesLeavesItOutForTwiceAsLong() async throws {
    try await store()
    for _ in 1...2 { try await crash() }
    var decoded: [Int] = []
    for launch in 1...12 where try await crash() { decoded.append(launch) }
    // As nodes: after 1 launch without it, then after 2, then after 4.
    XCTAssertEqual(decoded, [2, 5, 10])
  }

  func testAValueThatIsSetWhileItIsLeftOutStandsBesideTheStoredOne() async throws {
    try await store()
    for _ in 1...2 { try await crash() }
    try await run { app in
      app.bad = Trap("new")
      let report = try await save()
      XCTAssertEqual(report.outcome, .saved)
    }
    try await run { app in
      XCTAssertEqual(app.bad.text, "new")
      let report = try XCTUnwrap(Restoration.report?.get())
      XCTAssertEqual(report.kept.map(\.path.description), ["@values/bad"])
    }
  }

  func testALaunchThatReadsTheValueAndEndsWellForgetsTheCrash() async throws {
    try await store()
    for round in 1...3 {
      let hasCrashed = try await crash()
      XCTAssertTrue(hasCrashed, "\(round)")
      try await run { XCTAssertEqual($0.bad.text, "stored", "\(round)") }
    }
  }

  func testACrashAfterTheRestoreThatIsNotInAValueCountsForNothing() async throws {
    try await store()
    for round in 1...5 {
      var left: LaunchDisk?
      try await run { app in
        XCTAssertEqual(app.good.text, "fine", "\(round)")
        left = launch.disk
      }
      launch.disk = try XCTUnwrap(left)
    }
    try await run { app in
      let report = try XCTUnwrap(Restoration.report?.get())
      XCTAssertEqual(report.problems, [])
      XCTAssertEqual(app.bad.text, "stored")
    }
  }

  func testAnotherVersionOfTheAppReadsTheValue() async throws {
    try await store()
    for _ in 1...2 { try await crash() }
    launch.environment = ApplicationEnvironment(applicationVersion: "12", systemVersion: "6.1")
    try await run { XCTAssertEqual($0.bad.text, "stored") }
  }

  func testAnExitOrARestartOfTheMachineWhileAValueIsDecodedIsNoCrash() async throws {
    launch.environment.bootSession = "0"
    try await store()
    for round in 1...3 {
      launch.environment.bootSession = "\(round)"
      let hasCrashed = try await crash()
      XCTAssertTrue(hasCrashed, "\(round)")
    }
    launch.environment.bootSession = "4"
    for round in 1...3 {
      let left = Mutex<LaunchDisk?>(nil)
      let disk = Disk(launch, "main")
      try await run { app in
        Trap.hook.withLock {
          $0 = { _ in
            LaunchMark.noteExit()
            left.withLock { $0 = disk.now }
          }
        }
        XCTAssertEqual(app.bad.text, "stored", "\(round)")
        Trap.hook.withLock { $0 = nil }
      }
      launch.disk = try XCTUnwrap(left.withLock { $0 })
    }
  }

  func testAValueThatIsReadInAHookOfTheRestoreIsBlamedAndNotTheState() async throws {
    try await run { app in
      (app.bad, app.good) = (Trap("stored"), Trap("fine"))
      _ = try await XCTUnwrap(Restoration.keeper).save([TestNode("reader")])
    }
    for round in 1...2 {
      var left: LaunchDisk?
      let reader = TestNode("reader")
      reader.onDecode = { _ in left = self.disk(decoding: "stored") { _ = $0.bad } }
      let session = RestorationSession(
        directory: launch.store, keys: launch.keys, environment: launch.environment,
        now: { Date() })
      try await session.run {
        try await Restoration.begin(
          "org.example.values", signals: [], roots: { [reader] }
        )
        await Restoration.end()
      }
      launch.disk = try XCTUnwrap(left, "\(round)")
    }
    try await run { app in
      XCTAssertEqual(app.bad.text, "initial")
      XCTAssertEqual(app.good.text, "fine")
    }
  }

  // MARK: Scenes

  private final class Model: SceneMember {
    let scene: RestorableScene
    @SceneStorage("bad") var bad = Trap("initial")
    @SceneStorage("page") var page = 0

    init(_ scene: RestorableScene) { self.scene = scene }
  }

  private func host() async throws -> SceneHost {
    let host = SceneHost(try launch.keeper())
    host.register(SceneConfiguration { TestSceneDelegate() })
    try await host.launch()
    return host
  }

  func testAValueOfASceneThatCrashesIsLeftOutAfterTwoCrashes() async throws {
    let first = try await host()
    let opened = try await first.open()
    Model(opened).bad = Trap("stored")
    Model(opened).page = 3
    try await first.save(opened)
    let name = "main"
    for round in 1...2 {
      let host = try await host()
      let scene = try await host.connect(host.openSessions[0])
      let left = Mutex<LaunchDisk?>(nil)
      let disk = Disk(launch, name)
      Trap.hook.withLock { $0 = { _ in left.withLock { $0 = disk.now } } }
      XCTAssertEqual(Model(scene).bad.text, "stored", "\(round)")
      Trap.hook.withLock { $0 = nil }
      let found = try XCTUnwrap(left.withLock { $0 }, "\(round)")
      XCTAssertNotNil(found.state)
      XCTAssertNotNil(found.marker)
      launch.store.memory(named: name).bytes = found.state
      launch.store.memory(named: "\(name).launch").bytes = found.marker
    }
    let host = try await host()
    let scene = try await host.connect(host.openSessions[0])
    let report = try XCTUnwrap(scene.restoration)
    XCTAssertEqual(report.problems.map(\.path.description), ["@values/bad"])
    XCTAssertEqual(Model(scene).bad.text, "initial")
    XCTAssertEqual(Model(scene).page, 3)
    Model(scene).page = 4
    try await host.save(scene)
    let next = try await self.host()
    let again = try await next.connect(next.openSessions[0])
    XCTAssertEqual(Model(again).bad.text, "stored")
    XCTAssertEqual(Model(again).page, 4)
  }
}
