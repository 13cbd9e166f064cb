import RestorationKit
import TestSupport
import XCTest

/// Stacks of which this version does not know every class: the screens that it knows come back.
@MainActor
final class UnknownScreenTests: XCTestCase {
  private class Screen: @MainActor RestorableNode {
    let restorationIdentifier: String?
    var value: String?

    required init(_ identifier: String?) { restorationIdentifier = identifier }

    func encodeRestorableState(with coder: StateEncoder) { coder.encode(value, forKey: "value") }

    func decodeRestorableState(with coder: StateDecoder) throws {
      value = try coder.decodeIfPresent(forKey: "value")
    }
  }

  private final class List: Screen {}
  private final class Edit: Screen {}
  private final class Help: Screen {}

  private let launch = Launch()
  private struct Failure: Error {}

  /// A keeper of a version that has a list, pages of help or both.
  private func keeper(
    _ types: [Screen.Type], making make: ((RestorationPath) throws -> (any RestorableNode)?)? = nil
  ) throws -> StateKeeper {
    let keeper = try launch.keeper()
    for type in types {
      try keeper.register(type) { path, _ in
        if let make { try make(path) } else { type.init(path.identifier) }
      }
    }
    return keeper
  }

  private func screen(_ type: Screen.Type, _ identifier: String, _ value: String) -> Screen {
    let screen = type.init(identifier)
    screen.value = value
    return screen
  }

  private func save(_ screens: [Screen]) async throws {
    _ = try await keeper([List.self, Edit.self, Help.self]).save([
      TestStack("nav", children: screens)
    ])
  }

  /// A launch of a version, with the values of the screens that it shows.
  private func run(
    _ types: [Screen.Type], _ change: (TestStack) -> Void = { _ in }
  ) async throws -> [String?] {
    let keeper = try keeper(types)
    let stack = TestStack("nav")
    _ = try await keeper.restore(into: [stack])
    let values = stack.restorationChildren.map { ($0 as? Screen)?.value }
    change(stack)
    for _ in 0..<2 { _ = try await keeper.save([stack]) }
    return values
  }

  private let all = [List.self, Edit.self, Help.self] as [Screen.Type]

  func testAScreenOfAnUnknownClassCountsAsNotThere() async throws {
    for unknown in 0..<3 {
      try launch.removeState()
      try await save([
        screen(List.self, "list", "0"), screen(Edit.self, "edit", "1"),
        screen(Help.self, "help", "2"),
      ])
      var known = all
      known.remove(at: unknown)
      for _ in 0..<2 {
        let values = try await run(known)
        XCTAssertEqual(values, ["0", "1", "2"].filter { $0 != "\(unknown)" })
      }
      // The version that knows all has them in their order.
      let values = try await run(all)
      XCTAssertEqual(values, ["0", "1", "2"])
    }
  }

  func testUnknownScreensStayWhereTheyLayWhateverTheUserDoes() async throws {
    try await save([
      screen(Help.self, "help 1", "a"), screen(List.self, "list", "b"),
      screen(Help.self, "help 2", "c"), screen(Edit.self, "edit", "d"),
    ])
    let older: [Screen.Type] = [List.self, Edit.self]
    let shown = try await run(older) { stack in
      stack.restorationChildren.removeLast()
      stack.restorationChildren += [self.screen(Edit.self, "other", "e")]
      stack.restorationChildren += [self.screen(Edit.self, "another", "f")]
    }
    XCTAssertEqual(shown, ["b", "d"])
    let values = try await run(all)
    XCTAssertEqual(values, ["a", "b", "c", "e", "f"])
  }

  func testAnUnknownScreenThatSharesItsIdentifierCutsTheStack() async throws {
    // Its number among equal ones would pass to another screen.
    try await save([
      screen(List.self, "list", "a"), screen(Help.self, "page", "b"),
      screen(Edit.self, "page", "c"),
    ])
    let shown = try await run([List.self, Edit.self])
    XCTAssertEqual(shown, ["a"])
    let values = try await run(all)
    XCTAssertEqual(values, ["a", "b", "c"])
  }

  func testAStackIsCutAfterAVetoAFailureAndACrash() async throws {
    for fails in [false, true] {
      try launch.removeState()
      try await save([
        screen(List.self, "list", "0"), screen(Edit.self, "edit", "1"),
        screen(Help.self, "help", "2"),
      ])
      let keeper = try keeper(all) { path in
        if path.identifier == "edit" {
          if fails { throw Failure() }
          return nil
        }
        return List(path.identifier)
      }
      let stack = TestStack("nav")
      let report = try await keeper.restore(into: [stack])
      XCTAssertEqual(stack.restorationChildren.map(\.restorationName), ["list"])
      XCTAssertEqual(report.outcome(of: "nav/help"), .stackCut)
    }
  }

  func testAFieldedScreenAfterARenameWithoutAliasLeavesTheOthers() async throws {
    final class Renamed: @MainActor RestorableScreen { @Restored var text = "" }
    final class Editor: @MainActor RestorableScreen { @Restored var text = "" }
    let newer = try launch.keeper()
    try newer.register(Renamed.self) { _, _ in Renamed() }
    try newer.register(Editor.self) { _, _ in Editor() }
    let (below, top) = (Renamed(), Editor())
    (below.text, top.text) = ("below", "top")
    _ = try await newer.save([TestStack("nav", children: [below, top])])

    let older = try launch.keeper()
    try older.register(Editor.self) { _, _ in Editor() }
    let stack = TestStack("nav")
    _ = try await older.restore(into: [stack])
    XCTAssertEqual(stack.restorationChildren.map { ($0 as? Editor)?.text }, ["top"])
    _ = try await older.save([stack])

    let back = try launch.keeper()
    try back.register(Renamed.self) { _, _ in Renamed() }
    try back.register(Editor.self) { _, _ in Editor() }
    let last = TestStack("nav")
    _ = try await back.restore(into: [last])
    XCTAssertEqual((last.restorationChildren.first as? Renamed)?.text, "below")
    XCTAssertEqual((last.restorationChildren.last as? Editor)?.text, "top")
  }
}
