import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

/// What saves of changes store and report where something uncommon happens.
@MainActor
final class ChangeAttackTests: ChangeTestCase {
  func testANewNodeDidNotForgetToSayAnythingWhenEverythingIsAskedAfterAll() async throws {
    let keeper = try launch.keeper()
    let (root, nodes) = try await savedTree(with: keeper)
    let (new, referring) = (TrackedNode("new"), TrackedNode("referring"))
    referring.references = [TestObject("stray")]
    root.below = nodes + [new, referring]
    let report = try await keeper.save([root])
    XCTAssertEqual(
      report.notes,
      [.referenceWithoutIdentifier(key: "references", className: "TestObject")])
  }

  func testANodeDidNotForgetToSayThatAnotherOneLetsItHaveItsChild() async throws {
    let keeper = try launch.keeper()
    let (root, nodes) = try await savedTree(with: keeper)
    let child = TrackedNode("child")
    (nodes[0].below, nodes[1].below) = ([child], [child])
    _ = try await keeper.save([root])
    nodes[0].below = []
    let report = try await keeper.save([root])
    XCTAssertEqual(report.notes, [])
    try await assertStoredAsAWhole([root])
  }

  func testANodeDidNotForgetToSayThatAnotherOneLetsItHaveItsView() async throws {
    let keeper = try launch.keeper()
    let (root, nodes) = try await savedTree(with: keeper)
    let view = TestView("view")
    (nodes[0].views, nodes[1].views) = ([view], [view])
    _ = try await keeper.save([root])
    nodes[0].views = []
    let report = try await keeper.save([root])
    XCTAssertEqual(report.notes, [])
    try await assertStoredAsAWhole([root])
  }

  func testANodeDidNotForgetToSayThatItIsContainedAndNotOnlyReferredTo() async throws {
    let keeper = try launch.keeper()
    let (root, nodes) = try await savedTree(with: keeper)
    let referred = TrackedNode("referred")
    nodes[0].references = [referred]
    _ = try await keeper.save([root])
    nodes[1].below = [referred]
    let report = try await keeper.save([root])
    XCTAssertEqual(report.notes, [])
    try await assertStoredAsAWhole([root])
  }

  func testThePathsInAReportAreThoseOfTheTreeWhenEverythingIsAskedAfterAll() async throws {
    let keeper = try launch.keeper()
    let root = TrackedNode("root")
    let (page, deep) = (TrackedNode("page"), TrackedNode("deep"))
    (root.below, page.below) = ([page], [deep])
    _ = try await keeper.save([root])
    let stack = TrackedStack("stack")
    (stack.below, root.below) = ([TrackedNode("page"), page], [stack])
    _ = try await keeper.save([root])
    // The rows of these come before that of the stack, and their paths were asked for.
    stack.below.removeFirst()
    let twice = TrackedNode("twice")
    deep.below = Array(repeating: twice, count: 9)
    let report = try await keeper.save([root])
    let everything = try await keeper.saveEverything([root])
    XCTAssertEqual(Set(report.entries.map(\.path)), Set(everything.entries.map(\.path)))
  }

  func testASaveOfChangesTakesAsManyNodesAsASaveOfEverything() async throws {
    let keeper = try launch.keeper()
    keeper.nodeLimit = 7
    let (root, last) = (TrackedNode("root"), TrackedNode("last"))
    last.views = (0..<4).map { TestView("\($0)") }
    root.below = [last]
    _ = try await keeper.save([root])
    root.below = [TrackedNode("a"), TrackedNode("b"), last]
    _ = try await keeper.save([root])
    try await assertStoredAsAWhole([root]) { $0.nodeLimit = 7 }
  }

  func testObjectsThatMakeAnotherWheneverTheyAreAskedEndWithAnError() async throws {
    for isTracked in [false, true] {
      let launch = Launch()
      let keeper = try launch.keeper()
      keeper.nodeLimit = 100
      let root = TrackedNode("root")
      if isTracked { _ = try await keeper.save([root]) }
      var count = 0
      func make() -> TestObject {
        let object = TestObject("\(count)")
        keeper.registerObject(object, restorationIdentifier: "object \(count)")
        count += 1
        object.onEncode = { coder in
          if count < 1000 { coder.encode(make(), forKey: "next") }
        }
        return object
      }
      root.references = [make()]
      do {
        _ = try await keeper.save([root])
        XCTFail("did not throw")
      } catch {
        XCTAssertEqual(error.code, .tooManyNodes)
      }
      XCTAssertLessThan(count, 300)
    }
  }

