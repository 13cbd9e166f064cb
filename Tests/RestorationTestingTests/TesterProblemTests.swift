import RestorationKit
import RestorationTesting
import TestSupport
import XCTest

/// A tester fails a test for the problems of its launches, and they stop nothing.
@MainActor
final class TesterProblemTests: XCTestCase {
  #if !RESTORATION_NEXT
  private struct Keyless {
    @Restored var lost = 1
  }

  private let count = RestoredValue("count", default: 0)

  private func begin() async throws {
    try await Restoration.begin("org.example.notes", signals: [])
  }

  func testALaunchOfAnAppFailsAtItsEndAndHasStoredAllTheSame() async throws {
    let tester = RestorationTester()
    let failure = await testFailure {
      try await tester.launch {
        try await begin()
        _ = Keyless().lost
        count.value = 7
        await Restoration.end()
      }
    }
    XCTAssertEqual(failure?.code, .problems)
    XCTAssertEqual(failure?.subject, "The launch")
    XCTAssertEqual(failure?.seen.contains("TesterProblemTests.swift"), true, "\(failure as Any)")
    try await tester.launch {
      try await begin()
      XCTAssertEqual(count.value, 7)
    }
  }

  func testAProblemThatNoSaveHasSeenFailsTheLaunchToo() async throws {
    let failure = await testFailure {
      try await RestorationTester().launch {
        try await begin()
        await Restoration.end()
        _ = Keyless().lost
      }
    }
    XCTAssertEqual(failure?.code, .problems)
  }

  func testATesterThatAllowsProblemsHasThemInItsReports() async throws {
    let tester = RestorationTester()
    tester.allowsProblems = true
    try await tester.launch {
      try await begin()
      _ = Keyless().lost
      await Restoration.end()
      XCTAssertEqual(Restoration.problems.count, 1)
      XCTAssertEqual(try Restoration.lastSave?.get().problems.count, 1)
    }
  }

  func testAnErrorOfTheTestComesBeforeTheProblems() async throws {
    struct Own: Error {}
    let tester = RestorationTester()
    do {
      try await tester.launch {
        try await begin()
        _ = Keyless().lost
        throw Own()
      }
      XCTFail("It did not throw.")
    } catch is Own {}
    try await tester.launch { try await begin() }
  }
  #endif

  /// An app with a root, of which a part has a problem.
  private func begin(_ root: TestNode) async throws {
    try await Restoration.begin("org.example.notes", signals: [], roots: { [root] })
  }

  private func rootWithAProblem() -> TestNode {
    TestNode("root", value: "typed", children: [TestNode("x"), TestNode("x")])
  }

  func testALaunchWithAProblemOfANodeFailsAtItsEndAndHasStoredAllTheSame() async throws {
    let tester = RestorationTester()
    let failure = await testFailure {
      try await tester.launch {
        try await begin(rootWithAProblem())
        await Restoration.end()
      }
    }
    XCTAssertEqual(failure?.code, .problems)
    XCTAssertEqual(failure?.subject, "The launch")
    XCTAssertEqual(failure?.seen.contains("root/x"), true, "\(failure as Any)")
    let root = TestNode("root", children: [TestNode("x")])
    try await tester.launch { try await begin(root) }
    XCTAssertEqual(root.value, "typed")
  }

  func testATesterThatAllowsProblemsHasThoseOfNodesInItsReports() async throws {
    let tester = RestorationTester()
    tester.allowsProblems = true
    try await tester.launch {
      try await begin(rootWithAProblem())
      await Restoration.end()
      XCTAssertEqual(try Restoration.lastSave?.get().problems.count, 1)
    }
  }

  func testAnErrorOfTheTestComesBeforeTheProblemsOfNodes() async throws {
    struct Own: Error {}
    let tester = RestorationTester()
    do {
      try await tester.launch {
        try await begin(rootWithAProblem())
        await Restoration.end()
        throw Own()
      }
      XCTFail("It did not throw.")
    } catch is Own {}
    try await tester.launch { try await begin(TestNode("root", children: [TestNode("x")])) }
  }

