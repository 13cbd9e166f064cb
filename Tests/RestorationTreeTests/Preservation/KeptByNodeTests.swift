import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

/// Nodes that cannot apply their state now: they throw, and it is kept for later.
@MainActor
final class KeptByNodeTests: XCTestCase {
  private struct Failure: Error {}

  /// Throws the reason for which a node cannot apply its state.
  nonisolated static func keep(_ coder: StateDecoder, because reason: String) throws {
    throw Kept(description: reason)
  }

  private struct Kept: Error, CustomStringConvertible {
    let description: String
  }

  /// The outcome of a node that is there and keeps its state.
  private func kept(_ reason: String) -> RestorationReport.NodeOutcome {
    .decodeFailed(by: .existing, reason)
  }

  /// The value that is stored of the editor, then those that are kept beside it.
  func values() throws -> [String?] {
    let element = try XCTUnwrap(try launch.storedRecords()?["editor"])
    return try [element.value] + element.kept.map { try $0.state?.decodeIfPresent(forKey: "value") }
  }

  let launch = Launch()
  let away = "The volume is not mounted."

  override func tearDown() async throws {
    TestFactory.make = { _, _ in nil }
  }

  /// Stores a node with a draft.
  func saveDraft() async throws {
    _ = try await launch.keeper().save([TestNode("editor", value: "draft")])
  }

  /// A node that keeps what it finds, and shows nothing.
  func keepingNode(_ reason: String? = nil) -> TestNode {
    let node = TestNode("editor")
    node.onDecode = { [weak node, away] coder in
      node?.value = nil
      try Self.keep(coder, because: reason ?? away)
    }
    return node
  }

  /// A launch whose node keeps its draft.
  private func launchKeeping() async throws -> (StateKeeper, TestNode, RestorationReport) {
    let keeper = try launch.keeper()
    let node = keepingNode()
    return (keeper, node, try await keeper.restore(into: [node]))
  }

  /// What the next launch decodes.
  func stored() async throws -> (value: String?, report: RestorationReport) {
    let node = TestNode("editor")
    let report = try await launch.keeper().restore(into: [node])
    return (node.value, report)
  }

  func testAStateThatItsNodeKeepsStaysStoredAsItWas() async throws {
    try await saveDraft()
    let (keeper, node, report) = try await launchKeeping()
    XCTAssertEqual(report.outcome(of: "editor"), kept(away))
    XCTAssertTrue("\(report)".contains(away), "\(report)")
    XCTAssertEqual(report.problems.map(\.path.description), ["editor"])
    XCTAssertEqual(try values(), ["draft"])

    let save = try await keeper.save([node])
    XCTAssertEqual(save.setAside, nil)
    XCTAssertEqual(try values(), ["draft"])
    let (value, next) = try await stored()
    XCTAssertEqual(value, "draft")
    XCTAssertEqual(next.outcome(of: "editor"), .restored(by: .existing))
    XCTAssertEqual(next.kept, [])
  }

  func testAKeptStateIsDecodedAgainWhenTheAppAsks() async throws {
    try await saveDraft()
    let (keeper, node, _) = try await launchKeeping()
    _ = try await keeper.save([node])
    node.onDecode = nil
    let late = try await keeper.restore(late: node)
    XCTAssertEqual(late.outcome(of: "editor"), .restored(by: .existing))
    XCTAssertEqual(node.value, "draft")
    let again = try await keeper.restore(late: node)
    XCTAssertEqual(again.outcome, .nothingKept)

    node.value = "more"
    _ = try await keeper.save([node])
    let (value, next) = try await stored()
    XCTAssertEqual(value, "more")
    XCTAssertEqual(next.kept, [])
  }

