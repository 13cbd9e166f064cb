import CatalogModel
import ArchiveCodec
import Foundation
import ProductCatalogKit
import RestorationKit
import XCTest

@MainActor final class WindowTests: XCTestCase {
  private static let wide = Size(columns: 100, rows: 14)

  private func fixture() throws -> Fixture {
    try Fixture(names: (1...30).map { "Product \($0)" })
  }

  /// Two windows, each with a product, a tab and an edit of its own.
  private let twoWindows =
    #"down enter tab e text:" one" ctrl-n esc down*3 enter tab*2 e tab text:"two " left"#

  func testTwoWindowsComeBackEachWithItsProductTabAndEdit() async throws {
    let fixture = try fixture()
    let launches = try Launches()
    let before = try await launches.run(twoWindows, on: fixture.catalog, size: Self.wide)
    XCTAssertEqual(before.windows.all.count, 2)
    for _ in 1...2 {
      let after = try await launches.run(on: fixture.loadCatalog(), size: Self.wide)
      XCTAssertEqual(after.screen, before.screen)
      XCTAssertEqual(after.report?.problems, [])
      XCTAssertTrue(after.windows.focused === after.windows.all[1])
      let edits = try after.windows.all.map { try XCTUnwrap($0.navigation.top as? EditScreen) }
      XCTAssertEqual(edits[0].words.title, "Product 2 one")
      XCTAssertEqual(edits[1].words.title, "Product 4")
      XCTAssertEqual(edits[1].words.description.contains("two "), true)
      let tabs = after.windows.all.compactMap { ($0.navigation.screens[1] as? DetailScreen)?.tab }
      XCTAssertEqual(tabs, [.details, .related])
      XCTAssertEqual(
        after.titles, ["Catalog › Product 4 › Edit", "Catalog › Product 2 › Edit"])
    }
  }

  func testTheFocusComesBackAndWindowsStayInTheirPlaces() async throws {
    let fixture = try fixture()
    let launches = try Launches()
    let before = try await launches.run(
      twoWindows + " ctrl-o", on: fixture.catalog, size: Self.wide)
    XCTAssertTrue(before.windows.focused === before.windows.all[0])
    let after = try await launches.run(on: fixture.catalog, size: Self.wide)
    XCTAssertEqual(after.screen, before.screen)
    XCTAssertTrue(after.windows.focused === after.windows.all[0])
  }

  func testANewWindowShowsTheProductInSight() async throws {
    let fixture = try fixture()
    let run = try await Launches().run("down*4 enter tab ctrl-n", on: fixture.catalog)
    XCTAssertEqual(run.windows.all.map(\.navigation.top.title), ["Product 5", "Product 5"])
    XCTAssertTrue(run.windows.focused === run.windows.all[1])
  }

  func testClosingAWindowDiscardsIt() async throws {
    let fixture = try fixture()
    let launches = try Launches()
    _ = try await launches.run(twoWindows, on: fixture.catalog)
    let closed = try await launches.run("ctrl-w ctrl-d ctrl-w", on: fixture.catalog)
    XCTAssertEqual(closed.windows.all.count, 1)
    XCTAssertEqual(try launches.windowFiles.count, 1)
    let after = try await launches.run(on: fixture.catalog)
    XCTAssertEqual(after.titles, ["Catalog › Product 2 › Edit"])
    XCTAssertEqual(after.screen, closed.screen)
  }

  func testAWindowWithUnsavedTextIsNotClosedBeforeTheUserIsAsked() async throws {
    let fixture = try fixture()
    let asked = try await Launches().run(twoWindows + " ctrl-w*3", on: fixture.catalog)
    XCTAssertEqual(asked.windows.all.count, 2)
    XCTAssertEqual((asked.navigation.top as? EditScreen)?.isAskingToLeave, true)
    let alone = try await Launches().run("enter e ! ctrl-w", on: fixture.catalog)
    XCTAssertEqual((alone.navigation.top as? EditScreen)?.isAskingToLeave, false)
  }

