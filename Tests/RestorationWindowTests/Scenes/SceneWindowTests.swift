import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

/// Windows that are brought back together, as AppKit does, and their values.
@MainActor
final class SceneWindowTests: XCTestCase {
  private let app = SceneLaunch()

  func testTheEndOfARestoreIsToldWithoutWindowsToo() async throws {
    let host = try await app.host()
    await host.restoreScenes()
    XCTAssertEqual(app.calls.events, ["hostDidFinishRestoringScenes"])
    XCTAssertEqual(app.hostDelegate.finishedCount, 1)
  }

  func testAllScenesComeBackInTheirOrder() async throws {
    let first = try await app.host()
    for number in 1...3 { try await app.store(number, in: first) }
    let second = try await app.host()
    let failures = await second.restoreScenes()
    XCTAssertEqual(failures, [:])
    XCTAssertEqual(second.openSessions.map(\.title), ["Product 3", "Product 2", "Product 1"])
    XCTAssertEqual(second.connectedScenes.count, 3)
    XCTAssertTrue(second.connectedScenes.allSatisfy { $0.activationState == .foregroundActive })
    let third = try await app.host()
    XCTAssertEqual(third.openSessions, second.openSessions)
  }

  func testADelegateThatIsMadeLateGetsTheStateAndTheLaunchGoesOnMeanwhile() async throws {
    try await app.store(1, in: try await app.host())
    let host = SceneHost(try app.launch.keeper())
    host.delegate = app.hostDelegate
    var resume: CheckedContinuation<Void, Never>?
    host.register(
      SceneConfiguration { [app] in
        await withCheckedContinuation { resume = $0 }
        return app.makeDelegate()
      })
    try await host.launch()
    let restoring = Task { @MainActor in _ = await host.restoreScenes() }
    try await waitUntil("a delegate is to be made") { resume != nil }
    XCTAssertEqual(app.hostDelegate.finishedCount, 0)
    XCTAssertTrue(host.connectedScenes.isEmpty)
    let late = try XCTUnwrap(resume)
    await Task.detached { late.resume() }.value
    await restoring.value
    XCTAssertEqual(app.hostDelegate.finishedCount, 1)
    XCTAssertEqual(DraftModel(host.connectedScenes[0]).draft, "draft 1")
  }

  func testADelegateThatCannotBeMadeDoesNotStopTheOthers() async throws {
    let first = try await app.host()
    for number in 1...3 { try await app.store(number, in: first) }
    let host = SceneHost(try app.launch.keeper())
    host.delegate = app.hostDelegate
    var isSecond = false
    host.register(
      SceneConfiguration { [app] in
        defer { isSecond.toggle() }
        if isSecond { throw Failure() }
        return app.makeDelegate()
      })
    try await host.launch()
    let failed = host.openSessions[1]
    let failures = await host.restoreScenes()
    XCTAssertEqual(failures.keys.map(\.title), ["Product 2"])
    XCTAssertEqual(
      failures.mapValues(WholeError.init),
      [failed: WholeError(.noDelegate, "The scene's delegate could not be made: Failure")])
    XCTAssertEqual(host.connectedScenes.map(\.session.title), ["Product 3", "Product 1"])
    XCTAssertEqual(app.hostDelegate.finishedCount, 1)
    // It is not lost.
    XCTAssertEqual(host.openSessions[1], failed)
    let next = try await app.host()
    XCTAssertEqual(next.openSessions.count, 3)
  }

  func testASessionThatTheHostDoesNotWantIsSkippedAndStaysStored() async throws {
    let first = try await app.host()
    try await app.store(1, in: first)
    app.hostDelegate.skipped = [try await app.store(2, in: first)]
    let host = try await app.host()
    await host.restoreScenes()
    XCTAssertEqual(host.connectedScenes.map(\.session.title), ["Product 1"])
    XCTAssertEqual(host.openSessions.map(\.title), ["Product 2", "Product 1"])
    XCTAssertEqual(app.hostDelegate.finishedCount, 1)
    XCTAssertEqual(app.hostDelegate.discarded, [])
    XCTAssertEqual(
      app.calls.events,
      [
        "shouldRestore 2", "shouldRestore 1", #"willConnectTo 1, stored Product 1 ["id"]"#,
        "sceneWillEnterForeground 1", "restorationRoots 1",
        #"restoreInteractionState 1, Product 1 ["id"]"#, "sceneDidBecomeActive 1",
        "hostDidFinishRestoringScenes",
      ])
  }

  func testADelegateThatFollowsAnotherSceneIsRefused() async throws {
    let host = SceneHost(try app.launch.keeper())
    let only = TestSceneDelegate()
    host.register(SceneConfiguration { only })
    try await host.launch()
    let scene = try await host.open()
    let error = await restorationError { try await host.open() }
    XCTAssertEqual(
      error,
      WholeError(
        .noDelegate, "The delegate follows another scene. Make a new one for every scene."))
    XCTAssertEqual(host.openSessions, [scene.session])
    XCTAssertEqual(only.connected.count, 1)
  }

