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

  func testTheHookMayAnswerWithAnAliasAndTheMigrationsOfTheNameRun() async throws {
    let launch = Launch()
    try await save(launch, ["a"], madeByFactory: false)
    let delegate = delegate(["OldScreen": "MiddleScreen"])
    let keeper = try launch.keeper(delegate: delegate)
    try keeper.register(
      TestNode.self, as: "NewScreen", aliases: ["MiddleScreen"], version: 2,
      migrations: [1: { try $0.encode("migrated", forKey: "value") }])
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
