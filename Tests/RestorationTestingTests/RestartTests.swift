import ArchiveCodec
import Foundation
import RestorationKit
import RestorationTesting
import TestSupport
import XCTest

@MainActor
final class RestartTests: XCTestCase {
  func testARestartGivesAnotherRootWithTheStateAndBothReports() async throws {
    let root = TestNode("root", value: "typed", children: [TestNode("child", value: "below")])
    let tester = RestorationTester()
    let again = try await tester.restart(root) {
      TestNode("root", children: [TestNode("child")])
    }
    XCTAssertNotIdentical(again, root)
    XCTAssertEqual(again.value, "typed")
    XCTAssertEqual((again.restorationChildren.first as? TestNode)?.value, "below")
    XCTAssertEqual(tester.saved?.savedPaths, ["root", "root/child"])
    XCTAssertEqual(tester.restored?.outcome, .restored)
    XCTAssertEqual(tester.restored?.outcome(of: "root/child"), .restored(by: .existing))
  }

  func testSeveralRootsAreRestartedTogether() async throws {
    let again = try await RestorationTester().restart(
      [TestNode("a", value: "1"), TestNode("b", value: "2")]
    ) { [TestNode("a"), TestNode("b")] }
    XCTAssertEqual(again.compactMap { ($0 as? TestNode)?.value }, ["1", "2"])
  }

  func testWhatOneRestartGaveGoesThroughTheNext() async throws {
    let tester = RestorationTester()
    let second = try await tester.restart(TestNode("root", value: "1")) { TestNode("root") }
    second.value? += "2"
    let third = try await tester.restart(second) { TestNode("root") }
    XCTAssertEqual(third.value, "12")
  }

  func testAClosureThatReturnsTheSavedRootFailsTheTest() async throws {
    let root = TestNode("root")
    do {
      _ = try await RestorationTester().restart(root) { root }
      XCTFail("It did not throw.")
    } catch let failure as RestorationTestFailure {
      XCTAssertEqual(failure.code, .sameRoot)
      XCTAssertEqual(
        failure.description,
        "TestNode: The closure makes another root, as a new process does."
          + " It returned the root that was saved.")
    }
    do {
      _ = try await RestorationTester().restart([TestNode("a"), root]) { [TestNode("a"), root] }
      XCTFail("It did not throw.")
    } catch let failure as RestorationTestFailure {
      XCTAssertEqual(failure.code, .sameRoot)
    }
  }

  func testAProblemOfARestoreFailsTheTestUnlessTheTesterAllowsProblems() async throws {
    let tester = RestorationTester()
    let root = TestNode("root", children: [TestNode("child", value: "x")])
    let thrown = await testFailure { try await tester.restart(root) { TestNode("root") } }
    XCTAssertEqual(thrown?.code, .problems)
    XCTAssertEqual(thrown?.subject, "The restore")
    XCTAssertEqual(thrown?.seen, tester.restored?.problems.map(\.description).joined())

    tester.allowsProblems = true
    try await tester.restart(root) { TestNode("root") }
    XCTAssertEqual(tester.restored?.outcome(of: "root/child"), .notFound)
  }

  func testEachLaunchHasARegisteredKeeperAndADelegateThatLives() async throws {
    var keepers: [ObjectIdentifier] = []
    let trace = Trace()
    let tester = RestorationTester { keeper in
      keepers.append(ObjectIdentifier(keeper))
      try keeper.register(SpecialTestNode.self) { path, _ in
        SpecialTestNode(path.components.last)
      }
    }
    tester.makeDelegate = { TestDelegate(trace) }
    let root = TestNode("root", children: [SpecialTestNode("made", value: "x")])
    try await tester.restart(root) {
      let new = TestNode("root")
      new.onDecode = { [unowned new] in new.restorationChildren = $0.restoredChildren }
      return new
    }
    XCTAssertEqual(tester.restored?.outcome(of: "root/made"), .restored(by: .restorationClass))
    XCTAssertEqual(keepers.count, 2)
    XCTAssertEqual(
      trace.events.filter { !$0.hasPrefix("delegate") },
      ["shouldSave", "willEncode", "shouldRestore", "didDecode"])
  }