  func testASceneThatIsNotRestorableLeavesNothingBehind() async throws {
    let first = try await app.host()
    let stored = try await app.store(1, in: first)
    let scene = first.connectedScenes[0]
    XCTAssertTrue(scene.session.isRestorable)
    scene.session.isRestorable = false
    let report = try await first.save(scene)
    XCTAssertEqual(report.outcome, .declined)
    XCTAssertNil(app.bytes(of: stored))
    let second = try await app.host()
    XCTAssertEqual(second.openSessions, [])
    XCTAssertEqual(app.hostDelegate.discarded, [[stored]])
  }

  func testASceneOfAConfigurationThatRestoresNothingIsNotStoredUnlessItSaysSo() async throws {
    func host() async throws -> SceneHost {
      let host = SceneHost(try app.launch.keeper())
      host.delegate = app.hostDelegate
      host.declaredActivityTypes = ["product"]
      host.register(SceneConfiguration { [app] in app.makeDelegate() })
      host.register(
        SceneConfiguration(name: "palette", isRestorable: false) { [app] in app.makeDelegate() })
      try await host.launch()
      return host
    }
    let first = try await host()
    let document = try await first.open()
    let palette = try await first.open(configurationName: "palette")
    let wanted = try await first.open(configurationName: "palette")
    let scenes = [document, palette, wanted]
    XCTAssertEqual(scenes.map(\.session.isRestorable), [true, false, false])
    wanted.session.isRestorable = true
    for (number, scene) in scenes.enumerated() {
      app.delegates[number].activity = app.activity(number)
      app.delegates[number].roots = [TestNode("root", value: "\(number)")]
      DraftModel(scene).draft = "draft \(number)"
    }
    app.calls.clear()
    let reports = try await first.saveChangedScenes()
    XCTAssertEqual(
      scenes.map { reports[$0.session]?.outcome }, [.saved, .declined, .saved])
    XCTAssertEqual(app.calls.events.filter { $0.hasSuffix(" 2") }, [], "It was asked.")
    XCTAssertEqual(
      scenes.map { app.bytes(of: $0.session.persistentIdentifier) == nil }, [false, true, false])
    let second = try await host()
    XCTAssertEqual(second.openSessions, [wanted.session, document.session])
    XCTAssertEqual(app.hostDelegate.discarded, [[palette.session.persistentIdentifier]])
    await second.restoreScenes()
    XCTAssertEqual(second.connectedScenes.map { DraftModel($0).draft }, ["draft 2", "draft 0"])
  }

  func testAScenesOwnWishToComeBackGoesBeforeThatOfItsConfiguration() async throws {
    let first = try await app.host(isRestorable: false)
    let stored = try await app.store(1, in: first)
    let other = try await app.store(2, in: first)
    first.connectedScenes.first { $0.session.persistentIdentifier == stored }?
      .session.isRestorable = true
    for scene in first.connectedScenes { try await first.save(scene) }
    XCTAssertNotNil(app.bytes(of: stored))
    XCTAssertNil(app.bytes(of: other))
    let second = try await app.host(isRestorable: false)
    XCTAssertEqual(second.openSessions.map(\.persistentIdentifier), [stored])
    await second.restoreScenes()
    let scene = try XCTUnwrap(second.connectedScenes.first)
    XCTAssertEqual(DraftModel(scene).draft, "draft 1")
    XCTAssertEqual(scene.session.stateRestorationActivity?.id, 1)
    XCTAssertTrue(scene.session.isRestorable)
  }

  func testANewSceneIsAsRestorableAsTheConfigurationThatTheHostsDelegateChooses() async throws {
    for isRestorable in [true, false] {
      let host = try await app.host(isRestorable: isRestorable)
      app.hostDelegate.configuration = SceneConfiguration(
        name: "chosen", isRestorable: !isRestorable
      ) { [app] in app.makeDelegate() }
      let scene = try await host.open()
      XCTAssertEqual(scene.session.isRestorable, !isRestorable)
      let report = try await host.save(scene)
      XCTAssertEqual(report.outcome, isRestorable ? .declined : .saved)
      XCTAssertEqual(app.bytes(of: scene.session.persistentIdentifier) == nil, isRestorable)
      scene.session.isRestorable = isRestorable
      try await host.disconnect(scene)
      try await host.connect(scene.session)
      XCTAssertEqual(scene.session.isRestorable, isRestorable, "The session has its own word.")
      await host.close()
    }
  }

  func testTheOrderOfWindowsIsStoredThoughNoneHasChanged() async throws {
    let first = try await app.host()
    let back = try await app.store(1, in: first)
    let front = try await app.store(2, in: first)
    XCTAssertEqual(first.openSessions.map(\.persistentIdentifier), [front, back])
    try await first.connect(first.openSessions[1])
    try await first.saveChangedScenes()
    // Killed here.
    let second = try await app.host()
    XCTAssertEqual(second.openSessions.map(\.persistentIdentifier), [back, front])
  }

