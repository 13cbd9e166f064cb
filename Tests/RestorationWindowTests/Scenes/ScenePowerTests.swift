import ArchiveCodec
import RestorationKit
import Synchronization
import TestSupport
import XCTest

/// The power fails at every write that a life with windows makes.
@MainActor
final class ScenePowerTests: XCTestCase {
  /// What the user may count on, as far as calls have returned.
  private struct Promises {
    /// The products that each window may show after the next launch; nil for none.
    var shown: [String: Set<Int?>] = [:]
    /// Windows whose closing has begun.
    var closing: Set<String> = []
    /// Windows that are closed.
    var closed: Set<String> = []
  }

  private var delegates: [TestSceneDelegate] = []
  private var hostDelegate = TestHostDelegate()

  private func host(
    _ store: any StateDirectory, _ launch: Launch, _ calls: Trace = Trace()
  ) throws -> SceneHost {
    let host = SceneHost(
      try StateKeeper(application: Launch.application, directory: store, keys: launch.keys))
    hostDelegate = TestHostDelegate(calls)
    host.delegate = hostDelegate
    host.declaredActivityTypes = ["product"]
    host.register(
      SceneConfiguration { [unowned self] in
        delegates.append(TestSceneDelegate(calls))
        return delegates[delegates.count - 1]
      })
    return host
  }

  private func activity(_ id: Int) -> UserActivity {
    let activity = UserActivity(activityType: "product")
    activity.userInfo = ["id": .integer(id)]
    return activity
  }

  /// Three windows come, change and go; ends where the power fails.
  private func live(_ host: SceneHost, _ promises: inout Promises) async throws {
    func save(_ scene: RestorableScene, _ delegate: TestSceneDelegate, _ id: Int) async throws {
      let identifier = scene.session.persistentIdentifier
      delegate.activity = activity(id)
      promises.shown[identifier, default: [nil]].insert(id)
      try await host.save(scene)
      promises.shown[identifier] = [id]
    }
    func close(_ scene: RestorableScene) async throws {
      let identifier = scene.session.persistentIdentifier
      promises.closing.insert(identifier)
      try await host.close(scene)
      promises.closed.insert(identifier)
    }
    try await host.launch()
    var scenes: [RestorableScene] = []
    for number in 1...3 {
      let scene = try await host.open()
      scenes.append(scene)
      try await save(scene, delegates[delegates.count - 1], number)
    }
    let last = delegates.count
    try await save(scenes[0], delegates[last - 3], 10)
    try await close(scenes[1])
    try await save(scenes[2], delegates[last - 1], 30)
    let session = scenes[0].session
    try await host.disconnect(scenes[0])
    session.stateRestorationActivity = activity(11)
    promises.shown[session.persistentIdentifier]?.insert(11)
    try await host.saveSessions()
    promises.shown[session.persistentIdentifier] = [11]
    let back = try await host.connect(session)
    try await save(back, delegates[delegates.count - 1], 12)
    try await close(scenes[2])
    try await host.terminate()
  }

  /// What the life calls if the power does not fail.
  private func wholeLife() async throws -> [String] {
    let (launch, calls) = (Launch(), Trace())
    var promises = Promises()
    try await live(try host(launch.store, launch, calls), &promises)
    return calls.events
  }

