import RestorationKit
import TestSupport
import XCTest

/// Whether a launch may show the picture that was taken with the save.
@MainActor
final class SnapshotTests: XCTestCase {
  private let launch = Launch()

  /// What this launch shows before its restore and is told after it.
  private func usesSnapshot(endsLast: Bool = true) async throws -> [Bool] {
    let keeper = try launch.keeper(endsLast: endsLast)
    let before = try await keeper.isSnapshotUsable()
    let report = try await keeper.restore(into: [TestNode("a")])
    await keeper.close()
    return [before, report.usesSnapshot]
  }

  private func usesSnapshot(after roots: [any RestorableNode]) async throws -> [Bool] {
    _ = try await launch.keeper().save(roots)
    return try await usesSnapshot()
  }

  func testTheSnapshotIsUsedIfNobodyObjects() async throws {
    for _ in 1...2 {
      let uses = try await usesSnapshot(after: [TestNode("a")])
      XCTAssertEqual(uses, [true, true])
    }
  }

  func testAWishDuringASaveIsForTheNextLaunchAlone() async throws {
    for asksInWillEncode in [true, false] {
      let delegate = TestDelegate()
      let node = TestNode("a")
      let keeper = try launch.keeper(delegate: delegate)
      if asksInWillEncode {
        delegate.onWillEncode = { _ in keeper.ignoreSnapshotOnNextApplicationLaunch() }
      } else {
        node.onEncode = { _ in keeper.ignoreSnapshotOnNextApplicationLaunch() }
      }
      _ = try await keeper.save([node])
      // No save comes between these.
      var uses = [try await usesSnapshot()]
      for _ in 1...2 { uses.append(try await usesSnapshot()) }
      XCTAssertEqual(uses, [[false, false], [true, true], [true, true]])
    }
  }

  func testALaunchThatCrashesHasUsedUpTheWish() async throws {
    let node = TestNode("a")
    let keeper = try launch.keeper()
    node.onEncode = { _ in keeper.ignoreSnapshotOnNextApplicationLaunch() }
    _ = try await keeper.save([node])
    let first = try await launch.crash()
    let second = try await usesSnapshot()
    XCTAssertEqual([first.usesSnapshot] + second, [false, true, true])
  }

  func testEverySaveWishesAnew() async throws {
    let node = TestNode("a")
    let keeper = try launch.keeper()
    node.onEncode = { _ in keeper.ignoreSnapshotOnNextApplicationLaunch() }
    for _ in 1...2 {
      _ = try await keeper.save([node])
      await keeper.close()
      let uses = try await usesSnapshot(endsLast: false)
      XCTAssertEqual(uses, [false, false])
    }
    node.onEncode = nil
    _ = try await keeper.save([node])
    await keeper.close()
    let uses = try await usesSnapshot(endsLast: false)
    XCTAssertEqual(uses, [true, true])
  }

  func testAWishOutsideASaveCountsForNothing() async throws {
    let keeper = try launch.keeper()
    keeper.ignoreSnapshotOnNextApplicationLaunch()
    _ = try await keeper.save([TestNode("a")])
    keeper.ignoreSnapshotOnNextApplicationLaunch()
    await keeper.close()
    let first = try await usesSnapshot(endsLast: false)
    XCTAssertEqual(first, [true, true])
    let node = TestNode("a")
    node.onDecode = { _ in keeper.ignoreSnapshotOnNextApplicationLaunch() }
    _ = try await keeper.restore(into: [node])
    _ = try await keeper.save([TestNode("a")])
    await keeper.close()
    let second = try await usesSnapshot(endsLast: false)
    XCTAssertEqual(second, [true, true])
  }

  func testWithoutARestoreThereIsNoSnapshot() async throws {
    let none = try await usesSnapshot()
    XCTAssertEqual(none, [false, false])
    _ = try await launch.keeper().save([TestNode("a")])
    let delegate = TestDelegate()
    delegate.restores = false
    let report = try await launch.keeper(delegate: delegate).restore()
    XCTAssertFalse(report.usesSnapshot)
  }

  func testWhatIsOnTopWithoutIdentifierSpoilsTheSnapshot() async throws {
    let presenter = TestNode("a", children: [TestNode("child")])
    presenter.restorationPresented = TestNode(nil)
    let stack = Stack("a", children: [TestNode("bottom"), TestNode(nil)])
    let tabs = Tabs("a", children: [TestNode(nil), TestNode("other")])
    tabs.selectedTab = tabs.restorationChildren.first
    let cases: [[any RestorableNode]] = [
      [TestNode(nil)], [TestNode("below"), TestNode(nil)],
      [TestNode("a", children: [TestNode("first"), TestNode(nil)])], [presenter], [stack], [tabs],
      [TestNode(nil, children: [TestNode("inside")])],
    ]
    for (number, roots) in cases.enumerated() {
      // Nothing uses this up: the picture never shows what comes back.
      let first = try await usesSnapshot(after: roots)
      let second = try await usesSnapshot()
      XCTAssertEqual([first, second], [[false, false], [false, false]], "case \(number)")
    }
  }

  func testOnlyWhatIsOnTopCounts() async throws {
    let presenter = TestNode("a", children: [TestNode(nil)])
    presenter.restorationPresented = TestNode("sheet")
    let stack = Stack("a", children: [TestNode(nil), TestNode("top")])
    let tabs = Tabs("a", children: [TestNode("shown"), TestNode(nil)])
    tabs.selectedTab = tabs.restorationChildren.first
    let cases: [[any RestorableNode]] = [
      [TestNode(nil), TestNode("a")], [TestNode("a", children: [TestNode(nil), TestNode("b")])],
      [presenter], [stack], [tabs], [],
    ]
    for (number, roots) in cases.enumerated() {
      let uses = try await usesSnapshot(after: roots)
      XCTAssertEqual(uses, [true, true], "case \(number)")
    }
  }

  func testATopThatContainsItselfEnds() async throws {
    let node = TestNode("a")
    node.restorationChildren = [node]
    let uses = try await usesSnapshot(after: [node])
    XCTAssertEqual(uses, [true, true])
    node.restorationChildren = []
  }

  func testTheMarkOfAWishIsGoneWithTheStateThatHadIt() async throws {
    let node = TestNode("a")
    let keeper = try launch.keeper()
    node.onEncode = { _ in keeper.ignoreSnapshotOnNextApplicationLaunch() }
    _ = try await keeper.save([node])
    _ = try await usesSnapshot()
    XCTAssertNotNil(launch.markerBytes)
    _ = try await usesSnapshot(after: [TestNode("a")])
    XCTAssertNil(launch.markerBytes)
  }
}

@MainActor
private class Container: @MainActor RestorableNode {
  let restorationIdentifier: String?
  let restorationChildren: [any RestorableNode]

  init(_ identifier: String, children: [any RestorableNode]) {
    restorationIdentifier = identifier
    restorationChildren = children
  }
}

private final class Stack: Container, @MainActor RestorableStack {
  func restoreStack(_ nodes: [any RestorableNode]) {}
}

private final class Tabs: Container, @MainActor RestorableTabs {
  var selectedTab: (any RestorableNode)?
}
