import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

/// A late restore that gives a node an older state than it has: what the node had stays stored.
extension KeptByNodeTests {
  private struct Failure: Error {}

  /// The values that are stored of the editor: its own, then those that are kept beside it.
  private func values() throws -> [String?] {
    let element = try XCTUnwrap(try launch.storedRecords()?["editor"])
    return try [element.value] + element.kept.map { try $0.state?.decode(forKey: "value") }
  }

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

  func testALateRestoreKeepsWhatWasTypedLaterAndSaved() async throws {
    try await saveTwo()
    let keeper = try launch.keeper()
    let node = TestNode("editor")
    _ = try await keeper.restore(into: [node])
    XCTAssertEqual(node.value, "two")
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
    XCTAssertEqual(report.kept.map(\.reason), [.laterStateRestored])
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
    let later = try launch.keeper()
    let same = TestNode("editor")
    _ = try await later.restore(into: [same])
    same.value = "one"
    _ = try await later.restore(late: same)
    _ = try await later.save([same])
    XCTAssertEqual(try values(), ["one"])
  }

  func testALateRestoreThatFailsHalfwayKeepsWhatItHasReplaced() async throws {
    try await saveTwo()
    let keeper = try launch.keeper()
    let node = TestNode("editor")
    _ = try await keeper.restore(into: [node])
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
      $0.keep(because: away)
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
    let keeper = try launch.keeper()
    let node = TestNode("editor")
    _ = try await keeper.restore(into: [node])
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

  // MARK: Screens with fields

  private final class Page: @MainActor RestorableScreen {
    let restorationIdentifier = "page"
    @Restored var text = ""
    @Restored var cursor = 0
    var keeps = false
    func decodeRestorableState(with coder: StateDecoder) throws {
      if keeps { coder.keep(because: "later") }
    }
  }

  func testALongFieldOfANewerVersionStaysAsItWasWhileAnOlderOneIsUsed() async throws {
    func keeper(_ version: Int) throws -> StateKeeper {
      let keeper = try launch.keeper()
      try keeper.register(
        Page.self, version: version,
        migrations: (1..<version).map { StateMigration(from: $0) { _ in } })
      return keeper
    }
    let long = String(repeating: "newer ", count: 2000)
    for types in [false, true] {
      try launch.removeState()
      let saved = Page()
      saved.text = long
      _ = try await keeper(2).save([saved])
      let older = try keeper(1)
      let page = Page()
      _ = try await older.restore(into: [page])
      _ = try await older.save([page])
      if types {
        page.text = "older " + long
        _ = try await older.save([page])
        page.cursor = 1
        _ = try await older.save([page])
      }
      let back = Page()
      _ = try await keeper(2).restore(into: [back])
      XCTAssertEqual(back.text, types ? "older " + long : long)
      let kept = try launch.storedRecords()?["page"]?.kept.first?.state
      XCTAssertEqual(try kept?.decode(String.self, forKey: "text"), types ? long : nil)
    }
  }

  func testALongDraftOfAPageThatIsBuiltLaterStaysBesideWhatIsTypedInIt() async throws {
    let long = String(repeating: "one ", count: 2000)
    func keeper() throws -> StateKeeper {
      let keeper = try launch.keeper()
      try keeper.register(Page.self) { _, coder in
        coder.keep(because: "later")
        return nil
      }
      return keeper
    }
    let saved = Page()
    saved.text = long
    _ = try await keeper().save([TestNode("root", children: [saved])])
    let second = try keeper()
    let root = TestNode("root")
    _ = try await second.restore(into: [root])
    let page = Page()
    page.text = "two " + long
    root.restorationChildren = [page]
    for cursor in 1...3 {
      page.cursor = cursor
      _ = try await second.save([root])
    }
    let kept = try launch.storedRecords()?["root/page"]?.kept.first?.state
    XCTAssertEqual(try kept?.decode(String.self, forKey: "text"), long)
    _ = try await second.restore(late: page, below: root)
    XCTAssertEqual(page.text, long)
  }

  /// All texts that the stored state has of the page, each as its first word.
  private func texts() async throws -> Set<String> {
    var found: Set<String> = []
    let keeper = try launch.keeper()
    let page = Page()
    _ = try await keeper.restore(into: [page])
    repeat {
      found.insert(page.text.split(separator: " ").first.map(String.init) ?? "")
    } while try await keeper.restore(late: page).outcome != .nothingKept
    return found
  }

  func testADraftOfAnyLengthStaysWhileItsScreenKeepsIt() async throws {
    for rest in ["", " " + String(repeating: "word ", count: 2000)] {
      for savedRest in ["", " " + String(repeating: "word ", count: 2000)] {
        try launch.removeState()
        let saved = Page()
        saved.text = "one" + savedRest
        _ = try await launch.keeper().save([saved])
        let keeper = try launch.keeper()
        let page = Page()
        page.keeps = true
        _ = try await keeper.restore(into: [page])
        page.text = "two" + rest
        page.cursor = 1
        for _ in 0..<2 {
          _ = try await keeper.save([page])
          page.cursor += 1
        }
        let found = try await texts()
        XCTAssertEqual(found, ["one", "two"], "\(savedRest.count) \(rest.count)")

        // Once more, with what the late restore replaces.
        let next = try launch.keeper()
        let back = Page()
        _ = try await next.restore(into: [back])
        XCTAssertEqual(back.text, "two" + rest)
        _ = try await next.restore(late: back)
        XCTAssertEqual(back.text, "one" + savedRest)
        back.text = "three" + rest
        _ = try await next.save([back])
        let stored = try XCTUnwrap(try launch.storedRecords())
        let kept = try XCTUnwrap(stored["page"]?.kept.first?.state)
        XCTAssertEqual(try kept.decode(String.self, forKey: "text"), "two" + rest)
      }
    }
  }
}
