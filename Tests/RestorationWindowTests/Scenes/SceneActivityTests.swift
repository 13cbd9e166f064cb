import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// The user activities of scenes: who writes them, what is stored of them, and for how long.
@MainActor
final class SceneActivityTests: XCTestCase {
  private let app = SceneLaunch()

  func testUserInfoStaysWithoutRespondersAndIsEmptiedForOneThatWritesNothing() async throws {
    let host = try await app.host()
    let scene = try await host.open()
    let product = app.activity(5)
    app.delegates[0].activity = product
    let identifier = scene.session.persistentIdentifier
    try await host.save(scene)
    XCTAssertEqual(scene.session.stateRestorationActivity?.id, 5)
    XCTAssertEqual(try app.storedScene(identifier)?.activity?.userInfo, ["id": 5])
    let silent = TestResponder([:])
    scene.setActivity(product, of: silent)
    try await host.save(scene)
    withExtendedLifetime(silent) {}
    XCTAssertEqual(scene.session.stateRestorationActivity?.userInfo, [:])
    XCTAssertEqual(try app.storedScene(identifier)?.activity?.title, "Product 5")
    XCTAssertEqual(try app.storedScene(identifier)?.activity?.userInfo, [:])
  }

  func testAnActivityEndsWithItsLastResponderAndNobodyIsAskedForIt() async throws {
    let host = try await app.host()
    let scene = try await host.open()
    let product = app.activity(5)
    let owner = TestActivityOwner([:], app.calls)
    product.delegate = owner
    app.delegates[0].activity = product
    let responders = [TestResponder(["a": 1], app.calls), TestResponder(["b": 2], app.calls)]
    for responder in responders { scene.setActivity(product, of: responder) }
    scene.setActivity(nil, of: responders[0])
    XCTAssertTrue(product.isValid)
    scene.setActivity(app.activity(6), of: responders[1])
    XCTAssertFalse(product.isValid)
    app.delegates[0].activity = nil
    app.calls.clear()
    let report = try await host.save(scene)
    withExtendedLifetime((owner, responders)) {}
    XCTAssertEqual(app.calls.events, ["stateRestorationActivity 1", "restorationRoots 1"])
    XCTAssertEqual(report.problems, [])
    XCTAssertNil(try app.storedScene(scene.session.persistentIdentifier)?.activity)
  }

  func testAResponderThatIsGoneCountsNoMore() async throws {
    let host = try await app.host()
    let scene = try await host.open()
    let product = app.activity(5)
    app.delegates[0].activity = product
    let living = TestResponder(["a": 1])
    do {
      let passing = TestResponder(["b": 2])
      scene.setActivity(product, of: passing)
      scene.setActivity(product, of: living)
      withExtendedLifetime(passing) {}
    }
    try await host.save(scene)
    XCTAssertEqual(scene.session.stateRestorationActivity?.userInfo, ["a": 1])
    XCTAssertTrue(product.isValid)
    scene.setActivity(nil, of: living)
    XCTAssertFalse(product.isValid)
  }

  func testTheStoredActivityIsACopy() async throws {
    let host = try await app.host()
    let scene = try await host.open()
    let product = app.activity(1)
    app.delegates[0].activity = product
    try await host.save(scene)
    product.userInfo = ["id": 2]
    XCTAssertEqual(scene.session.stateRestorationActivity?.id, 1)
    scene.session.stateRestorationActivity?.userInfo = ["id": 3]
    XCTAssertEqual(scene.session.stateRestorationActivity?.id, 1)
    let set = app.activity(4)
    scene.session.stateRestorationActivity = set
    set.userInfo = ["id": 5]
    XCTAssertEqual(scene.session.stateRestorationActivity?.id, 4)
    try await host.saveSessions()
    let next = try await app.host()
    XCTAssertEqual(next.openSessions[0].stateRestorationActivity?.id, 4)
  }

  func testADelegateThatSaysNothingOfActivitiesStoresNone() async throws {
    final class Silent: SceneDelegate {}
    let first = SceneHost(try app.launch.keeper())
    first.declaredActivityTypes = ["product"]
    first.register(SceneConfiguration { Silent() })
    try await first.launch()
    let scene = try await first.open()
    scene.userActivity = app.activity(1)
    let report = try await first.background(scene)
    XCTAssertEqual(report.outcome, .saved)
    XCTAssertEqual(report.problems, [])
    XCTAssertNil(scene.session.stateRestorationActivity)
    let stored = try XCTUnwrap(try app.storedScene(scene.session.persistentIdentifier))
    XCTAssertNil(stored.activity)
    let second = try await app.host()
    XCTAssertNil(second.openSessions[0].stateRestorationActivity)
    try await second.connect(second.openSessions[0])
    XCTAssertEqual(
      app.calls.events,
      [
        "willConnectTo 1", "sceneWillEnterForeground 1", "restorationRoots 1",
        "sceneDidBecomeActive 1",
      ])
  }

