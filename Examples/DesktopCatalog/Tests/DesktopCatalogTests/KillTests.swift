import DesktopTestSupport
import Foundation
import XCTest

/// What the user sees is there again after the app was killed with SIGKILL.
final class KillTests: XCTestCase {
  func testTheListComesBackWithItsSelectionAndItsScrollPosition() throws {
    try checkThatItComesBack { app in
      try app.press("Tab")
      try app.press("Down", times: 70)
    }
  }

  func testTheTabComesBackAndEveryTabWithItsScrollPosition() throws {
    try checkThatItComesBack(
      { app in
        try app.press("ctrl+3")
        // Forwards there is every row of the list before the page.
        try app.press("shift+Tab", "shift+Tab", "shift+Tab")
        try app.press("Page_Down", "Page_Down", "Page_Down")
        try app.press("ctrl+1")
      }, thenAlsoAfter: ["ctrl+3", "ctrl+2"])
  }

  func testUnsavedWordsComeBackWithTheSelection() throws {
    try checkThatItComesBack { app in
      try app.press("ctrl+e")
      try app.press("Tab")
      try app.type("New words. ")
      try app.press("shift+Left", "shift+Left", "shift+Left")
    }
  }

  func testUnsavedWordsComeBackWithTheCursor() throws {
    try checkThatItComesBack(
      { app in
        try app.press("ctrl+e")
        try app.type("A title")
        try app.press("Left", "Left")
      }, thenAlsoAfter: ["x", "Tab", "y"])
  }

  func testTheHandleBetweenTheListAndTheProductComesBack() throws {
    try checkThatItComesBack { app in
      try app.press("Tab")
      try app.press("F8")
      try app.press("Right", times: 12)
      try app.press("Return")
    }
  }

  func testAnOpenDialogComesBackOverItsEditor() throws {
    try checkThatItComesBack(
      { app in
        try app.press("ctrl+e")
        try app.type("New words")
        try app.press("Escape")
        try app.press("Tab")
      }, thenAlsoAfter: ["Escape"])
  }

  func testTheWordsOfASearchComeBackWithWhatTheyFind() throws {
    try checkThatItComesBack(
      { app in
        try app.press("Tab")
        try app.press("ctrl+f")
        try app.type("an")
        try app.press("Tab", "Down", "Down")
      }, thenAlsoAfter: ["ctrl+f"])
  }

  func testASearchThatFindsNothingComesBack() throws {
    try checkThatItComesBack(
      { app in
        try app.press("Tab")
        try app.press("ctrl+f")
        try app.type("no such program")
      }, thenAlsoAfter: ["BackSpace"])
  }

  func testTheKeyboardComesBackToTheButtonsAtTheTop() throws {
    try checkThatItComesBack(
      { app in
        try app.press("ctrl+e")
        try app.type("New words")
        try app.press("Tab", "Tab")
      }, thenAlsoAfter: ["Tab", "Tab"])
  }

  func testASearchThatFindsTheSavedWordsNoMoreComesBack() throws {
    let desktop = try Desktop()
    let first = try desktop.launch()
    try first.type("0 a.d")
    try first.press("ctrl+e")
    try first.type("New words")
    try first.press("ctrl+s")
    XCTAssertEqual(desktop.activeTitle, "Catalog")
    let before = try desktop.screen()
    try first.kill()
    let again = try desktop.launch()
    try assertEqualScreens(before, try desktop.screen())
    XCTAssertEqual(try again.sentences, [])
  }

  func testAnEditorThatIsOpenedAgainKeepsItsWords() throws {
    let desktop = try Desktop()
    let app = try desktop.launch()
    try app.press("ctrl+e")
    try app.type("New words")
    let before = try desktop.screen()
    desktop.xdotool("key", "ctrl+e")
    try app.settled()
    try assertEqualScreens(before, try desktop.screen())
  }

  func testTheSizeOfTheWindowComesBack() throws {
    let desktop = try Desktop()
    let first = try desktop.launch()
    let number = try XCTUnwrap(first.windows.first)
    try first.change(["windowsize", number, "700", "430"])
    let before = try first.pictures
    try first.kill()
    let again = try desktop.launch()
    XCTAssertEqual(try again.pictures, before)
    try again.kill()
    XCTAssertNotEqual(try desktop.launch("--forgetful").pictures, before)
  }

  /// Where the window is on the screen is not stored: GTK does not know that everywhere.
  func testAMaximizedWindowComesBackMaximizedAndThenWithItsSize() throws {
    let desktop = try Desktop()
    let first = try desktop.launch()
    let usual = try first.pictures
    try first.press("alt+F10")
    let maximized = try desktop.screen()
    try first.kill()
    let again = try desktop.launch()
    try assertEqualScreens(maximized, try desktop.screen())
    try again.press("alt+F10")
    XCTAssertEqual(try again.pictures, usual)
    try again.kill()
    let forgetful = try desktop.launch("--forgetful")
    XCTAssertNotEqual(try desktop.screen(), maximized)
    try forgetful.kill()
  }

  /// Kills the app after it was used, and compares the screens.
  ///
  /// More keys are pressed one after the other to look at more than is seen at first; the app
  /// is killed as if they had not been.
  private func checkThatItComesBack(
    _ use: (CatalogApp) throws -> Void, thenAlsoAfter keys: [String] = [], line: UInt = #line
  ) throws {
    let desktop = try Desktop()
    let first = try desktop.launch()
    let fresh = try desktop.screen()
    try use(first)
    let title = desktop.activeTitle
    let kept = try desktop.copyOfState()
    let before = try screens(of: first, on: desktop, after: keys)
    XCTAssertEqual(try first.kill(), .signal(SIGKILL), line: line)
    try desktop.putBack(kept)

    let again = try desktop.launch()
    XCTAssertEqual(desktop.activeTitle, title, line: line)
    let after = try screens(of: again, on: desktop, after: keys)
    for (number, (before, after)) in zip(before, after).enumerated() {
      try assertEqualScreens(before, after, "After \(keys.prefix(number)).", line: line)
    }
    XCTAssertEqual(try again.sentences, [], line: line)
    try again.kill()

    // An app that stores nothing shows what it shows at its first launch.
    let forgetful = try desktop.launch("--forgetful")
    XCTAssertNotEqual(try desktop.screen(), before[0], line: line)
    try assertEqualScreens(fresh, try desktop.screen(), line: line)
    try forgetful.kill()
  }

  /// The screen now and after each key.
  private func screens(
    of app: CatalogApp, on desktop: Desktop, after keys: [String]
  ) throws -> [Screenshot] {
    try [desktop.screen()]
      + keys.map { key in
        try app.press(key)
        return try desktop.screen()
      }
  }
}
