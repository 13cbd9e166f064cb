import RestorationKit
import TestSupport
import XCTest

/// The order of all hooks, as those who are called see it.
@MainActor
final class HookOrderTests: XCTestCase {
  /// Writes down every hook that is called, under the name of the hook.
  @MainActor
  private class Part {
    let path: String
    let calls: Trace

    init(_ path: String, _ calls: Trace) {
      (self.path, self.calls) = (path, calls)
    }

    func encodeRestorableState(with coder: StateEncoder) throws {
      calls.add("encodeRestorableState \(path)")
    }

    func decodeRestorableState(with coder: StateDecoder) throws {
      calls.add("decodeRestorableState \(path)")
    }

    func restoreStateAfterLayout(with coder: StateDecoder) throws {
      calls.add("restoreStateAfterLayout \(path)")
    }

    func applicationFinishedRestoringState() {
      calls.add("applicationFinishedRestoringState \(path)")
    }

    var identifier: String? { path.split(separator: "/").last.map { String($0) } }
  }

  private final class Screen: Part, @MainActor RestorableNode {
    var restorationIdentifier: String? { identifier }
    var restorationClass: (any RestorationClass.Type)?
    var restorationChildren: [any RestorableNode] = []
    var restorationViews: [any RestorableView] = []
    var shared: Shared?
    var title: String?

    func loadViewIfNeeded() { calls.add("loadViewIfNeeded \(path)") }

    override func encodeRestorableState(with coder: StateEncoder) throws {
      try super.encodeRestorableState(with: coder)
      coder.encode(shared, forKey: "shared")
      coder.encode(title, forKey: "title")
    }
  }

  private final class Pane: Part, @MainActor RestorableView {
    var restorationIdentifier: String? { identifier }
  }

  private final class Shared: Part, @MainActor RestorableObject {}

  @MainActor
  private final class Delegate: @MainActor StateDelegate {
    let calls: Trace
    var onNode: (RestorationPath) -> (any RestorableNode)? = { _ in nil }

    init(_ calls: Trace) {
      self.calls = calls
    }

    func shouldSaveApplicationState(with coder: StateEncoder) -> Bool {
      calls.add("shouldSaveApplicationState")
      return true
    }

    func willEncodeRestorableState(with coder: StateEncoder) throws {
      calls.add("willEncodeRestorableState")
    }

    func shouldRestoreApplicationState(with coder: StateDecoder) -> Bool {
      calls.add("shouldRestoreApplicationState")
      return true
    }

    func currentClassName(forStored name: String) -> String? {
      calls.add("currentClassName")
      return nil
    }

    func node(at path: RestorationPath, coder: StateDecoder) throws -> (any RestorableNode)? {
      calls.add("delegate \(path)")
      return onNode(path)
    }

    func layOutRestoredInterface() { calls.add("layOutRestoredInterface") }

    func didDecodeRestorableState(with coder: StateDecoder) throws {
      calls.add("didDecodeRestorableState")
    }
  }

  /// A root with children that come back in all four ways, a view and an object.
  private func root(_ calls: Trace, _ storyboard: Storyboard) throws -> (Screen, Shared) {
    let (root, shared) = (Screen("root", calls), Shared("shared", calls))
    let made = Screen("root/made", calls)
    made.restorationClass = TestFactory.self
    let drawn = try XCTUnwrap(try storyboard.instantiate("drawn"))
    root.restorationChildren = [
      made, Screen("root/given", calls), Screen("root/there", calls), drawn,
    ]
    root.restorationViews = [Pane("root/pane", calls)]
    root.shared = shared
    return (root, shared)
  }

  func testTheHooksOfASaveAndARestoreAreCalledInOrder() async throws {
    let (launch, calls) = (Launch(), Trace())
    let delegate = Delegate(calls)
    func keeper(_ storyboard: Storyboard, _ shared: Shared) throws -> StateKeeper {
      let keeper = try launch.keeper(delegate: delegate)
      try keeper.register(storyboard)
      keeper.registerObject(shared, restorationIdentifier: "shared")
      return keeper
    }
    let storyboard = Storyboard("Main")
    storyboard.register("drawn") { Screen("root/drawn", calls) }
    let (saved, savedObject) = try root(calls, storyboard)
    let report = try await keeper(storyboard, savedObject).save([saved])
    XCTAssertEqual(report.problems, [])
    XCTAssertEqual(
      calls.events,
      ["shouldSaveApplicationState", "willEncodeRestorableState"]
        + ["root", "root/pane", "root/made", "root/given", "root/there", "root/drawn", "shared"]
        .map { "encodeRestorableState \($0)" })

    calls.clear()
    let again = Storyboard("Main")
    again.register("drawn") {
      calls.add("storyboard root/drawn")
      return Screen("root/drawn", calls)
    }
    TestFactory.make = { path, _ in
      calls.add("restorationClass \(path)")
      return Screen(path.description, calls)
    }
    delegate.onNode = { $0.description == "root/given" ? Screen("root/given", calls) : nil }
    let (back, object) = (Screen("root", calls), Shared("shared", calls))
    back.restorationChildren = [Screen("root/there", calls)]
    back.restorationViews = [Pane("root/pane", calls)]
    _ = try await keeper(again, object).restore(into: [back])
    let nodes = ["root", "root/made", "root/given", "root/there", "root/drawn"]
    let all = [
      "root", "root/pane", "root/made", "root/given", "root/there", "root/drawn", "shared",
    ]
    XCTAssertEqual(
      calls.events,
      [
        "shouldRestoreApplicationState", "currentClassName", "currentClassName",
        "currentClassName", "delegate root", "restorationClass root/made", "delegate root/given",
        "delegate root/there", "delegate root/drawn", "storyboard root/drawn",
      ] + nodes.map { "loadViewIfNeeded \($0)" } + all.map { "decodeRestorableState \($0)" }
        + ["layOutRestoredInterface"] + all.map { "restoreStateAfterLayout \($0)" }
        + ["didDecodeRestorableState"] + all.map { "applicationFinishedRestoringState \($0)" })
  }

  func testANodeThatIsBackWithoutItsStateIsAskedAfterTheRestoreAndAgainInASave() async throws {
    let (launch, calls) = (Launch(), Trace())
    func keeper(version: Int) throws -> StateKeeper {
      let keeper = try launch.keeper()
      let steps = migrations(to: version)
      try keeper.register(Screen.self, version: version, migrations: steps)
      return keeper
    }
    _ = try await keeper(version: 2).save([Screen("root", calls)])
    let older = try keeper(version: 1)
    let (root, asked) = (Screen("root", calls), ["encodeRestorableState root"])
    calls.clear()
    _ = try await older.restore(into: [root])
    XCTAssertEqual(
      calls.events, ["loadViewIfNeeded root", "applicationFinishedRestoringState root"] + asked)
    calls.clear()
    let same = try await older.save([root])
    XCTAssertEqual(same.outcome(of: "root"), .keptAsStored)
    XCTAssertEqual(calls.events, asked)
    calls.clear()
    root.title = "changed"
    let changed = try await older.save([root])
    XCTAssertEqual(changed.outcome(of: "root"), .saved)
    XCTAssertEqual(calls.events, asked + asked)
  }
}
