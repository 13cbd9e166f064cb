import CatalogModel
import Foundation
import ProductCatalogKit
import XCTest

@MainActor final class ScreenTests: XCTestCase {
  func testList() async throws {
    let screens = try await Fixture().screens("down")
    XCTAssertEqual(
      screens,
      [
        """
        ╭─ Catalog ─────────────────────────────────── 3 programs ─╮
        │   Alpha                                   letters        │
        │ ▸ Beta                                    letters        │
        │   Gamma                                   letters        │
        │                                                          │
        │                                                          │
        │                                                          │
        │                                                          │
        │                                                          │
        │                                                          │
        ╰──────────────────────────────────────────────────────────╯
         ↑↓ Move  Enter Open  / Search  q Quit  Ctrl-N New window
        """
      ])
  }

  func testInfoTab() async throws {
    let screens = try await Fixture().screens("enter")
    XCTAssertEqual(
      screens,
      [
        """
        ╭─ Catalog › Alpha ────────────────────────────────────────╮
        │ [Info] Details  Related                                  │
        │ ──────────────────────────────────────────────────────── │
        │ Alpha                                                    │
        │ letters · 1.0                                            │
        │                                                          │
        │ First of all.                                            │
        │                                                          │
        │ https://Alpha.example                                    │
        │                                                          │
        ╰──────────────────────────────────────────────────────────╯
         Esc Back  Tab Next tab  ↑↓ Scroll  e Edit  q Quit
        """
      ])
  }

  func testDetailsTabScrolledToItsEnd() async throws {
    let screens = try await Fixture().screens("enter tab down*20")
    XCTAssertEqual(
      screens,
      [
        """
        ╭─ Catalog › Alpha ────────────────────────────────────────╮
        │  Info [Details] Related                                  │
        │ ──────────────────────────────────────────────────────── │
        │ Version       1.0                                      │ │
        │ Section       letters                                  ┃ │
        │ Home page     https://Alpha.example                    ┃ │
        │ Download      120.6 KiB                                ┃ │
        │ Installed     4.5 MiB                                  ┃ │
        │ Install with  apt install alpha                        ┃ │
        │ Identifier    00000000-0000-0000-0000-000000000000     ┃ │
        ╰──────────────────────────────────────────────────────────╯
         Esc Back  Tab Next tab  ↑↓ Scroll  e Edit  q Quit
        """
      ])
  }