  func testWhatTheNodeSaysMeanwhileIsSavedBesideAndTheDraftIsOfferedFirstInLaterLaunches()
    async throws
  {
    try await saveDraft()
    let (keeper, node, _) = try await launchKeeping()
    node.value = "typed meanwhile"
    _ = try await keeper.save([node])

    let second = try launch.keeper()
    let refusing = TestNode("editor")
    refusing.onDecode = { [weak refusing, away] in
      if refusing?.value == "draft" { try Self.keep($0, because: away) }
    }
    let report = try await second.restore(into: [refusing])
    XCTAssertEqual(refusing.value, "typed meanwhile")
    XCTAssertEqual(report.kept.map(\.path.description), ["editor"])
    _ = try await second.save([refusing])
    XCTAssertEqual(try values(), ["typed meanwhile", "draft"])

    let third = try launch.keeper()
    let last = TestNode("editor")
    _ = try await third.restore(into: [last])
    XCTAssertEqual(last.value, "draft")
    last.value = "draft and more"
    _ = try await third.save([last])
    XCTAssertEqual(try values(), ["draft and more", "typed meanwhile"])
    let (value, next) = try await stored()
    XCTAssertEqual(value, "draft and more")
    XCTAssertEqual(next.kept.map(\.path.description), ["editor"], "what the draft has replaced")
  }

  func testAStateIsKeptOnWithItsNewReasonUntilItCanBeApplied() async throws {
    for saysMore in [false, true] {
      try await saveDraft()
      let (keeper, node, _) = try await launchKeeping()
      if saysMore { node.value = "typed meanwhile" }
      _ = try await keeper.save([node])
      node.onDecode = { try Self.keep($0, because: "It is locked.") }
      let late = try await keeper.restore(late: node)
      XCTAssertEqual(late.outcome(of: "editor"), kept("It is locked."))
      node.onDecode = { _ in throw Failure() }
      let failed = try await keeper.restore(late: node)
      XCTAssertEqual(failed.problems.count, 1)
      let save = try await keeper.save([node])
      XCTAssertEqual(save.setAside, nil)

      let next = try launch.keeper()
      let later = TestNode("editor")
      _ = try await next.restore(into: [later])
      _ = try await next.restore(late: later)
      XCTAssertEqual(later.value, "draft", "\(saysMore)")
      try launch.removeState()
    }
  }

  func testANodeThatKeepsItsStateAndThrowsHasKeptIt() async throws {
    try await saveDraft()
    let keeper = try launch.keeper()
    let node = TestNode("editor")
    node.onDecode = { [away] in
      try Self.keep($0, because: away)
      throw Failure()
    }
    let report = try await keeper.restore(into: [node])
    XCTAssertEqual(report.outcome(of: "editor"), kept(away))
    node.onDecode = nil
    node.value = nil
    let save = try await keeper.save([node])
    XCTAssertEqual(save.setAside, nil)
    let late = try await keeper.restore(late: node)
    XCTAssertEqual(late.outcome(of: "editor"), .restored(by: .existing))
    XCTAssertEqual(node.value, "draft")
  }

  func testAFactoryThatKeepsTheStateDoesNotVetoTheNode() async throws {
    let child = TestNode("child", value: "below")
    let editor = TestNode("editor", value: "draft", children: [child])
    editor.restorationClass = TestFactory.self
    _ = try await launch.keeper().save([TestNode("root", children: [editor])])

    for _ in 0..<2 {
      let keeper = try launch.keeper()
      TestFactory.make = { [away] _, coder in
        try Self.keep(coder, because: away)
        return nil
      }
      let kept = RestorationReport.NodeOutcome.factoryFailed(.restorationClass, away)
      let root = TestNode("root")
      let report = try await keeper.restore(into: [root])
      XCTAssertEqual(report.outcome(of: "root/editor"), kept)
      XCTAssertEqual(report.kept.map(\.outcome), [kept])
      _ = try await keeper.save([root])
    }
    let keeper = try launch.keeper()
    let root = TestNode("root")
    _ = try await keeper.restore(into: [root])
    let (back, below) = (TestNode("editor"), TestNode("child"))
    back.restorationChildren = [below]
    root.restorationChildren = [back]
    _ = try await keeper.restore(late: back, below: root)
    XCTAssertEqual([back.value, below.value], ["draft", "below"])
  }