  func testNoActivityClearsTheStoredOne() async throws {
    let host = try await app.host()
    let scene = try await host.open()
    try await host.save(scene)
    XCTAssertNil(scene.session.stateRestorationActivity)
    app.delegates[0].activity = app.activity(1)
    try await host.save(scene)
    XCTAssertEqual(
      try app.storedScene(scene.session.persistentIdentifier)?.activity?.userInfo, ["id": 1])
    app.delegates[0].activity = nil
    try await host.save(scene)
    XCTAssertNil(scene.session.stateRestorationActivity)
    XCTAssertNil(try app.storedScene(scene.session.persistentIdentifier)?.activity)
  }

  private func notStored(_ type: String, _ reason: String) -> ReportNote {
    .activityNotStored(type, reason)
  }

  func testAnUndeclaredTypeIsReported() async throws {
    let host = try await app.host()
    let scene = try await host.open()
    app.delegates[0].activity = UserActivity(activityType: "other")
    let undeclared = try await host.save(scene)
    XCTAssertEqual(
      undeclared.problems.map(\.reason),
      [
        "saved. The activity “other” is not stored: its type is not declared. Add it to the host's"
          + " declaredActivityTypes."
      ])
    XCTAssertEqual(undeclared.problems.map(\.kind), [.scene])
    XCTAssertNil(scene.session.stateRestorationActivity)
    XCTAssertNil(try app.storedScene(scene.session.persistentIdentifier)?.activity)
  }

  func testAValueThatCannotBeStoredIsReportedAndKeepsNothingElseFromIt() async throws {
    var secret: PropertyListValue = "do not print me"
    for _ in 0..<60 { secret = [secret] }
    let host = try await app.host()
    let scene = try await host.open()
    let longKey = String(repeating: "k", count: 3000)
    scene.session.userInfo = ["deep": secret, "kept": 1, longKey: 2]
    let product = app.activity(1)
    product.userInfo["deep"] = secret
    app.delegates[0].activity = product
    app.delegates[0].roots = [TestNode("root", value: "kept")]
    let report = try await host.save(scene)
    XCTAssertEqual(report.entries.map(\.kind), [.scene, .node])
    let notes = report.entries[0].notes
    XCTAssertEqual(notes.count, 3)
    XCTAssertEqual(
      notes[0], .activityNotStored("product", "Collections may be nested 32 deep."))
    XCTAssertEqual(
      notes[1], .userInfoNotStored(key: "deep", "Collections may be nested 32 deep."))
    XCTAssertFalse("\(report)".contains("print me"), "\(report)")
    XCTAssertEqual(
      try app.launch.storedRecords()?[scene.session.persistentIdentifier + "/root"]?.value, "kept")
    let next = try await app.host()
    XCTAssertEqual(next.openSessions[0].userInfo, ["kept": 1])
  }

  func testRequiredKeysAreAllThatIsStoredAndOneThatIsMissingIsReported() async throws {
    let host = try await app.host()
    let scene = try await host.open()
    let product = app.activity(1)
    product.addUserInfoEntries(from: ["more": 2])
    product.requiredUserInfoKeys = ["id", "missing"]
    app.delegates[0].activity = product
    let report = try await host.save(scene)
    XCTAssertEqual(report.notes, [.requiredKeysMissing(["missing"])])
    XCTAssertEqual(scene.session.stateRestorationActivity?.userInfo, ["id": 1])
    XCTAssertEqual(
      try app.storedScene(scene.session.persistentIdentifier)?.activity?.userInfo, ["id": 1])
  }

  func testAnInvalidActivityIsNotStored() async throws {
    let host = try await app.host()
    let scene = try await host.open()
    let product = app.activity(1)
    product.invalidate()
    app.delegates[0].activity = product
    let report = try await host.save(scene)
    XCTAssertEqual(
      report.notes, [notStored("product", "it was invalidated. Return nil for no activity.")])
    XCTAssertNil(scene.session.stateRestorationActivity)
    XCTAssertNil(try app.storedScene(scene.session.persistentIdentifier)?.activity)
  }

  func testAnActivityThatHasExpiredDoesNotComeBack() async throws {
    let first = try await app.host()
    let scene = try await first.open()
    let product = app.activity(1)
    product.expirationDate = app.launch.now + 60
    app.delegates[0].activity = product
    try await first.disconnect(scene)
    app.launch.now += 59
    let early = try await app.host()
    XCTAssertEqual(early.openSessions[0].stateRestorationActivity?.id, 1)
    app.launch.now += 1
    let late = try await app.host()
    XCTAssertNil(late.openSessions[0].stateRestorationActivity)
    try await late.connect(late.openSessions[0])
    XCTAssertEqual(app.delegates[1].interactions.count, 0)
  }