  func testTheLastWindowCannotBeClosedAndThereIsALimit() async throws {
    let fixture = try fixture()
    let one = try await Launches().run("down ctrl-w ctrl-o down", on: fixture.catalog)
    XCTAssertEqual(one.windows.all.count, 1)
    let list = try XCTUnwrap(one.navigation.root as? ProductListScreen)
    XCTAssertEqual(list.selectedRow(in: list.products), 2)
    let many = try await Launches().run("ctrl-n*9", on: fixture.catalog)
    XCTAssertEqual(many.windows.all.count, Windows.limit)
  }

  func testAnEditThatIsSavedInOneWindowShowsInTheOther() async throws {
    let fixture = try fixture()
    let run = try await Launches().run(
      "enter ctrl-n e text:X ctrl-s", on: fixture.catalog, size: Self.wide)
    XCTAssertEqual(run.windows.all.map(\.navigation.top.title), ["Product 1X", "Product 1X"])
  }

  func testWindowsAreSideBySideOrBelowEachOtherOrOneIsSeen() async throws {
    let fixture = try fixture()
    func rows(_ columns: Int, _ rows: Int) async throws -> [Substring] {
      let size = Size(columns: columns, rows: rows)
      return try await Launches().run("ctrl-n", on: fixture.catalog, size: size)
        .screen.split(separator: "\n")
    }
    let wide = try await rows(80, 12)
    XCTAssertEqual(wide[0].components(separatedBy: "╭").count, 3)
    let high = try await rows(50, 20)
    XCTAssertEqual(high.filter { $0.hasPrefix("╭") }.count, 2)
    let small = try await rows(50, 12)
    XCTAssertEqual(small.filter { $0.contains("╭") }.count, 1)
    // No size is too small to draw.
    for columns in 0...12 {
      for height in 0...12 {
        _ = try await Launches().run(
          "ctrl-n*3 down enter e", on: fixture.catalog, size: Size(columns: columns, rows: height))
      }
    }
  }

  private func statusLine(
    _ script: String, columns: Int, rows: Int
  ) async throws -> Substring? {
    let size = Size(columns: columns, rows: rows)
    return try await Launches().run(script, on: fixture().catalog, size: size)
      .screen.split(separator: "\n").last
  }

  func testWhereOneWindowIsSeenTheStatusLineSaysWhichOfThem() async throws {
    let last = try await statusLine("ctrl-n*3", columns: 60, rows: 12)
    XCTAssertEqual(last, " Window 4 of 4  ^O Next window  ^W Close it  ↑↓ Move")
    let first = try await statusLine("ctrl-n*3 ctrl-o", columns: 20, rows: 5)
    XCTAssertEqual(first, "Window 1 of 4")
  }

  func testASingleRowSaysWhereYouAre() async throws {
    let row = try await statusLine("ctrl-n", columns: 20, rows: 1)
    XCTAssertEqual(row, "Catalog")
  }

  func testWhereAllWindowsAreSeenTheStatusLineSaysWhatTheKeysDo() async throws {
    let two = try await statusLine("ctrl-n enter", columns: 80, rows: 12)
    XCTAssertEqual(
      two, " ^O Next window  ^W Close it  Esc Back  Tab Next tab  ↑↓ Scroll  e Edit  q Quit")
    let one = try await statusLine("", columns: 80, rows: 12)
    XCTAssertEqual(one, " ↑↓ Move  Enter Open  / Search  q Quit  Ctrl-N New window")
  }

  func testASecondProgramHasWindowsOfItsOwnAndSaysSo() async throws {
    let fixture = try Fixture()
    let launches = try Launches()
    let first = try launches.keeper(for: fixture.catalog)
    _ = try await first.restore()
    let second = try await launches.run("q", on: fixture.catalog)
    XCTAssertEqual(
      second.notice, "These are windows of their own: this process has main.")
    XCTAssertEqual(try launches.windowFiles, [])
    XCTAssertEqual(try launches.store.names().filter { $0 == "main~2" }.count, 1)
    await first.close()
    let next = try await launches.run("q", on: fixture.catalog)
    XCTAssertNil(next.notice)
  }
}
