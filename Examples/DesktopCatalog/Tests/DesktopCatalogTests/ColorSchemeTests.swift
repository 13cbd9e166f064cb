import DesktopTestSupport
import XCTest

/// Light or dark, as the user has set it for all apps.
final class ColorSchemeTests: XCTestCase {
  func testItIsDarkWhenTheUserWantsThatAlsoAtTheNextLaunch() throws {
    let desktop = try Desktop(peers: .sessionManager)
    let reference = try desktop.launch(changing: ["GTK_THEME": "Default:dark"])
    let dark = try desktop.screen()
    try reference.kill()
    let first = try desktop.launch()
    let light = try desktop.screen()
    XCTAssertNotEqual(light, dark)

    for (scheme, expected) in [(1, dark), (2, light), (1, dark), (0, light), (1, dark)] {
      let before = try desktop.screen()
      try desktop.tell("scheme \(scheme)")
      try waitFor("other colors, those of scheme \(scheme)") { try desktop.screen() != before }
      try assertEqualScreens(expected, try first.settled(), "Scheme \(scheme).")
    }
    try first.kill()
    let again = try desktop.launch()
    try assertEqualScreens(dark, try desktop.screen())
    XCTAssertEqual(try again.sentences, [])
  }
}
