import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

/// What an app does wrong, and what the reports say of it.
@MainActor
final class MistakeTests: XCTestCase {
  private let launch = Launch()

  func testASubclassThatHasNothingToSaveIsNoProblem() async throws {
    let keeper = try launch.keeper()
    _ = try await keeper.restore()
    let report = try await keeper.save([Forgetful("forgetful")])
    XCTAssertEqual(report.problems, [])
  }

  func testACoderThatIsUsedAfterItsSaveDoesNothing() async throws {
    var kept: [StateEncoder] = []
    let node = TestNode("root", value: "x", children: [TestNode("child")])
    node.onEncode = { kept.append($0) }
    let keeper = try launch.keeper()
    _ = try await keeper.restore()
    let first = try await keeper.save([node])
    XCTAssertEqual(first.problems, [])
    let stored = launch.storedBytes
    kept[0].encode(1, forKey: "late")
    kept[0].encode(2, forKey: "later")
    XCTAssertEqual(launch.storedBytes, stored)
    node.restorationChildren = []
    let second = try await keeper.save([node])
    XCTAssertEqual(second.problems, [])
    // The rows of the coders are gone by now.
    for coder in kept {
      coder.encode(node, forKey: "late")
      XCTAssertEqual(coder.path, RestorationPath())
    }
    XCTAssertEqual(try launch.storedRecords()?["root"]?.value, "x")
  }

  func testATreeIsNeverEmpty() async throws {
    let keeper = try launch.keeper()
    let restored = try await keeper.restore()
    XCTAssertEqual(restored.description, "Nothing restored: there is no saved state.")
    let delegate = TestDelegate()
    delegate.saves = false
    keeper.delegate = delegate
    let saved = try await keeper.save([TestNode("root")])
    XCTAssertEqual(saved.description, "Nothing saved: the gate said no.")
  }

  func testTheTreeHasWhatBelongsToNoNode() async throws {
    let delegate = TestDelegate()
    delegate.onWillEncode = { _ in throw Failure() }
    delegate.onDidDecode = { _ in throw Failure() }
    let saved = try await launch.keeper(delegate: delegate).save([])
    XCTAssertEqual(
      saved.description.split(separator: "\n").suffix(2),
      [
        "  application:",
        "    problem: Encoding threw, so nothing new is stored of it: Failure",
      ])
    let restored = try await launch.keeper(delegate: delegate).restore()
    XCTAssertEqual(
      restored.description.split(separator: "\n").dropFirst(),
      ["  application: provided by the delegate, but its decoding threw: Failure"])
  }

  func testACoderThatIsKeptAfterAnErrorKeepsNoNodes() async throws {
    let first = try launch.keeper()
    _ = try await first.save([TestNode("root", children: [TestNode("late", value: "x")])])
    var kept: StateEncoder?
    weak var taker: TestNode?
    let keeper = try launch.keeper()
    let root = TestNode("root")
    _ = try await keeper.restore(into: [root])
    keeper.policy.nodeLimit = 2
    do {
      let late = TestNode("late", value: "y")
      root.restorationChildren = [late, TestNode("more")]
      root.onEncode = {
        kept = $0
        $0.encode(TestObject(), forKey: "unregistered")
      }
      taker = late
      let thrown = await restorationError { _ = try await keeper.save([root]) }
      XCTAssertEqual(thrown?.code, .tooManyNodes)
      root.restorationChildren = []
    }
    XCTAssertNil(kept, "All nodes have their places before the first is asked.")
    XCTAssertNil(taker)
  }

  func testACoderThatIsKeptAfterAFailedSaveKeepsNoNodes() async throws {
    var kept: StateEncoder?
    weak var last: TestNode?
    let keeper = try launch.keeper()
    _ = try await keeper.restore()
    keeper.policy.nodeLimit = 2
    do {
      let nodes = (0..<9).map { TestNode("\($0)") }
      nodes[0].onEncode = { kept = $0 }
      last = nodes[8]
      let thrown = await restorationError { _ = try await keeper.save(nodes) }
      XCTAssertEqual(thrown?.code, .tooManyNodes)
    }
    XCTAssertNil(kept, "All nodes have their places before the first is asked.")
    XCTAssertNil(last)
  }
}

private struct Failure: Error {}

@MainActor
private class BaseScreen: @MainActor RestorableNode {
  let restorationIdentifier: String?
  init(_ identifier: String) { restorationIdentifier = identifier }
}

private final class Forgetful: BaseScreen {
  // Not what the conformance calls, which is that of the class above.
  func encodeRestorableState(with coder: StateEncoder) throws {
    coder.encode(1, forKey: "lost")
  }
}
