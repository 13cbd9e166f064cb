import ArchiveCodec
import Foundation
import RestorationKit
import RestorationTesting
import TestSupport
import XCTest

@MainActor
final class HostRestartTests: XCTestCase {
  private func tester(_ directory: (any StateDirectory)? = nil) -> RestorationTester {
    let tester = RestorationTester(directory: directory)
    tester.prepareHost = { host in
      host.declaredActivityTypes = ["product"]
      host.register(SceneConfiguration { TestSceneDelegate(root: TestNode("root")) })
    }
    return tester
  }

  func testAllWindowsOfAHostComeBackWithTheirNodesActivitiesAndValues() async throws {
    let tester = tester()
    let host = try await tester.launchHost()
    XCTAssertIdentical(tester.host, host)
    let scenes = [try await host.open(), try await host.open()]
    for (number, scene) in scenes.enumerated() {
      scene.testRoot?.value = "\(number)"
      DraftModel(scene).draft = "draft \(number)"
      let activity = UserActivity(activityType: "product")
      activity.userInfo = ["id": .integer(number)]
      (scene.delegate as? TestSceneDelegate)?.activity = activity
    }
    let again = try await tester.restart(host)
    XCTAssertNotIdentical(again.host, host)
    XCTAssertEqual(again.host.connectedScenes.count, 2)
    XCTAssertTrue(again.host.followsCrash)
    for (number, old) in scenes.enumerated() {
      let scene = try XCTUnwrap(again.scene(for: old))
      XCTAssertEqual(scene.testRoot?.value, "\(number)")
      XCTAssertEqual(scene.session.stateRestorationActivity?.id, number)
      let identifier = old.session.persistentIdentifier
      XCTAssertEqual(DraftModel(scene).draft, "draft \(number)")
      XCTAssertEqual(again.saved[identifier]?.savedPaths, ["root"])
      XCTAssertEqual(again.restored[identifier]?.outcome, .restored)
    }
  }

  func testWindowsGoThroughRestartAfterRestart() async throws {
    let tester = tester()
    let host = try await tester.launchHost()
    let first = try await host.open()
    first.testRoot?.value = "1"
    let second = try await tester.restart(host)
    second.scene(for: first)?.testRoot?.value? += "2"
    let third = try await tester.restart(second.host)
    XCTAssertEqual(third.scene(for: first)?.testRoot?.value, "12")
  }

  func testWhatWasSetOnAWindowThatIsNotConnectedComesBack() async throws {
    let tester = tester()
    let host = try await tester.launchHost()
    let scene = try await host.open()
    try await host.disconnect(scene)
    scene.session.userInfo = ["set": .integer(1)]
    let again = try await tester.restart(host)
    XCTAssertEqual(again.scene(for: scene)?.session.userInfo, ["set": .integer(1)])
    XCTAssertEqual(again.saved, [:])
  }

  func testAHostOfAnotherLaunchCannotBeRestarted() async throws {
    let tester = tester()
    let first = try await tester.launchHost()
    _ = try await tester.launchHost()
    do {
      _ = try await tester.restart(first)
      XCTFail("It did not throw.")
    } catch let failure as RestorationTestFailure {
      XCTAssertEqual(failure.code, .otherHost)
    }
  }

  func testAWindowThatDoesNotComeBackFailsTheTestUnlessTheTesterAllowsProblems() async throws {
    for allowsProblems in [false, true] {
      let tester = tester()
      tester.prepareHost = { host in
        // The app discards a window that is to come back.
        host.register(
          SceneConfiguration { [unowned host] in
            if host.connectedScenes.isEmpty, host.openSessions.count > 1 {
              try await host.discard(host.openSessions[1])
            }
            return TestSceneDelegate()
          })
      }
      tester.allowsProblems = allowsProblems
      let host = try await tester.launchHost()
      let scene = try await host.open()
      try await host.open()
      do {
        let again = try await tester.restart(host)
        XCTAssertTrue(allowsProblems)
        XCTAssertNil(again.scene(for: scene))
      } catch let failure as RestorationTestFailure {
        XCTAssertFalse(allowsProblems)
        XCTAssertEqual(failure.code, .missingWindow)
        XCTAssertEqual(failure.subject, scene.session.persistentIdentifier)
      }
    }
  }

  func testAProblemOfAWindowFailsTheTest() async throws {
    let tester = tester()
    let host = try await tester.launchHost()
    let scene = try await host.open()
    scene.testRoot?.restorationChildren = [TestNode("child")]
    let thrown = await testFailure { _ = try await tester.restart(host) }
    XCTAssertEqual(thrown?.code, .problems)
    XCTAssertEqual(thrown?.subject, "The restore")
  }

  func testAWindowWhoseStateCannotBeReadFailsTheTestUnlessTheTesterAllowsProblems() async throws {
    let (directory, keys) = (MemoryStateDirectory(), MemoryKeyProvider())
    let tester = RestorationTester(directory: directory, keys: keys)
    tester.prepareHost = { host in
      host.register(SceneConfiguration { TestSceneDelegate(root: TestNode("root")) })
    }
    let host = try await tester.launchHost()
    for _ in 1...2 { try await host.background(try await host.open()) }
    tester.kill()
    let key = try XCTUnwrap(try keys.key(creating: false))
    let (storage, context) = (
      directory.memory(named: "main"), ArchiveContext([tester.application, "main"])
    )
    let builder = RecordBuilder()
    var hasChanged = false
    for record in try XCTUnwrap(try Archive.open(storage, key: key, context: context)).readAll() {
      let content = try record.content.get()
      try builder.append(record: record.identifier) { coder in
        if !hasChanged, content.keys.contains("@scene") {
          hasChanged = true
          return coder.encode("text", forKey: "@scene")
        }
        try coder.copyAll(from: content)
      }
    }
    _ = try Archive.write(try builder.finish(), to: storage, key: key, context: context)
    let thrown = await restorationError { _ = try await tester.launchHost() }
    XCTAssertEqual(thrown?.code, .archive)
    XCTAssertEqual(tester.host?.connectedScenes.count, 1, "The other window was tried.")

    tester.allowsProblems = true
    let again = try await tester.launchHost()
    XCTAssertEqual(again.connectedScenes.count, 1)
  }

  func testTheDelegateOfEachHostLives() async throws {
    let tester = tester()
    let calls = Trace()
    tester.makeHostDelegate = { TestHostDelegate(calls) }
    let host = try await tester.launchHost()
    _ = try await host.open()
    calls.clear()
    _ = try await tester.restart(host)
    XCTAssertEqual(calls.events, ["shouldRestore 1", "hostDidFinishRestoringScenes"])
  }
}
