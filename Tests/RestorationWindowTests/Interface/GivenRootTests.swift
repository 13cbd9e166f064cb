import RestorationKit
import TestSupport
import XCTest

/// Roots that are given to a restore, and what else could make them.
@MainActor
final class GivenRootTests: XCTestCase {
  private let launch = Launch()
  private let trace = Trace()
  private let problem =
    "The root that was passed in for it was not used: it keeps its defaults, and a save of it stores"
    + " those. Return that root where this one is made, or pass none."

  /// A keeper whose closure makes nodes of the class.
  private func keeper(delegate: (any StateDelegate)? = nil) throws -> StateKeeper {
    let keeper = try launch.keeper(delegate: delegate)
    try keeper.register(TestNode.self) { [trace] path, _ in
      trace.add("closure \(path)")
      return TestNode(path.identifier)
    }
    return keeper
  }

  private func save(_ root: TestNode) async throws {
    _ = try await keeper().save([root])
  }

  func testAGivenRootIsRestoredAlsoIfAClosureMakesItsClass() async throws {
    try await save(TestNode("root", value: "saved"))
    for value in ["saved", "saved again"] {
      let root = TestNode("root")
      let keeper = try keeper()
      let report = try await keeper.restore(into: [root])
      XCTAssertEqual(report.outcome(of: "root"), .restored(by: .existing))
      XCTAssertEqual(report.problems, [])
      XCTAssertEqual(root.value, value)
      root.value = "saved again"
      let saved = try await keeper.save([root])
      XCTAssertEqual(saved.problems, [])
    }
    XCTAssertEqual(trace.events, [])
    XCTAssertEqual(try launch.storedRecords()?["root"]?.value, "saved again")
  }

  func testAGivenRootOfARenamedClassIsRestored() async throws {
    let first = try launch.keeper()
    try first.register(TestNode.self, as: "Old") { path, _ in TestNode(path.identifier) }
    _ = try await first.save([TestNode("root", value: "saved")])
    let second = try launch.keeper()
    try second.register(TestNode.self, as: "New", aliases: ["Old"]) { path, _ in
      TestNode(path.identifier)
    }
    let root = TestNode("root")
    let report = try await second.restore(into: [root])
    XCTAssertEqual(report.outcome(of: "root"), .restored(by: .existing))
    XCTAssertEqual(root.value, "saved")
  }

  func testAGivenRootOfASubclassIsRestored() async throws {
    try await save(TestNode("root", value: "saved"))
    let root = SpecialTestNode("root")
    let report = try await keeper().restore(into: [root])
    XCTAssertEqual(report.outcome(of: "root"), .restored(by: .existing))
    XCTAssertEqual(root.value, "saved")
  }

  func testTheRootOfASceneIsRestoredAlsoIfAClosureMakesItsClass() async throws {
    let app = SceneLaunch()
    func host() async throws -> SceneHost {
      let keeper = try app.launch.keeper()
      try keeper.register(TestNode.self) { path, _ in TestNode(path.identifier) }
      let host = SceneHost(keeper)
      host.declaredActivityTypes = ["product"]
      host.register(SceneConfiguration { app.makeDelegate() })
      try await host.launch()
      return host
    }
    try await app.store(7, in: try await host())
    app.prepare = { $0.roots = [TestNode("root")] }
    let next = try await host()
    await next.restoreScenes()
    let scene = try XCTUnwrap(next.connectedScenes.first)
    let report = try XCTUnwrap(scene.restoration)
    XCTAssertEqual(scene.testRoot?.value, "7")
    XCTAssertEqual(report.outcome(of: "root"), .restored(by: .existing))
    XCTAssertEqual(report.problems, [])
  }

  func testWithoutAGivenRootTheClosureMakesIt() async throws {
    try await save(TestNode("root", value: "saved"))
    let other = TestNode("other")
    let report = try await keeper().restore(into: [other])
    XCTAssertEqual(report.outcome(of: "root"), .restored(by: .restorationClass))
    XCTAssertEqual(report.problems, [])
    XCTAssertEqual(trace.events, ["closure root"])
  }

