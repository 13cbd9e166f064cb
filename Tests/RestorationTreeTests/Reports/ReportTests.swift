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

  #if !RESTORATION_NEXT
  func testTheTreeIndentsWhatIsBelow() async throws {
    let (saved, restored) = try await savedAndRestored()
    XCTAssertEqual(
      saved.tree,
      """
      Saved \(saved.byteCount) bytes.
      window (TestNode): saved
        list (TestNode): saved
          detail (TestNode): saved
          ∅ (TestNode): left out, it has no usable restoration identifier
      """)
    XCTAssertEqual(
      restored.tree.split(separator: "\n").prefix(3),
      [
        "Restored 2 of 3 nodes, 1 with problems.", "window (TestNode): restored, already there",
        "  list (TestNode): restored, already there",
      ])
  }

  func testTheTreeNamesWholePathsWhereTheParentIsNotAbove() async throws {
    let lost = TestNode("lost")
    let window = TestNode("window", children: [TestNode("list"), TestNode("pane")])
    (window.restorationChildren.first as? TestNode)?.onEncode = { $0.encode(lost, forKey: "lost") }
    let launch = Launch()
    let report = try await launch.keeper().save([window])
    XCTAssertEqual(
      report.tree,
      """
      Saved \(report.byteCount) bytes.
      window (TestNode): saved
        list (TestNode): saved
        pane (TestNode): saved
      window/list/lost (TestNode): saved
      """)
  }

  func testTheTreeOfALongChainTakesLinearSpace() async throws {
    var chain = TestNode("n")
    for _ in 0..<5_000 { chain = TestNode("n", children: [chain]) }
    let launch = Launch()
    let report = try await launch.keeper().save([chain])
    XCTAssertLessThan(report.tree.utf8.count, 5_001 * 100)
    XCTAssertTrue(report.tree.hasSuffix("[5000] n (TestNode): saved"))
  }
  #endif

  #if RESTORATION_NEXT
  // There are no values and no windows yet.
  private static let otherProblems: [ReportNote] = []
  private static let otherNotes: [ReportNote] = []
  private static let otherOutcomes: [RestorationReport.NodeOutcome] = []
  #else
  private static let otherProblems: [ReportNote] = [
    .undeclaredActivityType("t"), .invalidActivity("t"),
    .activityEncodingFailed("t", "e"), .userInfoEncodingFailed(key: "k", "e"),
    .requiredKeysMissing(["k"]), .largeActivity(byteCount: 3, limit: 2),
    .storageTypeMismatch(key: "k", "e"), .storageEncodingFailed(key: "k", "e"),
    .unreadable("e"), .hostDelegateGone, .lastState, .fieldsNotFound(className: "C"),
    .fieldKeyTwice(key: "k"), .aboveGap(RestorationPath(["a"])), .identifierShadowed,
    .willEncodeFailed("e"), .referenceToUnpreservedView(key: "k"), .didDecodeFailed("e"),
  ]
  private static let otherNotes: [ReportNote] = [
    .applicationKept("r"), .detached, .keptBecause(.notFound), .unusedInheritedHooks,
    .tabNotSelected, .keptBeside(version: 2, since: nil),
    .keptBeside(version: 2, since: Date(timeIntervalSinceReferenceDate: 1)),
  ]
  private static let otherOutcomes: [RestorationReport.NodeOutcome] = [
    .unreadable("e"), .laterStateRestored, .notARestorationClass("C"),
  ]
  #endif

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
    #if RESTORATION_NEXT
    XCTAssertEqual(
      restored.entries.map(\.outcome),
      [.decodeFailed(by: .delegate, "Failure"), .decodeFailed(by: .existing, "Failure")])
    XCTAssertEqual(restored.entries.map(\.notes), [[.unreadKeys(["unread"])], []])
    let applicationFailed = "provided by the delegate, but its decoding threw: Failure."
    #else
    XCTAssertEqual(
      restored.entries.map(\.notes),
      [[.didDecodeFailed("Failure"), .unreadKeys(["unread"])], []])
    let applicationFailed = "didDecodeRestorableState threw: Failure."
    #endif
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
    #if RESTORATION_NEXT
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
    #else
    XCTAssertEqual(
      saved.tree,
      """
      Saved \(saved.byteCount) bytes. What was stored is set aside at \
      \(try XCTUnwrap(saved.setAside)).
      application:
          problem: willEncodeRestorableState threw, so what it encoded is missing: Failure
          problem: The save came before any restore, so what was stored is set aside. Call \
      restore(into:) at launch, before the first save.
      a (TestNode): saved with the state of the save before
          problem: Encoding threw, so the node has no new state: Failure
      """)
    #endif
  }

  func testEveryNoteSaysWhetherItIsAProblem() throws {
    let problems: [ReportNote] =
      [
        .encodeFailed("e"), .rootWithoutIdentifier, .identifierTooLong(byteCount: 2000),
        .unstored("k", "C"), .notRestoredBefore, .givenRootNotUsed,
        .restorationClassNotRegistered("C"), .notContained, .unreadKeys(["k", "l"]),
        .fieldReplaced(key: "k", "e"),
      ] + Self.otherProblems
    let others: [ReportNote] =
      [
        .migrated(from: 1), .kept, .missingFields(["k"]),
        .keptStateDropped(since: Date(timeIntervalSinceReferenceDate: 1), byteCount: 3),
      ] + Self.otherNotes
    XCTAssertEqual(problems.filter { !$0.isProblem }, [])
    XCTAssertEqual(others.filter(\.isProblem), [])
    let all = problems + others
    XCTAssertEqual(Set(all.map(\.description)).count, all.count)
    XCTAssertEqual(others.first?.description, "migrated from version 1")
  }

  func testEveryOutcomeHasASentenceOfItsOwn() {
    let path = RestorationPath(["a", "b"])
    let date = Date(timeIntervalSinceReferenceDate: 1)
    var saved: [PreservationReport.NodeOutcome] = [
      .saved, .savedWithoutState, .savedWithLastState, .keptAsStored, .replaced,
      .expired(since: date, byteCount: 3), .noIdentifier, .duplicate, .containedTwice,
    ]
    #if !RESTORATION_NEXT
    saved.append(.excluded(by: path))
    #endif
    XCTAssertEqual(Set(saved.map(\.description)).count, saved.count)
    XCTAssertEqual(
      PreservationReport.NodeOutcome.containedTwice.description,
      "left out here, it is in the tree twice; let one node contain it and others refer to it")
    let restored: [RestorationReport.NodeOutcome] =
      [
        .vetoed, .factoryFailed(.delegate, "e"), .unknownRestorationClass("C"),
        .notFound, .notInStoryboard("Main", identifier: "a"),
        .notRegistered, .viewNotFound, .stackCut, .tabNotFound, .providedTwice(path),
        .parentMissing(path), .skipped,
      ] + Self.otherOutcomes
    XCTAssertEqual(Set(restored.map(\.description)).count, restored.count)
    let unknown = Launch.isNext ? "is not registered, or makes no nodes" : "is not registered"
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

  // Reports and their paths are not coded in the new core.
  #if !RESTORATION_NEXT
  func testThePathOfEqualSiblingsComesBackFromJSON() throws {
    let path = RestorationPath(["nav"]).appending("page", siblingIndex: 2)
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let data = try encoder.encode(path)
    XCTAssertEqual(
      String(decoding: data, as: UTF8.self),
      #"{"identifiers":["nav","page"],"siblingIndices":[0,2]}"#)
    XCTAssertEqual(try JSONDecoder().decode(RestorationPath.self, from: data), path)
    XCTAssertNotEqual(path, RestorationPath(["nav", "page"]))
  }

  func testAPathWithTooFewSiblingIndicesIsRefused() {
    let json = Data(#"{"siblingIndices":[0],"identifiers":["nav","page"]}"#.utf8)
    XCTAssertThrowsError(try JSONDecoder().decode(RestorationPath.self, from: json)) { error in
      guard case DecodingError.dataCorrupted(let context) = error else {
        return XCTFail("\(error)")
      }
      XCTAssertEqual(context.codingPath.map(\.stringValue), ["siblingIndices"])
      XCTAssertEqual(
        context.debugDescription, "There are not as many sibling indices as identifiers.")
    }
  }
  #endif

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
