import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

/// A late restore that gives a node an older state than it has: what the node had stays stored.
extension KeptByNodeTests {
  private struct Failure: Error {}

  /// Stores “one”, which its node has kept, and “two”, which was typed later.
  private func saveTwo() async throws {
    _ = try await launch.keeper().save([TestNode("editor", value: "one")])
    let keeper = try launch.keeper()
    let node = keepingNode()
    _ = try await keeper.restore(into: [node])
    node.value = "two"
    _ = try await keeper.save([node])
    XCTAssertEqual(try values(), ["two", "one"])
  }

  /// A launch whose editor has “two”, while “one” waits for a late restore.
  private func launchTwo(_ node: TestNode = TestNode("editor")) async throws -> (
    StateKeeper, TestNode
  ) {
    let keeper = try launch.keeper()
    // A state that was kept is offered first.
    node.onDecode = { [weak node, away] in
      if node?.value == "one" { try Self.keep($0, because: away) }
    }
    _ = try await keeper.restore(into: [node])
    node.onDecode = nil
    XCTAssertEqual(node.value, "two")
    return (keeper, node)
  }

  func testALateRestoreKeepsWhatWasTypedLaterAndSaved() async throws {
    try await saveTwo()
    let (keeper, node) = try await launchTwo()
    _ = try await keeper.restore(late: node)
    XCTAssertEqual(node.value, "one")
    for _ in 0..<2 {
      _ = try await keeper.save([node])
      XCTAssertEqual(try values(), ["one", "two"])
    }
    // It is not given back again and again: the node has not kept it.
    let again = try await keeper.restore(late: node)
    XCTAssertEqual(again.outcome, .nothingKept)

    let later = try launch.keeper()
    let last = TestNode("editor")
    let report = try await later.restore(into: [last])
    XCTAssertEqual(last.value, "one")
    XCTAssertEqual(report.kept.map(\.path.description), ["editor"])
    last.value = "one and more"
    let saved = try await later.save([last])
    XCTAssertEqual(saved.kept.count, 1)
    XCTAssertEqual(try values(), ["one and more", "two"])
  }

  func testALateRestoreKeepsWhatWasTypedAndIsNotSavedYet() async throws {
    for savesBefore in [false, true] {
      try launch.removeState()
      try await saveDraft()
      let keeper = try launch.keeper()
      let node = keepingNode()
      _ = try await keeper.restore(into: [node])
      if savesBefore {
        node.value = "saved"
        _ = try await keeper.save([node])
      }
      node.value = "typed"
      node.onDecode = nil
      _ = try await keeper.restore(late: node)
      _ = try await keeper.save([node])
      XCTAssertEqual(try values(), ["draft", "typed"], "\(savesBefore)")
    }
  }

  func testALateRestoreThatReplacesNothingKeepsNothing() async throws {
    try await saveDraft()
    let keeper = try launch.keeper()
    let node = keepingNode()
    _ = try await keeper.restore(into: [node])
    node.onDecode = nil
    _ = try await keeper.restore(late: node)
    _ = try await keeper.save([node])
    XCTAssertEqual(try values(), ["draft"], "what the node said at its start is nobody's work")

    try launch.removeState()
    try await saveTwo()
    let (later, same) = try await launchTwo()
    same.value = "one"
    _ = try await later.restore(late: same)
    _ = try await later.save([same])
    XCTAssertEqual(try values(), ["one"])
  }

  func testALateRestoreThatFailsHalfwayKeepsWhatItHasReplaced() async throws {
    try await saveTwo()
    let (keeper, node) = try await launchTwo()
    node.onDecode = { _ in throw Failure() }
    _ = try await keeper.restore(late: node)
    _ = try await keeper.save([node])
    XCTAssertEqual(Set(try values()), ["one", "two"])
    XCTAssertTrue(try values().contains("two"))
  }

  func testWhatALateRestoreReplacesNamesTheSameNodes() async throws {
    let friend = TestNode("friend")
    func editor() -> TestNode {
      let node = TestNode("editor")
      node.onEncode = { [weak node] in
        $0.encode(node?.value == "two" ? friend : nil, forKey: "friend")
      }
      return node
    }
    let saved = editor()
    saved.value = "one"
    _ = try await launch.keeper().save([saved, friend])
    let keeper = try launch.keeper()
    let node = editor()
    node.onDecode = { [weak node, away] in
      node?.value = nil
      try Self.keep($0, because: away)
    }
    _ = try await keeper.restore(into: [node, friend])
    node.value = "two"
    _ = try await keeper.save([node, friend])
    node.onDecode = nil
    _ = try await keeper.restore(late: node)
    XCTAssertEqual(node.value, "one")
    for count in 1...2 {
      let others = (0..<count).map { TestNode("other \($0)") }
      _ = try await keeper.save(others + [node, friend])
      let records = try XCTUnwrap(try launch.storedRecords())
      let kept = try XCTUnwrap(records["editor"]?.kept.first)
      XCTAssertEqual(try kept.state?.decode(String.self, forKey: "value"), "two")
      XCTAssertEqual(try records.paths(in: try XCTUnwrap(kept.state), forKey: "friend"), ["friend"])
    }
  }

  func testANodeThatCannotSayWhatItHasGetsNoOtherState() async throws {
    try await saveTwo()
    let (keeper, node) = try await launchTwo()
    node.onEncode = { _ in throw Failure() }
    let report = try await keeper.restore(late: node)
    XCTAssertEqual(node.value, "two")
    guard case .decodeFailed(by: .existing, _) = report.outcome(of: "editor") else {
      return XCTFail("\(report)")
    }
    node.onEncode = nil
    _ = try await keeper.restore(late: node)
    XCTAssertEqual(node.value, "one")
    _ = try await keeper.save([node])
    XCTAssertEqual(try values(), ["one", "two"])
  }
}
