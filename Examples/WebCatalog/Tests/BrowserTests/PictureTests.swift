import TestSupport
import XCTest

/// Tests that compare pictures can trust them.
final class PictureTests: XCTestCase {
  func testAPictureSaysNothingOfWhereThePointerWasAndOfWhatWasPaintedBefore() throws {
    let site = try Site(usesDatabase: true)
    let server = try site.serve()
    let browser = try Chromium(in: site.directory)
    try browser.signIn("Ann", at: server.port)
    let picture = try browser.picture()
    for button in ["form[action$=link] button", "form[action$=sign-out] button"] {
      try browser.point(at: button)
      XCTAssertNotEqual(try browser.pictureAsItIs(), picture, button)
      // Painting half of the other button would leave traces in it.
      XCTAssertEqual(try browser.picture(), picture, button)
    }
  }
}