  func testTheVersionOfTheAppAndTheClockAreThoseThatTheTestSets() async throws {
    let tester = RestorationTester()
    let start = tester.now
    tester.environment = ApplicationEnvironment(applicationVersion: "1")
    var facts: [String?] = []
    let delegate = TestDelegate()
    delegate.onShouldRestore = {
      facts = [$0.applicationVersion, $0.timestamp.map { "\($0.timeIntervalSince(start))" }]
    }
    tester.makeDelegate = { delegate }
    _ = try await tester.launch().restore()
    tester.advance(by: .seconds(90))
    tester.environment = ApplicationEnvironment(applicationVersion: "2")
    try await tester.restart(TestNode("root")) { TestNode("root") }
    XCTAssertEqual(facts, ["1", "90.0"])
    XCTAssertEqual(tester.now, start + 90)
  }

  func testAProcessThatWasKilledWritesNothingMore() async throws {
    let tester = RestorationTester()
    let old = try tester.launch()
    _ = try await old.restore()
    _ = try await old.save([TestNode("root", value: "before")])
    tester.kill()
    let after = TestNode("root", value: "after")
    let thrown = await restorationError { _ = try await old.save([after]) }
    XCTAssertEqual(thrown?.archive?.code, .inputOutput)
    XCTAssertEqual(thrown?.archive?.subject, "the process has ended")
    let root = TestNode("root")
    let report = try await tester.launch().restore(into: [root])
    XCTAssertEqual(root.value, "before")
    XCTAssertEqual(report.stateName, "main", "Its lock has gone with it.")
  }

  func testAProcessKilledInTheMidstOfARestoreCountsAsACrash() async throws {
    let tester = RestorationTester()
    _ = try await tester.launch().restore()
    _ = try await tester.keeper?.save([TestNode("root", value: "x")])
    for _ in 0..<2 {
      let root = TestNode("root")
      root.onDecode = { _ in tester.kill() }
      let keeper = try tester.launch()
      _ = try? await keeper.restore(into: [root])
    }
    tester.allowsProblems = true
    let report = try await tester.launch().restore(into: [TestNode("root")])
    XCTAssertEqual(report.outcome(of: "root"), .skipped)
  }

  func testADirectoryAndAKeyOfTheTestAreUsed() async throws {
    let directory = MemoryStateDirectory()
    let keys = MemoryKeyProvider()
    let tester = RestorationTester(application: "org.example.own", directory: directory, keys: keys)
    try await tester.restart(TestNode("root", value: "x")) { TestNode("root") }
    let again = try StateKeeper(
      application: "org.example.own", directory: directory, keys: keys)
    tester.kill()
    let root = TestNode("root")
    _ = try await again.restore(into: [root])
    XCTAssertEqual(root.value, "x")
  }
}

/// The same from an actor that is not the main actor.
final class RestartOnAnActorTests: XCTestCase {
  private actor Server {
    final class Session: RestorableNode {
      let restorationIdentifier: String? = "session"
      var count = 0

      func encodeRestorableState(with coder: StateEncoder) throws {
        coder.encode(count, forKey: "count")
      }

      func decodeRestorableState(with coder: StateDecoder) throws {
        count = try coder.decode(forKey: "count")
      }
    }

    let tester = RestorationTester()

    func countAfterRestart() async throws -> Int {
      let session = Session()
      session.count = 7
      return try await tester.restart(session) { Session() }.count
    }
  }

  func testAnActorRestartsItsNodes() async throws {
    let count = try await Server().countAfterRestart()
    XCTAssertEqual(count, 7)
  }
}