  func testASceneThatIsMarkedOftenIsSavedOnce() async throws {
    let host = try await app.host()
    let scene = try await host.open()
    try await host.open()
    let both = try await host.saveChangedScenes()
    XCTAssertEqual(both.count, 2)
    for _ in 1...5 { scene.needsSave = true }
    app.calls.clear()
    let reports = try await host.saveChangedScenes()
    XCTAssertEqual(Array(reports.keys), [scene.session])
    // A save of all windows asks all for their roots, in no order.
    XCTAssertEqual(app.calls.events.first, "stateRestorationActivity 1")
    XCTAssertEqual(
      app.calls.events.dropFirst().sorted(), ["restorationRoots 1", "restorationRoots 2"])
    let none = try await host.saveChangedScenes()
    XCTAssertTrue(none.isEmpty)
  }

  func testAnActivityThatNeedsSavingIsSaved() async throws {
    let host = try await app.host()
    let scene = try await host.open()
    let product = app.activity(1)
    scene.userActivity = product
    app.delegates[0].activity = product
    try await host.save(scene)
    var reports = try await host.saveChangedScenes()
    XCTAssertTrue(reports.isEmpty)
    product.needsSave = true
    reports = try await host.saveChangedScenes()
    XCTAssertEqual(reports.count, 1)
    XCTAssertFalse(product.needsSave)
  }

  func testQuittingMayCloseAllScenes() async throws {
    let first = try await app.host()
    let stored = try await app.store(1, in: first)
    try await first.terminate(closingScenes: true)
    XCTAssertNil(app.bytes(of: stored))
    XCTAssertTrue(first.connectedScenes.isEmpty)
    let second = try await app.host()
    XCTAssertEqual(second.openSessions, [])
    XCTAssertEqual(app.hostDelegate.discarded, [[stored]])
  }

  func testQuittingSavesWhatHasChanged() async throws {
    let first = try await app.host()
    let scene = try await first.open()
    DraftModel(scene).draft = "last words"
    try await first.terminate()
    let second = try await app.host()
    XCTAssertFalse(second.followsCrash)
    await second.restoreScenes()
    XCTAssertEqual(DraftModel(second.connectedScenes[0]).draft, "last words")
  }

  // MARK: Activation

  func testActivatingASessionWithoutSceneMakesANewSceneOfItWithTheActivity() async throws {
    let host = try await app.host()
    let scene = try await host.open()
    try await host.disconnect(scene)
    let back = try await host.connect(scene.session, activity: app.activity(7))
    XCTAssertTrue(back.session === scene.session)
    XCTAssertFalse(back === scene)
    XCTAssertEqual(app.delegates[1].connected[0].options.userActivities.map(\.id), [7])
    // One that is connected goes on with it.
    try await host.connect(back.session, activity: app.activity(8))
    XCTAssertEqual(app.delegates[1].continued.map(\.id), [8])
  }

  func testActivatingNothingMakesANewSessionAndScene() async throws {
    let host = try await app.host()
    let (one, two) = (try await host.open(), try await host.open(activity: app.activity(7)))
    XCTAssertNotEqual(one.session, two.session)
    XCTAssertEqual(host.openSessions, [two.session, one.session])
    XCTAssertEqual(app.delegates[1].connected[0].options.userActivities.map(\.id), [7])
    try await host.saveChangedScenes()
    try await host.connect(one.session)
    try await host.connect(two.session, activity: app.activity(8))
    XCTAssertEqual([one.needsSave, two.needsSave], [true, true])
  }

  func testADiscardedSessionDoesNotConnectAgain() async throws {
    let host = try await app.host()
    let scene = try await host.open()
    try await host.close(scene)
    let error = await restorationError { try await host.connect(scene.session) }
    XCTAssertEqual(
      error,
      WholeError(.notConnected, "The session is not open. Use one of the host's openSessions."))
    try await host.discard(scene.session)
    XCTAssertEqual(app.hostDelegate.discarded.count, 1)
  }

  func testAConfigurationIsChosenOnceForASession() async throws {
    let first = try await app.host()
    app.hostDelegate.configuration = SceneConfiguration(name: "old") { [app] in app.makeDelegate() }
    let scene = try await first.open()
    XCTAssertEqual(scene.session.configurationName, "old")
    try await first.background(scene)
    // The name is gone, so the delegate is asked again, as for a renamed class.
    app.hostDelegate.configuration = nil
    let second = try await app.host()
    let session = second.openSessions[0]
    let failures = await second.restoreScenes()
    XCTAssertEqual(
      failures.mapValues(WholeError.init),
      [
        session: WholeError(
          .noConfiguration,
          "No configuration is registered for the role “windowApplication” and the name “old”."
            + " Register one with the host.")
      ])
    app.hostDelegate.configuration = SceneConfiguration(name: "new") { [app] in app.makeDelegate() }
    try await second.connect(session)
    XCTAssertEqual(session.configurationName, "new")
    // As the scenes were restored, and as it connected.
    XCTAssertEqual(
      app.calls.events.filter { $0.hasPrefix("configurationForConnecting") },
      ["configurationForConnecting 1", "configurationForConnecting 1"])
  }
}

private struct Failure: Error {}
