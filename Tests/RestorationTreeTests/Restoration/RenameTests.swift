import RestorationKit
import TestSupport
import XCTest

/// Classes that have other names than in the archive.
@MainActor
final class RenameTests: XCTestCase {
  /// A delegate that knows other names, and what it was asked.
  private func delegate(_ names: [String: String], asked: @escaping (String) -> Void = { _ in })
    -> TestDelegate
  {
    let delegate = TestDelegate()
    delegate.onClassName = { name in
      asked(name)
      return names[name]
    }
    return delegate
  }

  /// Saves nodes whose class and restoration class have old names.
  private func save(_ launch: Launch, _ identifiers: [String], madeByFactory: Bool) async throws {
    let keeper = try launch.keeper()
    if madeByFactory {
      try keeper.register(TestNode.self, as: "OldScreen") { _, _ in nil }
    } else {
      try keeper.register(TestNode.self, as: "OldScreen")
    }
    _ = try await keeper.save(identifiers.map { TestNode($0, value: "stored") })
  }

  func testTheHookNamesARestorationClass() async throws {
    let launch = Launch()
    try await save(launch, ["a", "b"], madeByFactory: true)
    var asked: [String] = []
    let delegate = delegate(["OldScreen": "NewScreen"]) { asked.append($0) }
    let keeper = try launch.keeper(delegate: delegate)
    try keeper.register(TestNode.self, as: "NewScreen") { path, _ in
      TestNode(path.identifier)
    }
    let report = try await keeper.restore()
    XCTAssertEqual(
      report.entries.map(\.outcome),
      [.restored(by: .restorationClass), .restored(by: .restorationClass)])
    XCTAssertEqual(report.entries.map(\.className), ["OldScreen", "OldScreen"])
    XCTAssertEqual(asked, ["OldScreen"], "once for a name")
  }

  func testTheHookNamesTheClassOfAnExistingNode() async throws {
    let launch = Launch()
    try await save(launch, ["a"], madeByFactory: false)
    let delegate = delegate(["OldScreen": "NewScreen"])
    let keeper = try launch.keeper(delegate: delegate)
    try keeper.register(TestNode.self, as: "NewScreen")
    let node = TestNode("a")
    let report = try await keeper.restore(into: [node])
    XCTAssertEqual(report.outcome(of: "a"), .restored(by: .existing))
    XCTAssertEqual(node.value, "stored")
  }

  #if !RESTORATION_NEXT
  // The new core does not store the names that classes had before.
  /// A class that is called `New` and was called `Old`, in versions of an app.
  private func keeper(
    _ launch: Launch, _ name: String?, _ aliases: [String] = [], version: Int = 1,
    makes: Bool = true
  ) throws -> StateKeeper {
    let keeper = try launch.keeper()
    let steps = (1..<version).map { StateMigration(from: $0) { _ in } }
    guard let name else { return keeper }
    if makes {
      try keeper.register(
        SpecialTestNode.self, as: name, aliases: aliases, version: version,
        migrations: steps
      ) { path, _ in SpecialTestNode(path.identifier) }
    } else {
      try keeper.register(
        SpecialTestNode.self, as: name, aliases: aliases, version: version,
        migrations: steps)
    }
    return keeper
  }

  /// A launch that saves what it has restored; the node is there, or is made.
  private func launchAndSave(_ keeper: StateKeeper, makes: Bool) async throws
    -> (report: RestorationReport, node: SpecialTestNode?)
  {
    let root = TestNode("root", children: makes ? [] : [SpecialTestNode("a")])
    if makes { root.onDecode = { root.restorationChildren = $0.restoredChildren } }
    let report = try await keeper.restore(into: [root])
    _ = try await keeper.save([root])
    return (report, root.restorationChildren.first as? SpecialTestNode)
  }

  func testAnOlderVersionKnowsARenamedClassByTheAliasThatTheNewerOneHas() async throws {
    for makes in [true, false] {
      let launch = Launch()
      _ = try await keeper(launch, "New", ["Older", "Old"], makes: makes).save([
        TestNode("root", children: [SpecialTestNode("a", value: "typed")])
      ])
      for name in ["Old", "New"] {
        let keeper = try keeper(launch, name, name == "New" ? ["Old"] : [], makes: makes)
        let (report, node) = try await launchAndSave(keeper, makes: makes)
        XCTAssertEqual(report.problems, [], name)
        XCTAssertEqual(node?.value, "typed", name)
      }
    }
  }

