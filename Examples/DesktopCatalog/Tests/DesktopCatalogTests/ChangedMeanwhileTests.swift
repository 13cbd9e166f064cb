import CatalogModel
import DesktopTestSupport
import Foundation
import XCTest

/// Two windows, or two programs, that edit one product.
@MainActor
final class ChangedMeanwhileTests: XCTestCase {
  func testTheQuestionComesBackAndIsAnsweredByKeys() async throws {
    for (key, title, isOver) in [
      ("alt+m", "Mine", true), ("alt+t", "Theirs 2", true), ("alt+b", "Theirs 1", false),
    ] {
      let desktop = try Desktop()
      let first = try desktop.launch()
      try first.press("ctrl+e")
      try first.type("Mine")
      try desktop.saveElsewhere("Theirs 1")
      try first.press("ctrl+s")
      XCTAssertEqual(try desktop.savedTitle, "Theirs 1")
      // To the words of the others, and on to the first button.
      try first.press("Tab", "Tab", "Tab")
      let asked = try desktop.screen()
      XCTAssertEqual(try first.kill(), .signal(SIGKILL))

      let again = try desktop.launch()
      try assertEqualScreens(asked, try desktop.screen())
      XCTAssertEqual(try again.sentences, [])
      // The app has not seen these: it keeps them, and asks once more.
      if key != "alt+b" {
        try desktop.saveElsewhere("Theirs 2")
        try again.press("alt+m")
        XCTAssertEqual(try desktop.savedTitle, "Theirs 2")
      }
      try again.press(key)
      XCTAssertEqual(try desktop.savedTitle, title)
      XCTAssertEqual(desktop.activeTitle?.hasPrefix("Edit "), !isOver)
      if !isOver {
        try again.press("ctrl+s")
        XCTAssertEqual(try desktop.savedTitle, "Mine / Theirs 1")
      }
    }
  }

  func testAWindowThatGetsTheKeyboardSeesWhatOthersHaveSaved() async throws {
    let desktop = try Desktop(width: 1920)
    let app = try desktop.launch()
    try app.press("Tab")
    try app.press("ctrl+e")
    try app.type("Mine")
    try app.press("ctrl+n")
    let before = try app.pictures
    try desktop.saveElsewhere("Theirs")
    try app.press("alt+Tab")
    let after = try app.pictures
    XCTAssertEqual(after.keys.sorted(), ["Edit Theirs", "Theirs"])
    XCTAssertFalse(before.values.contains { after["Edit Theirs"] == $0 })
    try app.press("alt+m")
    XCTAssertEqual(try desktop.savedTitle, "Mine")
  }

  func testOfTwoWindowsThatEditOneProductTheSecondIsAsked() async throws {
    let desktop = try Desktop(width: 1920)
    let app = try desktop.launch()
    try app.press("Tab")
    try app.press("ctrl+e")
    try app.type("One")
    try app.press("ctrl+n")
    try app.press("ctrl+e")
    try app.type("Two")
    try app.press("ctrl+s")
    XCTAssertEqual(app.titles.sorted(), ["Edit Two", "Two"])
    try app.press("alt+Tab")
    desktop.xdotool("key", "ctrl+s")
    try app.settled()
    XCTAssertEqual(try desktop.savedTitle, "Two")
    try app.press("alt+b")
    try app.press("ctrl+s")
    XCTAssertEqual(app.titles, ["One / Two", "One / Two"])
    XCTAssertEqual(try desktop.savedTitle, "One / Two")
  }

  func testASaveWithoutOtherWordsAsksNothingAlsoAfterAKill() async throws {
    let desktop = try Desktop()
    let first = try desktop.launch()
    try first.press("ctrl+e")
    try first.type("Mine")
    try first.kill()
    let again = try desktop.launch()
    try again.press("ctrl+s")
    XCTAssertEqual(desktop.activeTitle, "Mine")
    XCTAssertEqual(try desktop.savedTitle, "Mine")
  }
}

extension Desktop {
  /// The catalog of another program.
  @MainActor
  private func catalog() throws -> Catalog {
    try Catalog(
      products: try XCTUnwrap(.bundled),
      edits: EditFile(directory: directory.appending(path: "data/product-catalog")))
  }

  /// Another program saves words of the first product.
  @MainActor
  func saveElsewhere(_ title: String) throws {
    let catalog = try catalog()
    let product = try XCTUnwrap(catalog.products.first)
    try catalog.save(
      ProductEdit(title: title, description: product.description), of: product.id,
      over: product.words)
  }

  /// The title of the first product in the file.
  @MainActor
  fileprivate var savedTitle: String? { get throws { try catalog().products.first?.title } }
}