  func testAProblemOfASaveFailsTheRestartBeforeTheNextLaunch() async throws {
    let tester = RestorationTester()
    let failure = await testFailure {
      try await tester.restart(TestNode("root", children: [TestNode("x"), TestNode("x")])) {
        XCTFail("No launch follows.")
        return TestNode("root")
      }
    }
    XCTAssertEqual(failure?.code, .problems)
    XCTAssertEqual(failure?.subject, "The save")
    XCTAssertEqual(failure?.seen, tester.saved?.problems.map(\.description).joined())
  }

  /// A node that should say when it changes, and does not.
  private final class SilentNode: @MainActor StatefulNode {
    static let stateTracking = StateTracking.invalidated
    let restorationIdentifier: String? = "silent"
    var restorableState = 0
  }

  func testAChangeThatIsNotAnnouncedIsFoundByEachSave() async throws {
    let tester = RestorationTester()
    let node = try await tester.restart(SilentNode()) { SilentNode() }
    _ = try await XCTUnwrap(tester.keeper).save([node])
    node.restorableState = 1
    let failure = await testFailure { try await tester.restart(node) { SilentNode() } }
    XCTAssertEqual(failure?.subject, "The save")
    XCTAssertEqual(failure?.seen.contains("did not say so"), true, "\(failure as Any)")
  }

  func testAChildThatIsNotAnnouncedIsFoundByEachSave() async throws {
    let tester = RestorationTester()
    let root = TrackedNode("root")
    root.below = [TrackedNode("a")]
    _ = try await tester.launch().save([root])
    root.isQuiet = true
    root.below.append(TrackedNode("b"))
    let failure = await testFailure { try await tester.restart(root) { TrackedNode("root") } }
    XCTAssertEqual(failure?.subject, "The save")
    XCTAssertEqual(failure?.seen.contains("did not say so"), true, "\(failure as Any)")
  }

  func testWhatIsAnnouncedOrFollowsFromItIsNoProblem() async throws {
    let tester = RestorationTester()
    let (root, a, b) = (TrackedNode("root"), TrackedNode("a"), TrackedNode("b"))
    let (plain, below) = (PlainNode("plain"), PlainNode("below"))
    root.below = [a, b, plain]
    a.references = [b]
    plain.below = [below]
    let keeper = try tester.launch()
    _ = try await keeper.save([root])
    b.value = "typed"
    _ = try await keeper.save([root])
    below.value = "typed"
    plain.below = [below, PlainNode("another")]
    _ = try await keeper.save([root])
    // The node that refers to it says nothing.
    root.below = [a, plain]
    _ = try await keeper.save([root])
    _ = try tester.launch()
  }

  func testProblemsOfCallsOfTheTestFailTheNextLaunchOnce() async throws {
    let tester = RestorationTester()
    _ = try await tester.launch().save([TestNode(nil)])
    var launches: [() async throws -> Void] = [{ _ = try tester.launch() }]
    launches.append { _ = try await tester.launchHost() }
    for body in launches {
      let failure = await testFailure(body)
      XCTAssertEqual(failure?.code, .problems)
      XCTAssertEqual(failure?.subject, "The launch before")
      _ = try await tester.launch().save([TestNode(nil)])
    }
  }

  func testAProblemOfAWindowFailsTheSave() async throws {
    let tester = RestorationTester()
    let delegate = TestSceneDelegate(root: TestNode("root"))
    tester.prepareHost = { host in host.register(SceneConfiguration { delegate }) }
    let host = try await tester.launchHost()
    _ = try await host.open()
    delegate.activity = UserActivity(activityType: "undeclared")
    let failure = await testFailure { _ = try await tester.restart(host) }
    XCTAssertEqual(failure?.subject, "The save")
    XCTAssertEqual(failure?.seen.contains("“undeclared”"), true, "\(failure as Any)")
  }
}
