import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

/// Screens with fields that cannot apply their state now, and keep it for later.
@MainActor
final class KeptFieldsTests: XCTestCase {
  private let launch = Launch()

  private final class Old: RestorableScreen {
    @Restored var number = "none"
    let restorationIdentifier: String? = "editor"
  }

  private final class New: RestorableScreen {
    @Restored var number = 0
    let restorationIdentifier: String? = "editor"
    var keeps = true
    func decodeRestorableState(with coder: StateDecoder) throws {
      if keeps {
        throw CancellationError()
      }
    }
  }

  func testAStateOfWhichAFieldWasReplacedIsKeptOn() async throws {
    let old = try launch.keeper()
    try old.register(Old.self, as: "Editor")
    let saved = Old()
    saved.number = "one"
    _ = try await old.save([saved])
    let keeper = try launch.keeper()
    try keeper.register(New.self, as: "Editor")
    let node = New()
    _ = try await keeper.restore(into: [node])
    node.keeps = false
    let late = try await keeper.restore(late: node)
    XCTAssertFalse(late.problems.isEmpty)
    for number in 1...2 {
      node.number = number
      _ = try await keeper.save([node])
    }
    let last = try launch.keeper()
    try last.register(Old.self, as: "Editor")
    let back = Old()
    _ = try await last.restore(into: [back])
    _ = try await last.restore(late: back)
    XCTAssertEqual(back.number, "one")
  }

  private final class Page: @MainActor RestorableScreen {
    let restorationIdentifier = "page"
    @Restored var text = ""
    @Restored var cursor = 0
    var keeps = false
    func decodeRestorableState(with coder: StateDecoder) throws {
      if keeps {
        throw CancellationError()
      }
    }
  }

  func testALongFieldOfANewerVersionStaysAsItWasWhileAnOlderOneIsUsed() async throws {
    func keeper(_ version: Int) throws -> StateKeeper {
      let keeper = try launch.keeper()
      try keeper.register(
        Page.self, version: version,
        migrations: migrations(to: version))
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
        throw CancellationError()
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
    let stored = try XCTUnwrap(try launch.storedRecords()?["page"])
    let bodies = [stored.state] + stored.kept.map(\.state)
    return Set(
      try bodies.compactMap { try $0?.decode(String.self, forKey: "text") }
        .map { $0.split(separator: " ").first.map(String.init) ?? "" })
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
        // A state whose decoding threw is tried first.
        XCTAssertEqual(back.text, "one" + savedRest)
        back.text = "three" + rest
        _ = try await next.save([back])
        let stored = try XCTUnwrap(try launch.storedRecords())
        let kept = try XCTUnwrap(stored["page"]?.kept.first?.state)
        XCTAssertEqual(try kept.decode(String.self, forKey: "text"), "two" + rest)
      }
    }
  }

  private final class Screen: @MainActor RestorableScreen {
    let restorationIdentifier = "screen"
    @Restored var text = ""
    var keeps = false
    func decodeRestorableState(with coder: StateDecoder) throws {
      if keeps {
        throw CancellationError()
      }
    }
  }

  func testASecondTryThatKeepsAgainDoesNotReplaceWhatWasTyped() async throws {
    let saved = Screen()
    saved.text = "draft"
    _ = try await launch.keeper().save([saved])
    let keeper = try launch.keeper()
    let screen = Screen()
    screen.keeps = true
    _ = try await keeper.restore(into: [screen])
    screen.text = "typed"
    _ = try await keeper.restore(late: screen)
    XCTAssertEqual(screen.text, "typed")
    _ = try await keeper.save([screen])
    // A state whose decoding threw is tried first in the next launch; what was typed lies in the screen's own.
    let stored = try XCTUnwrap(try launch.storedRecords()?["screen"]?.state)
    XCTAssertEqual(try stored.decode(String.self, forKey: "text"), "typed")
  }
}
