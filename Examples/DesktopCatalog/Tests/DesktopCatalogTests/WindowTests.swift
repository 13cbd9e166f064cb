import DesktopTestSupport
import Foundation
import XCTest

/// Windows that come, go, and come back.
final class WindowTests: XCTestCase {
  func testTwoWindowsComeBackEachWithWhatIsInItAndTheSameInFront() throws {
    for newIsInFront in [true, false] {
      let (desktop, first) = try twoWindows()
      if !newIsInFront { try first.press("alt+Tab") }
      let before = try first.pictures
      XCTAssertEqual(before.count, 2)
      let title = try XCTUnwrap(desktop.activeTitle)
      XCTAssertEqual(title.hasPrefix("Edit "), newIsInFront)
      XCTAssertEqual(try first.kill(), .signal(SIGKILL))

      let again = try desktop.launch()
      XCTAssertEqual(try again.pictures, before)
      XCTAssertEqual(desktop.activeTitle, title)
      XCTAssertEqual(try again.sentences, [])
      try again.kill()

      let forgetful = try desktop.launch("--forgetful")
      XCTAssertNotEqual(try forgetful.pictures, before)
    }
  }

  func testQuittingKeepsBothWindows() throws {
    let (desktop, first) = try twoWindows()
    let before = try first.pictures
    XCTAssertEqual(before.count, 2)
    desktop.xdotool("key", "ctrl+q")
    XCTAssertEqual(try first.child.ending(), .exit(0))
    XCTAssertEqual(try desktop.launch().pictures, before)
  }

  func testAClosedWindowDoesNotComeBackAndTheOtherOneDoes() throws {
    let (desktop, first) = try twoWindows()
    try first.press("ctrl+w")
    try first.press("alt+d")
    let other = try first.pictures
    XCTAssertEqual(other.keys.sorted(), ["Audacity"])
    try first.kill()
    let again = try desktop.launch()
    XCTAssertEqual(try again.pictures, other)
  }

  func testAWindowWithUnsavedWordsIsClosedOnlyWhenTheUserHasAnswered() throws {
    let (desktop, app) = try twoWindows()
    let title = desktop.activeTitle
    try app.press("ctrl+w")
    XCTAssertEqual(desktop.activeTitle, "Unsaved changes")
    try app.press("Escape")
    XCTAssertEqual(desktop.activeTitle, title)
    // Who stays and leaves the editor later does not close the window.
    try app.press("Escape")
    try app.press("alt+d")
    XCTAssertEqual(app.windows.count, 2)
    try app.press("ctrl+e")
    try app.type("Other words")
    try app.press("ctrl+w")
    try app.press("alt+s")
    XCTAssertEqual(app.titles, ["Audacity"])
    try app.press("ctrl+f")
    try app.type("other words")
    XCTAssertEqual(app.titles, ["Other words"])
  }

  func testASecondAppHasWindowsOfItsOwnAndSaysSo() throws {
    let desktop = try Desktop()
    let first = try desktop.launch()
    let second = try CatalogApp(on: desktop)
    try second.settled()
    let sentences = try second.sentences
    XCTAssertEqual(sentences.count, 1)
    XCTAssertTrue(
      sentences.allSatisfy {
        $0.hasPrefix("desktop-catalog: These are windows of their own: ")
          && $0.hasSuffix(" has main.")
      }, "\(sentences)")
    XCTAssertEqual(try first.sentences, [])
  }

  /// That is how the user quits who has one window.
  func testTheLastWindowThatIsClosedComesBack() throws {
    let desktop = try Desktop()
    let first = try desktop.launch()
    try first.press("Tab")
    try first.press("Down", times: 3)
    let before = try desktop.screen()
    desktop.xdotool("key", "ctrl+w")
    XCTAssertEqual(try first.child.ending(), .exit(0))
    let again = try desktop.launch()
    try assertEqualScreens(before, try desktop.screen())
    XCTAssertEqual(try again.sentences, [])
  }

  /// As a taskbar closes all windows of an app; then the app quits with its last window.
  func testOfWindowsThatAreClosedAtOnceTheLastOneComesBack() throws {
    let (desktop, first) = try twoWindows()
    try first.press("ctrl+s")
    let shown = try first.pictures
    XCTAssertEqual(shown.count, 2)
    desktop.xdotool("key", "alt+F4")
    XCTAssertEqual(try first.child.ending(), .exit(0))
    let again = try desktop.launch()
    let titles = Set(try again.pictures.keys)
    XCTAssertEqual(titles.count, 1)
    XCTAssertTrue(titles.isSubset(of: shown.keys), "\(titles)")
    XCTAssertEqual(try again.sentences, [])
  }

  func testWordsThatAreSavedInOneWindowAreShownInAllAndAfterTheNextLaunch() throws {
    let desktop = try Desktop(width: 1920)
    let first = try desktop.launch()
    try first.press("Tab")
    try first.press("ctrl+n")
    try first.press("ctrl+e")
    try first.type("New words")
    try first.press("ctrl+s")
    XCTAssertEqual(first.titles, ["New words", "New words"])
    try first.kill()
    let again = try desktop.launch()
    XCTAssertEqual(again.titles, ["New words", "New words"])
  }

  /// Two windows side by side: one shows a product, and the newer one, in front, is an editor.
  private func twoWindows() throws -> (Desktop, CatalogApp) {
    let desktop = try Desktop(width: 1920)
    let app = try desktop.launch()
    try app.press("Tab")
    try app.press("Down", times: 5)
    try app.press("ctrl+2")
    try app.press("ctrl+n")
    try app.press("Tab")
    try app.press("Down", times: 2)
    try app.press("ctrl+e")
    try app.type("New words")
    return (desktop, app)
  }
}