  func testStoredActivitiesAreDeletedByTheirPersistentIdentifier() async throws {
    let first = try await app.host()
    for number in 1...3 {
      let scene = try await first.open()
      let product = app.activity(number)
      product.persistentIdentifier = "p\(number)"
      app.delegates[number - 1].activity = product
      scene.session.userInfo = ["kept": true]
      try await first.disconnect(scene)
    }
    let second = try await app.host()
    try await second.deleteSavedUserActivities(withPersistentIdentifiers: ["p1", "p3", "p9"])
    XCTAssertEqual(second.openSessions.map(\.title), [nil, "Product 2", nil])
    let third = try await app.host()
    XCTAssertEqual(third.openSessions.map { $0.stateRestorationActivity?.id }, [nil, 2, nil])
    XCTAssertTrue(third.openSessions.allSatisfy { $0.userInfo == ["kept": true] })
    await third.restoreScenes()
    XCTAssertEqual(app.delegates[3...].flatMap(\.interactions).map(\.id), [2])
  }

  func testUserInfoOfTheDeepestNestingIsStored() async throws {
    var deep: Any = 1
    for _ in 0..<PropertyListValue.deepestNesting { deep = [deep] }
    let host = try await app.host()
    let scene = try await host.open()
    scene.session.userInfo = ["deep": try PropertyListValue(deep)]
    let product = app.activity(1)
    try product.setUserInfo(["deep": deep])
    app.delegates[0].activity = product
    let report = try await host.save(scene)
    XCTAssertEqual(report.problems, [])
    let next = try await app.host()
    XCTAssertEqual(next.openSessions[0].userInfo, scene.session.userInfo)
    XCTAssertEqual(next.openSessions[0].stateRestorationActivity?.userInfo, product.userInfo)
  }

  func testWhateverIsNestedDeeperIsReportedAndNoSaveFails() async throws {
    for depth in 31...45 {
      var deep: PropertyListValue = 1
      for _ in 0..<depth { deep = [deep] }
      let app = SceneLaunch()
      let host = try await app.host()
      let scene = try await host.open()
      DraftModel(scene).draft = "kept"
      scene.session.userInfo = ["deep": deep]
      let product = app.activity(1)
      product.userInfo["deep"] = deep
      app.delegates[0].activity = product
      let report = try await host.save(scene)
      let isStored = depth <= PropertyListValue.deepestNesting
      XCTAssertEqual(report.notes.count, isStored ? 0 : 2, "\(depth): \(report)")
      let next = try await app.host()
      XCTAssertEqual(next.openSessions[0].userInfo, isStored ? ["deep": deep] : [:], "\(depth)")
      try await next.connect(next.openSessions[0])
      XCTAssertEqual(DraftModel(next.connectedScenes[0]).draft, "kept")
    }
  }

  func testAURLThatIsNoneWhenItIsReadIsReportedAndKeepsNothingElseFromIt() async throws {
    let empty = try XCTUnwrap(URLComponents().url)
    let host = try await app.host()
    let scene = try await host.open()
    DraftModel(scene).draft = "kept"
    scene.session.userInfo = ["empty": .url(empty), "kept": 1]
    let product = app.activity(1)
    product.userInfo["empty"] = .url(empty)
    app.delegates[0].activity = product
    let report = try await host.save(scene)
    XCTAssertEqual(report.notes.count, 2, "\(report)")
    let next = try await app.host()
    XCTAssertNil(next.openSessions[0].failure)
    XCTAssertEqual(next.openSessions[0].userInfo, ["kept": 1])
    try await next.connect(next.openSessions[0])
    XCTAssertEqual(DraftModel(next.connectedScenes[0]).draft, "kept")
  }

  func testAValueOfOneSessionThatCannotBeStoredKeepsThoseOfOthersFromNothing() async throws {
    let first = try await app.host()
    for number in 1...2 { try await app.store(number, in: first) }
    var deep: PropertyListValue = 1
    for _ in 0..<60 { deep = [deep] }
    let values: [(PropertyListValue, reason: String)] = [
      (.url(try XCTUnwrap(URLComponents().url)), "A URL cannot be encoded at"),
      (deep, "Collections may be nested 32 deep."),
    ]
    for (value, reason) in values {
      let host = try await app.host()
      let sessions = host.openSessions
      sessions[0].userInfo = ["bad": value, "good": 1]
      sessions[0].stateRestorationActivity = app.activity(7)
      sessions[1].userInfo = ["other": 2]
      let error = await restorationError { try await host.saveSessions() }
      XCTAssertEqual(error?.code, .unsupportedValue)
      let sentence = try XCTUnwrap(error?.description)
      XCTAssertTrue(
        sentence.hasPrefix("The user info “bad” cannot be stored: \(reason)"), sentence)
      XCTAssertTrue(sentence.hasSuffix(" All else is stored."), sentence)
      let next = try await app.host()
      XCTAssertEqual(next.openSessions.map(\.userInfo), [["good": 1], ["other": 2]])
      XCTAssertEqual(next.openSessions[0].stateRestorationActivity?.id, 7)
      for session in next.openSessions { session.userInfo = [:] }
      try await next.saveSessions()
    }
  }
}
