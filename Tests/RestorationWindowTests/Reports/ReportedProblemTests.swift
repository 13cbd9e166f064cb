import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

/// What reports call a problem.
@MainActor
final class ReportedProblemTests: XCTestCase {
  private let scenes = SceneLaunch()
  private var launch: Launch { scenes.launch }

  private func host(_ prepare: @escaping (TestSceneDelegate) -> Void = { _ in }) async throws
    -> SceneHost
  {
    scenes.prepare = prepare
    let host = SceneHost(try launch.keeper())
    host.declaredActivityTypes = ["product"]
    let scenes = scenes
    host.register(SceneConfiguration { scenes.makeDelegate() })
    try await host.launch()
    return host
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
    try await keeper.discardState()
    let report = try await keeper.save([TestNode("root")])
    XCTAssertEqual(report.problems, [])
  }

  func testARestoreThatFailedIsOne() async throws {
    launch.storedBytes = [1, 2, 3]
    _ = try launch.keys.key(creating: true)
    let keeper = try launch.keeper()
    _ = await restorationError { _ = try await keeper.restore() }
    let report = try await keeper.save([TestNode("root")])
    XCTAssertEqual(report.problems, [])
  }

  func testAStateThatWasPutBackIsToBeRestored() async throws {
    let keeper = try launch.keeper()
    _ = try await keeper.save([TestNode("root", value: "first")])
    let second = try launch.keeper()
    _ = try await second.save([TestNode("root", value: "second")])
    let kept = try await second.history()
    try await second.putBack(try XCTUnwrap(kept.first))
    let report = try await second.save([TestNode("root", value: "third")])
    XCTAssertEqual(report.notes, [.notRestoredBefore])
  }

  func testAKeyThatNobodyReadIsAProblem() async throws {
    let node = TestNode("root", value: "x")
    node.onEncode = { $0.encode(1, forKey: "nmae") }
    let first = try launch.keeper()
    _ = try await first.save([node])
    let keeper = try launch.keeper()
    let back = TestNode("root")
    let report = try await keeper.restore(into: [back])
    XCTAssertEqual(
      report.problems.map(\.description),
      [
        "root (TestNode): restored, already there\n    problem: Nobody read what is stored under"
          + " “nmae”. Compare how the key and the hook are spelled."
      ])
    XCTAssertEqual(back.value, "x")
  }

  func testAKeyOfTheApplicationThatNobodyReadIsAProblem() async throws {
    let delegate = TestDelegate()
    delegate.onWillEncode = { $0.encode(1, forKey: "tab") }
    let first = try launch.keeper(delegate: delegate)
    _ = try await first.save([])
    let keeper = try launch.keeper(delegate: TestDelegate())
    let report = try await keeper.restore()
    XCTAssertEqual(
      report.problems.map(\.description),
      [
        "application:\n    problem: Nobody read what is stored under “tab”. Compare how the key and"
          + " the hook are spelled."
      ])
  }

  func testEveryProblemOfASceneIsInItsReport() async throws {
    let long = String(repeating: "x", count: 1 << 16)
    let activity = { [scenes] (change: (UserActivity) -> Void) in
      let activity = scenes.activity(1)
      change(activity)
      return activity
    }
    typealias Cause = (SceneHost, RestorableScene, TestSceneDelegate) -> Void
    let (undeclared, invalid, lacks, large) = (
      "The activity “undeclared” is not stored: its type is not declared.",
      "The activity “product” is not stored: it was invalidated.",
      "The activity is stored without “name”, which it requires.",
      "The activity “product” is not stored: "
    )
    let userInfo = "The user info “\(long)” cannot be stored: "
    let problems: [(String, Cause)] = [
      (undeclared, { $2.activity = UserActivity(activityType: "undeclared") }),
      (invalid, { $2.activity = activity { $0.invalidate() } }),
      (lacks, { $2.activity = activity { $0.requiredUserInfoKeys = ["name"] } }),
      (large, { $2.activity = activity { $0.userInfo[long] = .integer(1) } }),
      (userInfo, { _, scene, _ in scene.session.userInfo[long] = .integer(1) }),
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
      let report = try await host.save(scene)
      // The values of windows are those of the keeper, too.
      let notes = report.problems.flatMap(\.notes)
      XCTAssertEqual(notes.map { $0.description.hasPrefix(sentence) }, [true], "\(report)")
      XCTAssertNotNil(scenes.bytes(of: scene.session.persistentIdentifier), sentence)
    }
  }

  func testASceneWhoseRestoreWasNotCleanIsConnected() async throws {
    try await scenes.store(1, in: try await scenes.host())
    let host = try await host { delegate in
      delegate.roots = [UnrelatedNode("root")]
    }
    let session = host.openSessions[0]
    let failures = await host.restoreScenes()
    XCTAssertEqual(failures, [:])
    let report = try XCTUnwrap(session.scene?.restoration)
    let what = "; nothing was decoded, and saves keep the state as it is stored"
    XCTAssertEqual(
      report.problems.first?.description,
      "root (TestNode): already there, but as a UnrelatedNode\(what); if UnrelatedNode is its new"
        + " name, register it with the old one as an alias")
    XCTAssertEqual(session.scene?.activationState, .foregroundActive)
    let scene = try await host.connect(session)
    XCTAssertIdentical(scene, session.scene, "It is there, so nothing is restored again.")
  }

  func testWithADelegateThatIsGoneNothingIsSavedOrRestored() async throws {
    let keeper = try launch.keeper()
    do {
      keeper.delegate = TestDelegate()
    }
    let restored = try await keeper.restore()
    let saved = try await keeper.save([TestNode("root")])
    let late = try await keeper.restore(late: TestNode("root"))
    XCTAssertEqual([restored.outcome, late.outcome], [.delegateGone, .delegateGone])
    XCTAssertEqual(saved.outcome, .delegateGone)
    XCTAssertNil(launch.storedBytes)
  }

  func testARootWithoutIdentifierIsAProblemAndOneWithAnEmptyOneIsMeant() async throws {
    let keeper = try launch.keeper()
    _ = try await keeper.restore()
    let report = try await keeper.save([
      TestNode(nil, children: [TestNode("below")]), TestNode(""),
      TestNode("root", children: [TestNode(nil)]),
    ])
    XCTAssertEqual(report.notes, [.rootWithoutIdentifier])
    let sentence =
      "It is a root without restoration identifier, so it is not saved. Give it one, or an empty one."
    XCTAssertEqual(report.problems.first?.notes.first?.description, sentence)
  }

  func testTheReportHasAllProblemsOfAScene() async throws {
    let host = try await host()
    let scene = try await host.open()
    let model = DraftModel(scene)
    model.draft = "text"
    model.tags = [:]
    let wrong = WrongModel(scene)
    _ = (wrong.draft, wrong.tags)
    let told = try await host.save(scene).description
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
