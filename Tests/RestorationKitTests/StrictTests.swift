import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

@MainActor
final class StrictTests: XCTestCase {
  private let scenes = SceneLaunch()
  private var launch: Launch { scenes.launch }

  private func host(_ prepare: @escaping (TestSceneDelegate) -> Void = { _ in }) async throws
    -> SceneHost
  {
    scenes.prepare = prepare
    let keeper = try launch.keeper()
    keeper.isStrict = true
    let host = SceneHost(keeper)
    host.declaredActivityTypes = ["product"]
    let scenes = scenes
    host.register(SceneConfiguration { scenes.makeDelegate() })
    try await host.launch()
    return host
  }

  func testASaveBeforeAnyRestoreThrowsAndChangesNothing() async throws {
    let first = try launch.keeper()
    _ = try await first.restore()
    _ = try await first.save([TestNode("root", value: "x")])
    let stored = launch.storedBytes
    let keeper = try launch.keeper()
    keeper.isStrict = true
    let thrown = await restorationError { _ = try await keeper.save([TestNode("root")]) }
    XCTAssertEqual(thrown?.code, .strict)
    XCTAssertEqual(
      thrown?.description,
      "The keeper is strict, so nothing was saved. Call restore(into:) at launch, before the first"
        + " save.")
    XCTAssertEqual(launch.storedBytes, stored)
    XCTAssertEqual(launch.store.memory(named: "main").setAsideBytes, [])
  }

  func testASaveBeforeAnyRestoreThrowsAlsoWhereNothingIsStored() async throws {
    let keeper = try launch.keeper()
    keeper.isStrict = true
    let thrown = await restorationError { _ = try await keeper.save([TestNode("root")]) }
    XCTAssertEqual(thrown?.code, .strict)
    _ = try await keeper.restore()
    _ = try await keeper.save([TestNode("root")])
  }

  func testWhatASaveBeforeAnyRestoreHasSetAsideIsAProblemInTheReport() async throws {
    let first = try await launch.keeper().save([TestNode("root")])
    XCTAssertEqual(first.problems, [], "Nothing was in its way.")
    let keeper = try launch.keeper()
    let second = try await keeper.save([TestNode("root")])
    XCTAssertEqual(second.notes, [.notRestoredBefore])
    XCTAssertEqual(second.problems.map(\.kind), [.application])
    XCTAssertEqual(
      second.problems.first?.reason,
      "The save came before any restore, so what was stored is set aside. Call restore(into:) at"
        + " launch, before the first save.")
    let third = try await keeper.save([TestNode("root")])
    XCTAssertEqual(third.problems, [], "It replaces what it has written itself.")
  }

  func testADiscardedStateNeedsNoRestore() async throws {
    let keeper = try launch.keeper()
    keeper.isStrict = true
    try await keeper.discardState()
    let report = try await keeper.save([TestNode("root")])
    XCTAssertEqual(report.problems, [])
  }

  func testARestoreThatFailedIsOne() async throws {
    launch.storedBytes = [1, 2, 3]
    _ = try launch.keys.key(creating: true)
    let keeper = try launch.keeper()
    keeper.isStrict = true
    _ = await restorationError { _ = try await keeper.restore() }
    let report = try await keeper.save([TestNode("root")])
    XCTAssertEqual(report.problems, [])
  }

  func testAStateThatWasPutBackIsToBeRestored() async throws {
    let keeper = try launch.keeper()
    _ = try await keeper.save([TestNode("root", value: "first")])
    let second = try launch.keeper()
    _ = try await second.save([TestNode("root", value: "second")])
    let kept = try await second.setAsideStates()
    try await second.putBack(try XCTUnwrap(kept.first))
    let report = try await second.save([TestNode("root", value: "third")])
    XCTAssertEqual(report.notes, [.notRestoredBefore])
  }

  func testAKeyThatNobodyReadThrowsWhenTheRestoreIsComplete() async throws {
    let node = TestNode("root", value: "x")
    node.onEncode = { $0.encode(1, forKey: "nmae") }
    let first = try launch.keeper()
    _ = try await first.save([node])
    let keeper = try launch.keeper()
    keeper.isStrict = true
    let back = TestNode("root")
    let thrown = await restorationError { _ = try await keeper.restore(into: [back]) }
    XCTAssertEqual(thrown?.code, .strict)
    XCTAssertEqual(
      thrown?.description,
      "The keeper is strict: the restore is complete, but not clean. root (TestNode): restored,"
        + " already there\n    problem: Nobody read what is stored under “nmae”. Compare how the key"
        + " and the hook are spelled.")
    XCTAssertEqual(back.value, "x")
  }