  func testAViewKeepsItsState() async throws {
    let saved = TestNode("editor")
    saved.restorationViews = [TestView("field", value: "typed")]
    _ = try await launch.keeper().save([saved])
    let keeper = try launch.keeper()
    let (node, field) = (TestNode("editor"), TestView("field"))
    field.onDecode = { [weak field, away] in
      field?.value = nil
      try Self.keep($0, because: away)
    }
    node.restorationViews = [field]
    let report = try await keeper.restore(into: [node])
    XCTAssertEqual(report.outcome(of: "editor/field"), kept(away))
    field.onDecode = nil
    _ = try await keeper.save([node])
    let (again, next) = (TestNode("editor"), TestView("field"))
    again.restorationViews = [next]
    _ = try await launch.keeper().restore(into: [again])
    XCTAssertEqual(next.value, "typed")
  }

  func testAStateThatIsGivenUpIsGoneFromTheNextSave() async throws {
    for saysMore in [false, true] {
      try await saveDraft()
      let (keeper, node, _) = try await launchKeeping()
      node.value = saysMore ? "new" : nil
      _ = try await keeper.save([node])
      await keeper.discardKeptState(of: node)
      await keeper.discardKeptState(of: TestNode("another"))
      let late = try await keeper.restore(late: node)
      XCTAssertEqual(late.outcome, .nothingKept)
      _ = try await keeper.save([node])
      let (value, report) = try await stored()
      XCTAssertEqual(value, saysMore ? "new" : nil)
      XCTAssertEqual(report.kept, [])
      try launch.removeState()
    }
  }

  func testAKeptStateOfAnOlderVersionIsMigratedWhenItIsDecodedLater() async throws {
    try await saveDraft()
    let (first, kept, _) = try await launchKeeping()
    kept.value = "typed meanwhile"
    _ = try await first.save([kept])

    let keeper = try launch.keeper()
    try keeper.register(
      TestNode.self, version: 2,
      migrations: [
        1: { state in
          let value: String? = try state.decodeIfPresent(forKey: "value")
          try state.encode(value.map { "migrated \($0)" }, forKey: "value")
        }
      ])
    let node = TestNode("editor")
    // A state that was kept is offered first.
    node.onDecode = { [weak node, away] in
      if node?.value == "migrated draft" { try Self.keep($0, because: away) }
    }
    _ = try await keeper.restore(into: [node])
    node.onDecode = nil
    XCTAssertEqual(node.value, "migrated typed meanwhile")
    _ = try await keeper.restore(late: node)
    XCTAssertEqual(node.value, "migrated draft")
  }

  func testTheApplicationsStateIsSetAsideIfItIsKept() async throws {
    let delegate = TestDelegate()
    delegate.onWillEncode = { $0.encode("app", forKey: "value") }
    _ = try await launch.keeper(delegate: delegate).save([TestNode("editor")])
    let next = TestDelegate()
    next.onWillEncode = { $0.encode("another", forKey: "value") }
    next.onDidDecode = { [away] in try Self.keep($0, because: away) }
    let keeper = try launch.keeper(delegate: next)
    let node = TestNode("editor")
    let report = try await keeper.restore(into: [node])
    XCTAssertEqual(report.entries.first?.outcome, .decodeFailed(by: .delegate, away))
    _ = try await keeper.save([node])
    let kept = try XCTUnwrap(try launch.storedRecords()).keptOfApplication
    XCTAssertEqual(try kept.map { try $0.state?.decode(forKey: "value") }, ["app"])
  }
}

// MARK: - With other features

extension KeptByNodeTests {
  final class TrackedNode: @MainActor RestorableNode {
    static var stateTracking: StateTracking { .invalidated }
    let restorationIdentifier: String?
    var value: String?
    var keeps = false

