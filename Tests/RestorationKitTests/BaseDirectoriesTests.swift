import RestorationKit
import XCTest

#if !canImport(Darwin)
final class BaseDirectoriesTests: XCTestCase {
  private func state(_ environment: [String: String]) -> String {
    BaseDirectories(environment: environment, home: "/home/u").state(of: "org.example")
  }

  private func key(_ environment: [String: String]) -> String {
    BaseDirectories(environment: environment, home: "/home/u").keyFile(of: "org.example")
  }

  func testTheStateIsUnderTheStateHome() {
    XCTAssertEqual(state(["XDG_STATE_HOME": "/s"]), "/s/org.example")
    XCTAssertEqual(key(["XDG_DATA_HOME": "/d"]), "/d/restoration-keys/org.example.key")
  }

  func testWithoutVariablesTheSpecificationsDefaultsHold() {
    XCTAssertEqual(state([:]), "/home/u/.local/state/org.example")
    XCTAssertEqual(key([:]), "/home/u/.local/share/restoration-keys/org.example.key")
  }

  func testEmptyAndRelativePathsAreIgnored() {
    for path in ["", "state", "./state", "~/state"] {
      XCTAssertEqual(state(["XDG_STATE_HOME": path]), "/home/u/.local/state/org.example")
      XCTAssertEqual(
        key(["XDG_DATA_HOME": path]), "/home/u/.local/share/restoration-keys/org.example.key")
    }
  }
}
#endif