  func testAKeyOfTheApplicationThatNobodyReadThrows() async throws {
    let delegate = TestDelegate()
    delegate.onWillEncode = { $0.encode(1, forKey: "tab") }
    let first = try launch.keeper(delegate: delegate)
    _ = try await first.save([])
    let keeper = try launch.keeper(delegate: TestDelegate())
    keeper.isStrict = true
    let thrown = await restorationError { _ = try await keeper.restore() }
    XCTAssertEqual(thrown?.code, .strict)
    XCTAssertEqual(
      thrown?.description,
      "The keeper is strict: the restore is complete, but not clean. application:\n    problem:"
        + " Nobody read what is stored under “tab”. Compare how the key and the hook are spelled.")
  }

  func testEveryProblemOfASceneThrowsAndNothingIsStored() async throws {
    let long = String(repeating: "x", count: 1 << 16)
    let activity = { [scenes] (change: (UserActivity) -> Void) in
      let activity = scenes.activity(1)
      change(activity)
      return activity
    }
    typealias Cause = (SceneHost, RestorableScene, TestSceneDelegate) -> Void
    let problems: [(String, Cause)] = [
      (
        "The activity type “undeclared” is not declared, so the activity is not stored."
          + " Add it to the host's declaredActivityTypes.",
        { $2.activity = UserActivity(activityType: "undeclared") }
      ),
      (
        "The activity “product” was invalidated, so it is not stored. Return one that is valid.",
        { $2.activity = activity { $0.invalidate() } }
      ),
      (
        "The activity's user info lacks name, which it requires.",
        { $2.activity = activity { $0.requiredUserInfoKeys = ["name"] } }
      ),
      (
        "The activity takes ",
        {
          $0.activityByteLimit = 10
          $2.activity = activity { _ in }
        }
      ),
      (
        "The activity “product” cannot be encoded, so it is not stored: A ",
        { $2.activity = activity { $0.userInfo[long] = .integer(1) } }
      ),
      (
        "The value of “\(long)” in the session's user info cannot be encoded, so it was removed: A ",
        { _, scene, _ in scene.session.userInfo[long] = .integer(1) }
      ),
      (
        "The value of “\(LongKeyModel.key)” cannot be encoded, so the stored one stays: A ",
        { _, scene, _ in LongKeyModel(scene).value = 1 }
      ),
      (
        "The value of “draft” is not of the type that was asked for, so its default was used: ",
        { _, scene, _ in
          DraftModel(scene).draft = "text"
          _ = NumberModel(scene).draft
        }
      ),
    ]
    for (sentence, cause) in problems {
      let host = try await host()
      let scene = try await host.open()
      cause(host, scene, scenes.delegates[scenes.delegates.count - 1])
      let thrown = await restorationError { try await host.save(scene) }
      XCTAssertEqual(thrown?.code, .strict, sentence)
      XCTAssertEqual(
        thrown?.description.hasPrefix(
          "The keeper is strict, so nothing was saved. \(sentence)"), true,
        "\(String(describing: thrown))")
      XCTAssertNil(scenes.bytes(of: scene.session.persistentIdentifier), sentence)
      XCTAssertTrue(scene.needsSave, sentence)
    }
  }

  func testASceneWhoseStateCouldNotBeReadIsSavedAndThenThrows() async throws {
    let identifier = try await scenes.store(1, in: try await scenes.host())
    let file = launch.store.memory(named: "main.scene-\(identifier)")
    let damaged = Array(try XCTUnwrap(file.bytes).dropLast(10))
    file.bytes = damaged
    let host = try await host()
    let scene = try await host.connect(host.openSessions[0])
    let thrown = await restorationError { try await host.save(scene) }
    XCTAssertEqual(thrown?.code, .strict)
    XCTAssertEqual(
      thrown?.description.hasPrefix(
        "The keeper is strict; the scene is saved, but it had problems. What is stored of the"
          + " session was not restored: The archive"), true, "\(String(describing: thrown))")
    XCTAssertEqual(file.setAsideBytes, [damaged])
    let report = try await host.save(scene)
    XCTAssertEqual(report.problems, [])
  }