  func testViewsThatMakeAnotherWheneverTheyAreAskedEndWithAnError() async throws {
    for identifier in ["view", nil] {
      let keeper = try launch.keeper()
      keeper.nodeLimit = 100
      let root = TrackedNode("root")
      var count = 0
      func make() -> MakingView {
        count += 1
        return MakingView(identifier.map { "\($0) \(count)" }) { count < 1000 ? [make()] : [] }
      }
      root.views = [make()]
      do {
        _ = try await keeper.save([root])
        XCTFail("did not throw")
      } catch {
        XCTAssertEqual(error.code, .tooManyNodes)
      }
    }
  }

  func testViewsThatAreMadeWhenTheyAreAskedForAreAllStored() async throws {
    let keeper = try launch.keeper()
    let root = TrackedNode("root")
    // The memory of one is likely to be used again.
    root.views = [
      MakingView(nil) { (0..<20).map { number in MakingView(nil) { [MakingView("\(number)")] } } }
    ]
    _ = try await keeper.save([root])
    XCTAssertEqual(try launch.storedPaths().count, 21)
  }

  func testViewsInThePlaceOfThoseThatAChildMadeAreStored() async throws {
    let keeper = try launch.keeper()
    let root = ViewMakingNode("root") {
      [MakingView(nil) { (0..<20).map { MakingView("\($0)") } }]
    }
    root.restorationChildren = [ViewMakingNode("child") { (0..<20).map { MakingView("c\($0)") } }]
    _ = try await keeper.save([root])
    XCTAssertEqual(try launch.storedPaths().count, 42)
  }

  func testWhenNothingIsKeptAnyMoreASaveAsksWhatHasChanged() async throws {
    for way in 0..<3 {
      let launch = Launch()
      let saving = try launch.keeper()
      let old = TrackedNode("root")
      old.below = (0..<20).map { TrackedNode("n\($0)") } + [TrackedNode("late")]
      old.below[20].invalidateRestorableState()
      _ = try await saving.save([old])
      await saving.close()
      let keeper = try launch.keeper()
      let root = TrackedNode("root")
      let nodes = (0..<20).map { TrackedNode("n\($0)") }
      root.below = nodes
      _ = try await keeper.restore(into: [root])
      _ = try await keeper.save([root])
      XCTAssertTrue(try launch.storedPaths().contains("root/late"))
      let late = TrackedNode("late")
      switch way {
      case 0:
        root.below.append(late)
        _ = try await keeper.restore(late: late, below: root)
      case 1: root.below.append(late)
      default: launch.now += 40 * 24 * 60 * 60
      }
      for _ in 0..<2 { _ = try await keeper.save([root]) }
      nodes[3].value = "changed"
      let report = try await keeper.save([root])
      XCTAssertEqual(report.entries.count, 1, "\(way)")
      XCTAssertEqual(try launch.storedRecords()?["root/n3"]?.value, "changed")
      XCTAssertEqual(try launch.storedPaths().contains("root/late"), way != 2)
    }
  }
}

/// A view that makes its subviews when it is asked for them.
@MainActor
private final class MakingView: @MainActor RestorableView {
  let restorationIdentifier: String?
  private let make: () -> [any RestorableView]

  init(_ identifier: String?, _ make: @escaping () -> [any RestorableView] = { [] }) {
    (restorationIdentifier, self.make) = (identifier, make)
  }

  var restorationSubviews: [any RestorableView] { make() }
}

/// A node that makes its views when it is asked for them.
@MainActor
private final class ViewMakingNode: @MainActor RestorableNode {
  let restorationIdentifier: String?
  var restorationChildren: [any RestorableNode] = []
  private let make: () -> [any RestorableView]

  init(_ identifier: String, _ make: @escaping () -> [any RestorableView]) {
    (restorationIdentifier, self.make) = (identifier, make)
  }

  var restorationViews: [any RestorableView] { make() }
}
