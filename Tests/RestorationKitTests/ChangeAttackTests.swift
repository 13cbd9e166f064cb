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
}