  func testEditWithUnsavedText() async throws {
    let screens = try await Fixture().screens(#"enter e text:" 日本" tab"#)
    XCTAssertEqual(
      screens,
      [
        """
        ╭─ Catalog › Alpha › Edit ───────────────────── ● unsaved ─╮
        │ ╭─ Title ──────────────────────────────────────────────╮ │
        │ │ Alpha 日本                                           │ │
        │ ╰──────────────────────────────────────────────────────╯ │
        │ ╭─ ▸ Description ────────────────── line 1, column 14 ─╮ │
        │ │ First of all.                                        │ │
        │ │                                                      │ │
        │ │                                                      │ │
        │ ╰──────────────────────────────────────────────────────╯ │
        │                                                          │
        ╰──────────────────────────────────────────────────────────╯
         Ctrl-S Save  Esc Back  Tab Next field  Ctrl-N New window
        """
      ])
  }

  func testQuestionAboutUnsavedText() async throws {
    let screens = try await Fixture().screens("enter e ! esc")
    XCTAssertEqual(
      screens,
      [
        """
        ╭─ Catalog › Alpha › Edit ───────────────────── ● unsaved ─╮
        │ ╭─ ▸ Title ───────────────────────────────── column 7 ─╮ │
        │ │ Alpha!                                               │ │
        │ ╰──────────────────────────────────────────────────────╯ │
        │ ╭─ Description ────────────────────────────────────────╮ │
        │ │ First of all.                                        │ │
        │ │                                                      │ │
        │ │                                                      │ │
        │ ╰──────────────────────────────────────────────────────╯ │
        │ Save? Ctrl-S saves, Ctrl-D discards, Esc keeps editing.  │
        ╰──────────────────────────────────────────────────────────╯
         Ctrl-N New window
        """
      ])
  }

  func testQuestionOnAVerySmallScreen() async throws {
    let screens = try await Fixture().screens("enter e ! esc", size: Size(columns: 20, rows: 5))
    XCTAssertEqual(
      screens,
      [
        """
        … › Alpha › Edit  ●
        Save? Ctrl-S saves,
        Ctrl-D discards, Esc
        keeps editing.
        Ctrl-N New window
        """
      ])
  }

  func testEditOnAVerySmallScreen() async throws {
    let screens = try await Fixture().screens("enter e !", size: Size(columns: 20, rows: 5))
    XCTAssertEqual(
      screens,
      [
        """
        … › Alpha › Edit  ●
        Alpha!
        First of all.

        ^S Save  Esc Back
        """
      ])
  }

  func testNoticeTakesAsManyOfTheLastRowsAsItNeeds() async throws {
    let navigation = NavigationStack(root: ProductListScreen(catalog: try Fixture().catalog))
    let notice = "Your screens are not saved. The disk is full."
    let screen = ScreenFrame(size: Size(columns: 30, rows: 6)).draw(navigation, notice: notice)
    XCTAssertEqual(
      screen.plainText,
      """
      Catalog            3 programs
      ▸ Alpha
        Beta
        Gamma
      Your screens are not saved.
      The disk is full.
      """)
    let tiny = ScreenFrame(size: Size(columns: 5, rows: 3)).draw(navigation, notice: notice)
    XCTAssertEqual(tiny.plainText, "Cata…\nYour\nscree")
  }

  func testScrollOffsetsOutOfRangeAreDrawnAtTheNearerEnd() async throws {
    let fixture = try Fixture(names: (1...30).map { "Product \($0)" })
    let detail = DetailScreen(catalog: fixture.catalog, productID: fixture.firstID)
    detail.select(.related)
    let page = try XCTUnwrap(detail.pages.first { $0.tab == .related })
    for (offset, key) in [(Int.max, Key.end), (-5, .home)] {
      page.scroll(to: offset)
      var drawn = Canvas(size: Size(columns: 40, rows: 10))
      detail.draw(into: &drawn)
      _ = detail.handle(key, size: drawn.size)
      var scrolled = Canvas(size: drawn.size)
      detail.draw(into: &scrolled)
      XCTAssertEqual(drawn, scrolled)
    }
  }

  func testProductThatIsGoneIsSaidToBeGone() async throws {
    let catalog = try Fixture().catalog
    let detail = DetailScreen(catalog: catalog, productID: UUID())
    var canvas = Canvas(size: Size(columns: 60, rows: 3))
    detail.draw(into: &canvas)
    XCTAssertTrue(canvas.plainText.contains("This program is no longer in the catalog."))
    guard case .stay = detail.handle(.text("e"), size: canvas.size) else {
      return XCTFail("edits nothing")
    }
    XCTAssertNil(EditScreen(catalog: catalog, productID: UUID()))
  }

  func testEqualStateGivesEqualScreens() async throws {
    let script = #"down enter e text:"x" tab home right*4 screen"#
    let once = try await Fixture().screens(script)
    let again = try await Fixture().screens(script)
    XCTAssertEqual(once, again)
  }

  func testEveryScreenDrawsAtEverySize() async throws {
    let catalog = try Fixture().catalog
    let navigation = NavigationStack(root: ProductListScreen(catalog: catalog))
    let keys: [Key] = [
      .text("/"), .text("a"), .enter, .enter, .backTab, .text("e"), .text("x"), .escape, .up,
    ]
    for key in keys {
      for columns in 0...45 {
        for rows in 0...12 {
          let size = Size(columns: columns, rows: rows)
          let frame = ScreenFrame(size: size)
          XCTAssertEqual(frame.draw(navigation).size, size)
        }
      }
      let response = navigation.top.handle(key, size: Size(columns: 76, rows: 21))
      if case .push(let screen) = response { navigation.push(screen) }
    }
    XCTAssertEqual(navigation.screens.count, 3)
  }
}
