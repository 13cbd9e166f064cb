import Foundation
import RestorationKit
import TestSupport
import XCTest

@MainActor
final class ReportTests: XCTestCase {
  private func savedAndRestored() async throws -> (PreservationReport, RestorationReport) {
    let launch = Launch()
    let detail = TestNode("detail", value: "lamp")
    let list = TestNode("list", children: [detail, TestNode(nil)])
    let saved = try await launch.keeper().save([TestNode("window", children: [list])])
    let restored = try await launch.keeper().restore(
      into: [TestNode("window", children: [TestNode("list")])])
    return (saved, restored)
  }

  func testEveryEntryHasItsReasonInASentence() async throws {
    let (_, restored) = try await savedAndRestored()
    XCTAssertEqual(
      restored.entries.map(\.reason),
      [
        "restored, already there", "restored, already there",
        "not found; register its class with a closure that makes it, answer in the delegate, or"
          + " let the node above it contain it before you restore; if it is built later, call"
          + " restore(late:below:); saves keep it as it is stored, until a node is saved in its place",
      ])
  }

  func testThereIsALineForEachElement() async throws {
    let (saved, restored) = try await savedAndRestored()
    XCTAssertEqual(
      saved.description,
      """
      Saved \(saved.byteCount) bytes.
        window (TestNode): saved
        window/list (TestNode): saved
        window/list/detail (TestNode): saved
        window/list/∅ (TestNode): left out, it has no usable restoration identifier
      """)
    XCTAssertEqual(
      restored.description.split(separator: "\n").prefix(3),
      [
        "Restored 2 of 3 nodes, 1 with problems.", "  window (TestNode): restored, already there",
        "  window/list (TestNode): restored, already there",
      ])
  }

  func testTheApplicationHasAnEntryIfThereIsSomethingToSayOfIt() async throws {
    let launch = Launch()
    let delegate = TestDelegate()
    let clean = try await launch.keeper(delegate: delegate).save([TestNode("a")])
    XCTAssertEqual(clean.entries.map(\.kind), [.node])
    delegate.onWillEncode = { $0.encode(1, forKey: "unread") }
    delegate.onDidDecode = { _ in throw Failure() }
    let second = TestNode("a")
    second.onEncode = { _ in throw Failure() }
    let third = TestNode("a")
    third.onDecode = { _ in throw Failure() }
    _ = try await launch.keeper(delegate: delegate).save([TestNode("a")])
    let restored = try await launch.keeper(delegate: delegate).restore(into: [third])
    XCTAssertEqual(restored.problems, restored.entries)
    XCTAssertEqual(restored.entries.map(\.kind), [.application, .node])
    XCTAssertEqual(restored.entries.map(\.path.description), ["", "a"])
    XCTAssertEqual(
      restored.entries.map(\.outcome),
      [.decodeFailed(by: .delegate, "Failure"), .decodeFailed(by: .existing, "Failure")])
    XCTAssertEqual(restored.entries.map(\.notes), [[.unreadKeys(["unread"])], []])
    let applicationFailed = "provided by the delegate, but its decoding threw: Failure."
    XCTAssertEqual(
      restored.entries.map(\.reason),
      [
        applicationFailed
          + " Nobody read what is stored under “unread”. Compare how the key and the hook are spelled.",
        "already there, but its decoding threw: Failure",
      ])
    delegate.onWillEncode = { _ in throw Failure() }
    let saved = try await launch.keeper(delegate: delegate).save([second])
    XCTAssertEqual(saved.problems, saved.entries)
    XCTAssertEqual(
      saved.description,
      """
      Saved \(saved.byteCount) bytes. What was stored is set aside at \
      \(try XCTUnwrap(saved.setAside)).
        application:
          problem: Encoding threw, so nothing new is stored of it: Failure
          problem: The save came before any restore, so what was stored is set aside. Call \
      restore(into:) at launch, before the first save.
        a (TestNode): saved without its state
          problem: Encoding threw, so nothing new is stored of it: Failure
      """)
  }

  func testEveryNoteSaysWhetherItIsAProblem() throws {
    let problems: [ReportNote] = [
      .encodeFailed("e"), .rootWithoutIdentifier, .identifierTooLong(byteCount: 2000),
      .unstored("k", "C"), .notRestoredBefore, .givenRootNotUsed,
      .restorationClassNotRegistered("C"), .notContained, .unreadKeys(["k", "l"]),
      .fieldReplaced(key: "k", "e"),
    ]
    let others: [ReportNote] = [
      .migrated(from: 1), .kept, .missingFields(["k"]),
      .keptStateDropped(since: Date(timeIntervalSinceReferenceDate: 1), byteCount: 3),
    ]
    XCTAssertEqual(problems.filter { !$0.isProblem }, [])
    XCTAssertEqual(others.filter(\.isProblem), [])
    let all = problems + others
    XCTAssertEqual(Set(all.map(\.description)).count, all.count)
    XCTAssertEqual(others.first?.description, "migrated from version 1")
  }

  func testEveryOutcomeHasASentenceOfItsOwn() {
    let path = RestorationPath(["a", "b"])
    let date = Date(timeIntervalSinceReferenceDate: 1)
    let saved: [PreservationReport.NodeOutcome] = [
      .saved, .savedWithoutState, .savedWithLastState, .keptAsStored, .replaced,
      .expired(since: date, byteCount: 3), .noIdentifier, .duplicate, .containedTwice,
    ]
    XCTAssertEqual(Set(saved.map(\.description)).count, saved.count)
    XCTAssertEqual(
      PreservationReport.NodeOutcome.containedTwice.description,
      "left out here, it is in the tree twice; let one node contain it and others refer to it")
    let restored: [RestorationReport.NodeOutcome] = [
      .vetoed, .factoryFailed(.delegate, "e"), .unknownRestorationClass("C"),
      .notFound, .notInStoryboard("Main", identifier: "a"),
      .notRegistered, .viewNotFound, .stackCut, .tabNotFound, .providedTwice(path),
      .parentMissing(path), .skipped,
    ]
    XCTAssertEqual(Set(restored.map(\.description)).count, restored.count)
    let unknown = "is not registered, or makes no nodes"
    XCTAssertEqual(
      [RestorationReport.NodeOutcome.unknownRestorationClass("C"), .providedTwice(path)]
        .map(\.description),
      [
        "not back, the restoration class C \(unknown); register it, or its new name with C as an alias",
        "not back, what was provided for it is already back as a/b",
      ])
  }

  func testReportsOfEqualEntriesAreEqual() async throws {
    let launch = Launch()
    let keeper = try launch.keeper()
    let node = TestNode("a")
    node.onEncode = { _ in throw CancellationError() }
    let first = try await keeper.save([node])
    XCTAssertEqual(first, first)
    XCTAssertEqual(first.hashValue, first.hashValue)
    XCTAssertEqual(Set([first]).count, 1)
  }

  func testReportsTellTwoEqualScreensOfAStackApart() async throws {
    let launch = Launch()
    func stack() -> TestStack {
      TestStack("nav", children: [TestNode("page"), TestNode("page")])
    }
    let saved = try await launch.keeper().save([stack()])
    let restored = try await launch.keeper().restore(into: [stack()])
    XCTAssertEqual(saved.entries.map(\.path.siblingIndex), [0, 0, 1])
    XCTAssertEqual(restored.entries.map(\.path.siblingIndex), [0, 0, 1])
  }
}

private struct Failure: Error {}
