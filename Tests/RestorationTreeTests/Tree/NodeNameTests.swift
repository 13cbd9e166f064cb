import Foundation
import Observation
import RestorationKit
import TestSupport
import XCTest

/// The names of nodes: as they are declared, or those of their classes.
@MainActor
final class NodeNameTests: XCTestCase {
  private let launch = Launch()

  func testAnIdentifierIsAStringOrAnOptionalOneOrATypeOfTheApp() async throws {
    let nodes: [any RestorableNode] = [
      Plain(), Maybe("maybe"), Generic(5), Changing(), Renaming(), Typed(), Observed(), Both(),
    ]
    let report = try await launch.keeper().save(nodes)
    XCTAssertEqual(report.problems, [])
    XCTAssertEqual(
      report.savedPaths,
      ["plain", "maybe", "generic", "changing", "renamed", "settings", "observed", "both"])
    XCTAssertEqual(
      nodes.map(\.restorationName),
      ["plain", "maybe", "generic", "changing", "renamed", "settings", "observed", "both"])
  }

  func testAViewMayDeclareAString() async throws {
    let node = Plain()
    node.restorationViews = [Both()]
    let report = try await launch.keeper().save([node])
    XCTAssertEqual(report.savedPaths, ["plain", "plain/both"])
  }

  func testANilLeavesTheNodeOut() async throws {
    let report = try await launch.keeper().save([Maybe(nil)])
    XCTAssertEqual(report.savedPaths, [])
    XCTAssertEqual(report.notes, [.rootWithoutIdentifier])
  }

  // MARK: Names of classes

  private final class Inner {
    enum Deep { case a }
    struct Box<Content> {
      final class Part<Other> {}
    }
  }

  func testTheNameOfATypeIsWhatStringDescribingSays() {
    final class Local {}
    struct Pair<each Item> {}
    let types: [Any.Type] = [
      Plain.self, UnnamedSubclass.self, Inner.self, Inner.Deep.self, Inner.Box<Int>.self,
      Inner.Box<Inner>.Part<[String: Local?]>.self, Local.self, Pair<Int, Local>.self, Hidden.self,
      Hidden.Nested.self, Int.self, [Int].self, [String: Hidden].self, Int?.self,
      (Int, String).self, ((Int) throws -> String).self, Any.self, AnyObject.self,
      (any RestorableNode).self,
      (any RestorableNode & Sendable).self, Plain.Type.self, (any RestorableNode.Type).self,
      Never.self, Notification.Name.self, JSONDecoder.self,
    ]
    for type in types { XCTAssertEqual(String(nameOf: type), String(describing: type)) }
  }

  func testAStatefulNodeThatNamesNoneHasTheNameOfItsClass() async throws {
    let (node, subclass) = (Unnamed(1), UnnamedSubclass(2))
    let keeper = try launch.keeper()
    let report = try await keeper.save([node, subclass])
    XCTAssertEqual(report.problems, [])
    XCTAssertEqual(report.savedPaths, ["Unnamed", "UnnamedSubclass"])
    await keeper.close()
    let (again, other) = (Unnamed(0), UnnamedSubclass(0))
    _ = try await launch.keeper().restore(into: [again, other])
    XCTAssertEqual([again.restorableState, other.restorableState], [1, 2])
  }

  func testTheNameThatANodeWasRestoredUnderBeatsThatOfItsClass() async throws {
    let keeper = try launch.keeper()
    try keeper.register(Numbered.self, as: "Page") { _, _ in nil }
    let saved = TestNode("root", children: [Numbered("a", 1), Numbered("b", 2)])
    _ = try await keeper.save([saved])
    await keeper.close()

    let root = TestNode("root")
    root.onDecode = { [weak root] in root?.restorationChildren = $0.restoredChildren }
    for _ in 1...2 {
      let later = try launch.keeper()
      try later.register(Unnamed.self, as: "Page") { _, _ in Unnamed(0) }
      root.restorationChildren = []
      _ = try await later.restore(into: [root])
      XCTAssertEqual(
        root.restorationChildren.map { ($0 as? Unnamed)?.restorableState }, [1, 2])
      let report = try await later.save([root])
      XCTAssertEqual(report.problems, [])
      XCTAssertEqual(report.savedPaths, ["root", "root/a", "root/b"])
      await later.close()
    }
  }

  func testADeclaredIdentifierBeatsTheOneThatANodeWasRestoredUnder() async throws {
    let keeper = try launch.keeper()
    try keeper.register(Numbered.self, as: "Page") { _, _ in nil }
    _ = try await keeper.save([TestNode("root", children: [Numbered("a", 1)])])
    await keeper.close()
    let root = TestNode("root")
    root.onDecode = { [weak root] in root?.restorationChildren = $0.restoredChildren }
    let later = try launch.keeper()
    try later.register(Plain.self, as: "Page") { _, _ in Plain() }
    _ = try await later.restore(into: [root])
    let report = try await later.save([root])
    XCTAssertEqual(report.savedPaths, ["root", "root/plain"])
  }

  func testTwoOfOneClassAreDuplicatesWithoutNames() async throws {
    let report = try await launch.keeper().save([
      TestNode("root", children: [Unnamed(1), Unnamed(2)])
    ])
    XCTAssertEqual(report.savedPaths, ["root", "root/Unnamed"])
    XCTAssertEqual(report.problems.map(\.outcome), [.duplicate])
  }
}

@MainActor
private final class Plain: @MainActor StatefulNode {
  let restorationIdentifier = "plain"
  var restorationViews: [any RestorableView] = []
  var restorableState = 1
}

@MainActor
private final class Maybe: @MainActor StatefulNode {
  let restorationIdentifier: String?
  var restorableState = 1

  init(_ identifier: String?) { restorationIdentifier = identifier }
}

@MainActor
private final class Generic<State: Codable>: @MainActor StatefulNode {
  let restorationIdentifier = "generic"
  var restorableState: State

  init(_ state: State) { restorableState = state }
}

/// A protocol of an app that asks for more.
private protocol ChangingNode: RestorableNode {
  var restorationIdentifier: String? { get set }
}

@MainActor
private final class Changing: @MainActor ChangingNode {
  var restorationIdentifier: String? = "changing"
}

@MainActor
private class Named: @MainActor RestorableNode {
  var restorationIdentifier: String { "named" }
}

@MainActor
private final class Renaming: Named {
  override var restorationIdentifier: String { "renamed" }
}

private enum ScreenName: String, RestorationIdentifying {
  case settings

  var restorationName: String? { rawValue }
}

@MainActor
private final class Typed: @MainActor StatefulNode {
  let restorationIdentifier = ScreenName.settings
  var restorableState = 1
}

@MainActor @Observable
private final class Observed: @MainActor StatefulNode {
  let restorationIdentifier = "observed"
  var restorableState = 1
}

@MainActor
private final class Both: @MainActor RestorableNode, @MainActor RestorableView {
  let restorationIdentifier = "both"
}

@MainActor
private class Unnamed: @MainActor StatefulNode {
  var restorableState: Int

  init(_ state: Int) { restorableState = state }
}

private final class UnnamedSubclass: Unnamed {}

@MainActor
private final class Numbered: @MainActor StatefulNode {
  let restorationIdentifier: String
  var restorableState: Int

  init(_ identifier: String, _ state: Int) {
    (restorationIdentifier, restorableState) = (identifier, state)
  }
}

private final class Hidden {
  struct Nested {}
}