  func testBelowAGivenRootTheClosureGoesBeforeAnExistingNode() async throws {
    try await save(TestNode("root", children: [TestNode("a", value: "saved")]))
    let existing = TestNode("a")
    let report = try await keeper().restore(into: [TestNode("root", children: [existing])])
    XCTAssertEqual(report.outcome(of: "root"), .restored(by: .existing))
    XCTAssertEqual(report.outcome(of: "root/a"), .restored(by: .restorationClass))
    XCTAssertNil(existing.value)
    XCTAssertEqual(trace.events, ["closure root/a"])
  }

  func testARestorationClassThatARootNamesGoesBeforeTheGivenOneWhichIsAProblem() async throws {
    let saved = TestNode("root", value: "saved")
    saved.restorationClass = TestFactory.self
    try await save(saved)
    let made = TestNode("root")
    TestFactory.make = { _, _ in made }
    defer { TestFactory.make = { _, _ in nil } }
    let given = TestNode("root")
    given.restorationClass = TestFactory.self
    let report = try await keeper().restore(into: [given])
    XCTAssertEqual(report.outcome(of: "root"), .restored(by: .restorationClass))
    XCTAssertEqual([made.value, given.value], ["saved", nil])
    XCTAssertEqual(report.problems.map(\.notes), [[.givenRootNotUsed]])
    XCTAssertEqual(
      report.problems.first?.reason,
      "restored, made by what is registered for it. " + problem)

    TestFactory.make = { _, _ in given }
    let returned = try await keeper().restore(into: [given])
    XCTAssertEqual(returned.problems, [])
    XCTAssertEqual(given.value, "saved")
  }

  func testARootThatNamesItsOwnClassIsMadeByTheClosureOfThat() async throws {
    @MainActor
    final class Screen: @MainActor RestorableNode, @MainActor RestorationClass {
      let restorationIdentifier: String? = "screen"
      var restorationClass: (any RestorationClass.Type)? { Screen.self }
      static func object(
        at path: RestorationPath, coder: StateDecoder
      ) throws -> (any StateRestoring)? { nil }
    }
    var made: [Screen] = []
    func keeper() throws -> StateKeeper {
      let keeper = try launch.keeper()
      try keeper.register(Screen.self) { _, _ in
        made.append(Screen())
        return made.last
      }
      return keeper
    }
    _ = try await keeper().save([Screen()])
    let report = try await keeper().restore(into: [Screen()])
    XCTAssertEqual(made.count, 1)
    XCTAssertEqual(report.notes, [.givenRootNotUsed])
  }

  func testAVetoOfAGivenRootIsAProblem() async throws {
    let saved = TestNode("root", value: "saved")
    saved.restorationClass = TestFactory.self
    try await save(saved)
    let given = TestNode("root")
    let report = try await keeper().restore(into: [given])
    XCTAssertEqual(report.outcome(of: "root"), .vetoed)
    XCTAssertEqual(report.problems.map(\.notes), [[.givenRootNotUsed]])
    XCTAssertNil(given.value)
  }

  func testAGivenRootOfAnotherClassIsNotUsedWhichIsAProblem() async throws {
    try await save(TestNode("root", value: "saved"))
    let given = UnrelatedNode("root")
    let report = try await keeper().restore(into: [given])
    XCTAssertEqual(report.outcome(of: "root"), .restored(by: .restorationClass))
    XCTAssertEqual(report.notes, [.givenRootNotUsed])
    XCTAssertFalse(given.wasDecoded)
  }

  func testAGivenRootThatTheDelegateReplacesIsAProblem() async throws {
    _ = try await launch.keeper().save([TestNode("root", value: "saved")])
    let delegate = TestDelegate()
    let answer = TestNode("root")
    delegate.onNode = { _, _ in answer }
    let given = TestNode("root")
    let report = try await launch.keeper(delegate: delegate).restore(into: [given])
    XCTAssertEqual(report.outcome(of: "root"), .restored(by: .delegate))
    XCTAssertEqual(report.notes, [.givenRootNotUsed])
    XCTAssertEqual([answer.value, given.value], ["saved", nil])
  }

  func testTheProblemOfAGivenRootThatIsNotUsedSaysWhatToMend() async throws {
    try await save(TestNode("root", value: "saved"))
    let report = try await keeper().restore(into: [UnrelatedNode("root")])
    XCTAssertEqual(
      report.problems.map(\.description),
      ["root (TestNode): restored, made by what is registered for it\n    problem: \(problem)"])
  }
}