  func testAnOlderVersionThatRegistersNothingKnowsTheClassByTheNameOfItsType() async throws {
    let launch = Launch()
    _ = try await keeper(launch, "New", ["SpecialTestNode"], makes: false).save([
      TestNode("root", children: [SpecialTestNode("a", value: "typed")])
    ])
    let (report, node) = try await launchAndSave(keeper(launch, nil), makes: false)
    XCTAssertEqual(report.problems, [])
    XCTAssertEqual(node?.value, "typed")
  }

  func testANewerStateOfARenamedClassIsKeptByAnOlderVersion() async throws {
    for makes in [true, false] {
      let launch = Launch()
      _ = try await keeper(launch, "New", ["Old"], version: 2, makes: makes).save([
        TestNode("root", children: [SpecialTestNode("a", value: "typed")])
      ])
      for _ in 0..<2 {
        let (report, node) = try await launchAndSave(
          keeper(launch, "Old", makes: makes), makes: makes)
        XCTAssertEqual(
          report.outcome(of: "root/a"),
          .newerVersion(by: makes ? .restorationClass : .existing, stored: 2, known: 1))
        XCTAssertNil(node?.value)
        XCTAssertEqual(try launch.storedRecords()?["root/a"]?.className, "New")
      }
      let (_, node) = try await launchAndSave(
        keeper(launch, "New", ["Old"], version: 2, makes: makes), makes: makes)
      XCTAssertEqual(node?.value, "typed")
    }
  }

  func testAVersionThatDoesNotKnowTheClassAtAllKeepsItWithItsFormerNames() async throws {
    let launch = Launch()
    _ = try await keeper(launch, "New", ["Old"]).save([
      TestNode("root", children: [SpecialTestNode("a", value: "typed")])
    ])
    let without = try keeper(launch, nil)
    let root = TestNode("root")
    let report = try await without.restore(into: [root])
    XCTAssertEqual(report.outcome(of: "root/a"), .unknownRestorationClass("New"))
    _ = try await without.save([root])
    let (_, node) = try await launchAndSave(keeper(launch, "Old"), makes: true)
    XCTAssertEqual(node?.value, "typed")
  }

  #endif

  func testTheHookMayAnswerWithAnAliasAndTheMigrationsOfTheNameRun() async throws {
    let launch = Launch()
    try await save(launch, ["a"], madeByFactory: false)
    let delegate = delegate(["OldScreen": "MiddleScreen"])
    let keeper = try launch.keeper(delegate: delegate)
    try keeper.register(
      TestNode.self, as: "NewScreen", aliases: ["MiddleScreen"], version: 2,
      migrations: [StateMigration(from: 1) { try $0.encode("migrated", forKey: "value") }])
    let node = TestNode("a")
    let report = try await keeper.restore(into: [node])
    XCTAssertEqual(report.problems, [])
    XCTAssertEqual(node.value, "migrated")
    let saved = try await keeper.save([node])
    XCTAssertEqual(saved.entries.last?.className, "NewScreen")
  }

  func testTheHookIsNotAskedForRegisteredNamesAndAliases() async throws {
    let launch = Launch()
    try await save(launch, ["a"], madeByFactory: false)
    let delegate = delegate([:]) { XCTFail("asked for \($0)") }
    let keeper = try launch.keeper(delegate: delegate)
    try keeper.register(TestNode.self, aliases: ["OldScreen"])
    let report = try await keeper.restore(into: [TestNode("a")])
    XCTAssertEqual(report.problems, [])
  }

  func testAnAnswerThatIsNotRegisteredOrNilLeavesTheName() async throws {
    for answer in [nil, "Nobody"] as [String?] {
      let launch = Launch()
      try await save(launch, ["a"], madeByFactory: true)
      let delegate = delegate(answer.map { ["OldScreen": $0] } ?? [:])
      let keeper = try launch.keeper(delegate: delegate)
      let report = try await keeper.restore(into: [TestNode("a")])
      XCTAssertEqual(report.outcome(of: "a"), .unknownRestorationClass("OldScreen"))
    }
  }
}