  func testASceneWhoseRestoreWasNotCleanIsConnectedAndThenThrows() async throws {
    try await scenes.store(1, in: try await scenes.host())
    let host = try await host { delegate in
      delegate.roots = [UnrelatedNode("root")]
    }
    let session = host.openSessions[0]
    let failures = await host.restoreScenes()
    XCTAssertEqual(failures.keys.map(\.persistentIdentifier), [session.persistentIdentifier])
    let thrown = failures[session]
    XCTAssertEqual(thrown?.code, .strict)
    XCTAssertEqual(
      thrown?.description,
      "The keeper is strict: the restore is complete, but not clean. root (TestNode): already"
        + " there, but as a UnrelatedNode, so nothing was decoded, and the next save replaces its"
        + " state; if UnrelatedNode is its new name, register it with the old one as an alias")
    XCTAssertEqual(session.scene?.activationState, .foregroundActive)
    XCTAssertEqual(session.scene?.restoration, thrown.map { .failure($0) })
    let scene = try await host.connect(session)
    XCTAssertIdentical(scene, session.scene, "It is there, so nothing is restored again.")
  }

  func testARefreshOfASceneThatIsNotCleanSavesIt() async throws {
    let identifier = try await scenes.store(1, in: try await scenes.host())
    let stored = scenes.bytes(of: identifier)
    let host = try await host { delegate in
      delegate.roots = [UnrelatedNode("root")]
    }
    let thrown = await restorationError { try await host.refresh(host.openSessions[0]) }
    XCTAssertEqual(thrown?.code, .strict)
    XCTAssertNotEqual(scenes.bytes(of: identifier), stored)
    XCTAssertNil(host.openSessions[0].scene)
  }

  func testADuplicateNamesBothOwners() async throws {
    let keeper = try launch.keeper()
    keeper.isStrict = true
    _ = try await keeper.restore()
    let root = TestNode("root", children: [TestNode("x"), UnrelatedNode("x")])
    let thrown = await restorationError { _ = try await keeper.save([root]) }
    XCTAssertEqual(
      thrown?.description,
      """
      The keeper is strict, so nothing was saved. It would be: root/x (TestNode): saved
      root/x (UnrelatedNode): left out, another one has this path; give each of the two an \
      identifier of its own
      """)
  }

  func testAHostTakesStrictnessWhenItMakesAScene() async throws {
    try await scenes.store(1, in: try await scenes.host())
    let keeper = try launch.keeper()
    let host = SceneHost(keeper)
    let scenes = scenes
    host.register(SceneConfiguration { scenes.makeDelegate() })
    scenes.prepare = { $0.roots = [UnrelatedNode("root")] }
    try await host.launch()
    keeper.isStrict = true
    let thrown = await restorationError { try await host.connect(host.openSessions[0]) }
    XCTAssertEqual(thrown?.code, .strict)
  }

  func testAStrictSaveThatThrowsStoresNothing() async throws {
    try await scenes.store(1, in: try await scenes.host())
    let host = try await host { $0.roots = [TestNode("root")] }
    let scene = try await host.connect(host.openSessions[0])
    XCTAssertEqual(host.openSessions[0].stateRestorationActivity?.id, 1)
    scenes.delegates[scenes.delegates.count - 1].activity = UserActivity(
      activityType: "undeclared")
    let thrown = await restorationError { try await host.save(scene) }
    XCTAssertEqual(thrown?.code, .strict)
    // Any other window that is saved writes the list.
    try await host.saveSessions()
    let next = try await scenes.host()
    XCTAssertEqual(next.openSessions[0].stateRestorationActivity?.id, 1)
  }

  func testAStrictSaveThatThrowsForANodeStoresNothingOfTheSceneEither() async throws {
    let identifier = try await scenes.store(1, in: try await scenes.host())
    let host = try await host { $0.roots = [TestNode("root")] }
    let scene = try await host.connect(host.openSessions[0])
    let delegate = scenes.delegates[scenes.delegates.count - 1]
    delegate.activity = scenes.activity(2)
    delegate.roots = [TestNode("x"), TestNode("x")]
    DraftModel(scene).draft = "new"
    let thrown = await restorationError { try await host.save(scene) }
    XCTAssertEqual(thrown?.code, .strict)
    try await host.saveSessions()
    let next = try await scenes.host()
    let back = try await next.connect(next.openSessions[0])
    XCTAssertEqual(back.session.persistentIdentifier, identifier)
    XCTAssertEqual(back.session.stateRestorationActivity?.id, 1)
    XCTAssertEqual(back.session.title, "Product 1")
    XCTAssertEqual(DraftModel(back).draft, "draft 1")
  }

  func testADelegateThatIsGoneThrows() async throws {
    let keeper = try launch.keeper()
    keeper.isStrict = true
    do {
      keeper.delegate = TestDelegate()
    }
    let calls: [() async throws -> Void] = [
      { _ = try await keeper.restore() }, { _ = try await keeper.save([TestNode("root")]) },
      { _ = try await keeper.restore(late: TestNode("root")) },
    ]
    for call in calls {
      let thrown = await restorationError { try await call() }
      XCTAssertEqual(thrown?.code, .strict)
      XCTAssertEqual(
        thrown?.description,
        "The keeper is strict. Nothing is saved or restored, because the delegate is gone. Keep it"
          + " alive, or set it to nil to save and restore without one.")
    }
    XCTAssertNil(launch.storedBytes)
  }