    init(_ identifier: String, value: String? = nil) {
      (restorationIdentifier, self.value) = (identifier, value)
    }

    func encodeRestorableState(with coder: StateEncoder) { coder.encode(value, forKey: "value") }

    func decodeRestorableState(with coder: StateDecoder) throws {
      if keeps { return try KeptByNodeTests.keep(coder, because: "later") }
      value = try coder.decodeIfPresent(forKey: "value")
    }
  }

  func testSavesOfChangesLeaveAKeptStateAlone() async throws {
    let saved = TrackedNode("editor", value: "draft")
    let other = TrackedNode("other", value: "1")
    _ = try await launch.keeper().save([saved, other])
    let keeper = try launch.keeper()
    let (node, second) = (TrackedNode("editor"), TrackedNode("other"))
    node.keeps = true
    _ = try await keeper.restore(into: [node, second])
    for value in ["2", "3", "4"] {
      second.value = value
      second.invalidateRestorableState()
      _ = try await keeper.save([node, second])
    }
    node.keeps = false
    _ = try await keeper.restore(late: node)
    XCTAssertEqual(node.value, "draft")
    node.value = "draft and more"
    node.invalidateRestorableState()
    _ = try await keeper.save([node, second])
    let (last, lastOther) = (TrackedNode("editor"), TrackedNode("other"))
    let report = try await launch.keeper().restore(into: [last, lastOther])
    XCTAssertEqual([last.value, lastOther.value], ["draft and more", "4"])
    XCTAssertEqual(report.kept, [])
  }

  func testAStateThatIsGivenUpIsGoneFromTheNextSaveOfChanges() async throws {
    _ = try await launch.keeper().save([
      TrackedNode("editor", value: "draft"), TrackedNode("other", value: "1"),
    ])
    let keeper = try launch.keeper()
    let (node, other) = (TrackedNode("editor"), TrackedNode("other"))
    node.keeps = true
    _ = try await keeper.restore(into: [node, other])
    _ = try await keeper.save([node, other])
    await keeper.discardKeptState(of: node)
    other.value = "2"
    other.invalidateRestorableState()
    _ = try await keeper.save([node, other])
    let (last, lastOther) = (TrackedNode("editor"), TrackedNode("other"))
    let report = try await launch.keeper().restore(into: [last, lastOther])
    XCTAssertEqual([last.value, lastOther.value], [nil, "2"])
    XCTAssertEqual(report.kept, [])
  }

  func testAFieldThatDoesNotFitKeepsTheState() async throws {
    final class Old: StatefulNode {
      struct State: Codable { var number: String }
      let restorationIdentifier: String? = "editor"
      var restorableState = State(number: "one")
    }
    final class New: StatefulNode {
      struct State: Codable { var number: Int }
      let restorationIdentifier: String? = "editor"
      var restorableState = State(number: 0)
      var keeps = true
      func decodeRestorableState(with coder: StateDecoder) throws {
        if keeps { return try KeptByNodeTests.keep(coder, because: "later") }
        restorableState = try coder.decodeState(of: New.self)
      }
    }
    let old = try launch.keeper()
    try old.register(Old.self, as: "Editor")
    _ = try await old.save([Old()])
    let keeper = try launch.keeper()
    try keeper.register(New.self, as: "Editor")
    let node = New()
    _ = try await keeper.restore(into: [node])
    node.keeps = false
    let late = try await keeper.restore(late: node)
    XCTAssertFalse(late.problems.isEmpty)
    let save = try await keeper.save([node])
    XCTAssertNil(save.setAside)
    let last = try launch.keeper()
    try last.register(Old.self, as: "Editor")
    let back = Old()
    back.restorableState.number = "none"
    _ = try await last.restore(into: [back])
    _ = try await last.restore(late: back)
    XCTAssertEqual(back.restorableState.number, "one")
  }
}