  func testALifeWithWindowsIsToldInOrder() async throws {
    func opening(_ number: Int) -> [String] {
      ["configurationForConnecting", "willConnectTo"].map { "\($0) \(number)" }
        + ["sceneWillEnterForeground \(number)", "sceneDidBecomeActive \(number)"]
    }
    func saving(_ number: Int) -> [String] {
      [
        "stateRestorationActivity \(number)", #"didUpdate \#(number), product ["id"]"#,
        "restorationRoots \(number)",
      ]
    }
    let life = try await wholeLife()
    // A save of all windows asks all.
    let (third, first) = (["restorationRoots 3"], ["restorationRoots 1"])
    XCTAssertEqual(
      life,
      (1...3).flatMap { opening($0) + saving($0) } + saving(1)
        + ["sceneDidDisconnect 2", "didDiscardSceneSessions [2]"] + saving(3)
        + ["sceneWillResignActive 1", "sceneDidEnterBackground 1"] + saving(1)
        + ["sceneDidDisconnect 1"] + third
        + [
          #"willConnectTo 1, stored product ["id"]"#,
          "sceneWillEnterForeground 1", "restorationRoots 1",
          #"restoreInteractionState 1, product ["id"]"#, "sceneDidBecomeActive 1",
        ] + saving(1) + ["sceneDidDisconnect 3", "didDiscardSceneSessions [3]"] + first)
  }

  func testWhereverThePowerFailsEveryWindowIsAsItWasOrIsToBe() async throws {
    let life = try await wholeLife()
    var isWhole = false
    var cut = 0
    while !isWhole {
      let launch = Launch()
      let power = Power(changes: cut)
      var promises = Promises()
      let calls = Trace()
      do {
        try await live(try host(power.store(over: launch.store), launch, calls), &promises)
      } catch {
        // A change of the storage says where it is, and one of the store does not.
        let expected = [nil, "memory"].map {
          WholeError(ArchiveError(.inputOutput, location: $0))
        }
        let found = try XCTUnwrap((error as? RestorationError).map(WholeError.init))
        XCTAssertTrue(expected.contains(found), "cut \(cut): \(found)")
      }
      isWhole = !power.hasFailed
      // Nobody is told of what is not to be.
      XCTAssertEqual(calls.events, Array(life.prefix(calls.events.count)), "cut \(cut)")
      if isWhole { XCTAssertEqual(calls.events, life) }
      try await check(promises, launch, cut)
      cut += 1
    }
    // Windows are elements of one file.
    XCTAssertGreaterThan(cut, 10)
  }

  private func check(_ promises: Promises, _ launch: Launch, _ cut: Int) async throws {
    let told = TestHostDelegate()
    let host = try host(launch.store, launch)
    host.delegate = told
    try await host.launch()
    let shown = Dictionary(
      uniqueKeysWithValues: host.openSessions.map {
        ($0.persistentIdentifier, $0.stateRestorationActivity?.id)
      })
    XCTAssertTrue(promises.closed.isDisjoint(with: shown.keys), "cut \(cut): one came back")
    for (identifier, allowed) in promises.shown where !promises.closing.contains(identifier) {
      let isThere = shown.keys.contains(identifier)
      // One that was never stored may be gone.
      XCTAssertTrue(isThere || allowed.contains(nil), "cut \(cut): one is lost")
      if let id = shown[identifier] {
        XCTAssertTrue(allowed.contains(id), "cut \(cut): \(String(describing: id)) of \(allowed)")
      }
    }
    // Nothing of a window that is gone is left.
    let names = try launch.store.names().filter { $0.contains(".scene-") }
    for name in names {
      XCTAssertTrue(shown.keys.contains { name.contains($0) }, "cut \(cut): \(name) is left")
    }
    await host.restoreScenes()
    for scene in host.connectedScenes {
      let report = try await host.save(scene)
      XCTAssertNil(report.setAside, "cut \(cut)")
    }
  }
}

/// Counts the changes of a store until its power fails.
private final class Power: Sendable {
  private let left: Mutex<Int>

  init(changes: Int) {
    left = Mutex(changes)
  }

  var hasFailed: Bool { left.withLock { $0 < 0 } }

  /// A store that loses what comes after that.
  func store(over store: MemoryStateDirectory) -> HookedStore {
    HookedStore(store) { [self] _, call throws(ArchiveError) in
      guard !call.isChange || use() else { throw ArchiveError(.inputOutput) }
    }
  }

  private func use() -> Bool {
    left.withLock { left in
      if left >= 0 { left -= 1 }
      return left >= 0
    }
  }
}