  func testAHostDelegateThatIsGoneIsAProblemOfEachSceneThatIsSaved() async throws {
    let host = try await scenes.host()
    do {
      host.delegate = TestHostDelegate()
    }
    let scene = try await host.open()
    let report = try await host.save(scene)
    XCTAssertEqual(report.problems.map(\.notes), [[.hostDelegateGone]])
    XCTAssertEqual(
      ReportNote.hostDelegateGone.description,
      "The host's delegate is gone. Keep it alive, or set it to nil to go on without one.")
    XCTAssertEqual(report.outcome, .saved)
    host.delegate = nil
    let without = try await host.save(scene)
    XCTAssertEqual(without.problems, [])
  }

  func testARootWithoutIdentifierIsAProblemAndOneWithAnEmptyOneIsMeant() async throws {
    let keeper = try launch.keeper()
    _ = try await keeper.restore()
    let report = try await keeper.save([
      TestNode(nil, children: [TestNode("below")]), TestNode(""),
      TestNode("root", children: [TestNode(nil)]),
    ])
    XCTAssertEqual(report.notes, [.rootWithoutIdentifier])
    XCTAssertEqual(
      report.problems.first?.notes.first?.description,
      "It is a root without restoration identifier, so nothing of it is saved. Give it one, or an"
        + " empty one if that is meant.")
    keeper.isStrict = true
    let thrown = await restorationError { _ = try await keeper.save([TestNode(nil)]) }
    XCTAssertEqual(thrown?.code, .strict)
  }

  func testAUserInfoValueStaysWhenAStrictSaveThrows() async throws {
    let host = try await host()
    let scene = try await host.open()
    let key = String(repeating: "x", count: 1 << 16)
    scene.session.userInfo[key] = .integer(1)
    for _ in 0..<2 {
      let thrown = await restorationError { try await host.save(scene) }
      XCTAssertEqual(thrown?.code, .strict)
    }
    XCTAssertNotNil(scene.session.userInfo[key], "Nothing was saved.")
  }

  func testWhatASaveSaysOfAnUnreadableSceneIsTrueOfThatSave() async throws {
    let identifier = try await scenes.store(1, in: try await scenes.host())
    let file = launch.store.memory(named: "main.scene-\(identifier)")
    file.bytes = file.bytes?.dropLast(10)
    let host = try await scenes.host()
    let scene = try await host.connect(host.openSessions[0])
    let report = try await host.save(scene)
    XCTAssertEqual(file.setAsideBytes.count, 1)
    XCTAssertFalse(
      report.description.contains("its next save sets aside what is stored"), report.description)
  }

  func testNoProblemOfASceneIsSwallowedByTheOneThatIsThrownFirst() async throws {
    let host = try await host()
    let scene = try await host.open()
    let model = DraftModel(scene)
    model.draft = "text"
    model.tags = [:]
    let wrong = WrongModel(scene)
    _ = (wrong.draft, wrong.tags)
    let thrown = await restorationError { try await host.save(scene) }
    let told = thrown?.description ?? ""
    XCTAssertTrue(told.contains("“draft”"), told)
    XCTAssertTrue(told.contains("“tags”"), told)
  }

  func testASaveAfterClosingDoesNotSayThatThereWasNoRestore() async throws {
    _ = try await launch.keeper().save([TestNode("root", value: "x")])
    let keeper = try launch.keeper()
    let root = TestNode("root")
    _ = try await keeper.restore(into: [root])
    _ = try await keeper.save([root])
    await keeper.close()
    let report = try await keeper.save([root])
    XCTAssertFalse(report.description.contains("came before any restore"), report.description)
  }
}

@MainActor
private final class NumberModel: @MainActor SceneMember {
  let scene: RestorableScene
  @SceneStorage("draft") var draft = 7
  init(_ scene: RestorableScene) { self.scene = scene }
}

@MainActor
private final class LongKeyModel: @MainActor SceneMember {
  static let key = String(repeating: "k", count: 2_000)
  let scene: RestorableScene
  @SceneStorage(LongKeyModel.key) var value = 0
  init(_ scene: RestorableScene) { self.scene = scene }
}

@MainActor
private final class WrongModel: @MainActor SceneMember {
  let scene: RestorableScene
  @SceneStorage("draft") var draft = 1
  @SceneStorage("tags") var tags = ""
  init(_ scene: RestorableScene) { self.scene = scene }
}
