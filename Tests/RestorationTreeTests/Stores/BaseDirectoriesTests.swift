import Foundation
import RestorationKit
import TestSupport
import XCTest

#if !canImport(Darwin)
final class BaseDirectoriesTests: XCTestCase {
  private func state(_ environment: [String: String]) -> String {
    BaseDirectories(variable: { environment[$0] }, databaseHome: "/home/u")
      .state(of: "org.example")
  }

  private func key(_ environment: [String: String]) -> String {
    BaseDirectories(variable: { environment[$0] }, databaseHome: "/home/u")
      .keyFile(of: "org.example")
  }

  func testTheStateIsUnderTheStateHome() {
    XCTAssertEqual(state(["XDG_STATE_HOME": "/s"]), "/s/org.example")
  }

  func testTheKeyIsUnderTheDataHomeIfTheStateHasAHomeToo() {
    let both = ["XDG_STATE_HOME": "/s", "XDG_DATA_HOME": "/d"]
    XCTAssertEqual(key(both), "/d/restoration-keys/org.example.key")
    for one in ["XDG_STATE_HOME", "XDG_DATA_HOME"] {
      XCTAssertEqual(
        key([one: "/x"]), "/home/u/.local/share/restoration-keys/org.example.key", one)
    }
  }

  func testWithoutVariablesTheSpecificationsDefaultsHold() {
    XCTAssertEqual(state([:]), "/home/u/.local/state/org.example")
    XCTAssertEqual(key([:]), "/home/u/.local/share/restoration-keys/org.example.key")
  }

  func testEmptyAndRelativePathsAreIgnored() {
    for path in ["", "state", "./state", "~/state"] {
      XCTAssertEqual(state(["XDG_STATE_HOME": path]), "/home/u/.local/state/org.example")
      XCTAssertEqual(
        key(["XDG_STATE_HOME": "/s", "XDG_DATA_HOME": path]),
        "/home/u/.local/share/restoration-keys/org.example.key")
    }
  }

  private func setVariable(_ name: String, _ value: String?) {
    if let value { setenv(name, value, 1) } else { unsetenv(name) }
  }

  /// The directories of this process, if HOME is the only one of these variables that it may have.
  private func directories(ofHome home: String?) -> BaseDirectories {
    let names = ["HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"]
    let before = ProcessInfo.processInfo.environment
    defer { for name in names { setVariable(name, before[name]) } }
    for name in names { setVariable(name, name == "HOME" ? home : nil) }
    return .current
  }

  func testAProcessHasTheHomeThatItsVariableSays() {
    let directories = directories(ofHome: "/home/of/nobody")
    XCTAssertEqual(
      directories.state(of: "org.example"), "/home/of/nobody/.local/state/org.example")
    XCTAssertEqual(
      directories.keyFile(of: "org.example"),
      "/home/of/nobody/.local/share/restoration-keys/org.example.key")
  }

  /// The home directory of this process's user, as the file says that most systems ask.
  private func homeOfThePasswordFile() throws -> String {
    let users = try String(contentsOf: URL(filePath: "/etc/passwd"), encoding: .utf8)
      .split(separator: "\n").map { $0.split(separator: ":", omittingEmptySubsequences: false) }
    let user = users.first { $0.count > 5 && $0[2] == "\(getuid())" }
    guard let user, user[5].hasPrefix("/") else {
      throw XCTSkip("The user is in no password file.")
    }
    return String(user[5])
  }

  func testAProcessWithoutAnAbsoluteHomeHasTheOneOfThePasswordDatabase() throws {
    let home = try homeOfThePasswordFile()
    for variable in [nil, "", "home", "./home", "~/home"] {
      let directories = directories(ofHome: variable)
      let message = "HOME is \(variable ?? "absent")"
      XCTAssertEqual(
        directories.state(of: "org.example"), "\(home)/.local/state/org.example", message)
      XCTAssertEqual(
        directories.keyFile(of: "org.example"),
        "\(home)/.local/share/restoration-keys/org.example.key", message)
    }
  }

  /// Calls the body with a variable of bytes, which Foundation gives as text of its own.
  private func with<Result>(
    _ name: String, _ bytes: [UInt8], _ body: () -> Result
  ) -> Result {
    let before = ProcessInfo.processInfo.environment[name]
    defer { setVariable(name, before) }
    XCTAssertEqual(setenv(name, (bytes + [0]).map { CChar(bitPattern: $0) }, 1), 0)
    return body()
  }

  func testTwoHomesThatDifferInAByteNeverShareADirectory() async throws {
    let place = try TemporaryDirectory()
    for name in ["HOME", "XDG_STATE_HOME"] {
      for byte: UInt8 in [0xE8, 0xE9] {
        let home = Array(place.path.utf8) + Array("/u".utf8) + [byte]
        let keeper = try with(name, home) { Result { try StateKeeper(application: "org.example") } }
          .get()
        let value = RestoredNode()
        do {
          _ = try await keeper.restore(into: [value])
          _ = try await keeper.save([value])
          XCTFail("\(name) is no UTF-8, and the state is stored.")
        } catch {
          XCTAssertTrue(error.description.contains(name), error.description)
          XCTAssertTrue(error.description.contains("UTF-8"), error.description)
        }
      }
    }
    XCTAssertEqual(try place.names(), [])
  }

  private final class RestoredNode: RestorableNode {
    let restorationIdentifier = "a"
  }

  func testAUserWithoutAHomeDirectoryHasTheOneThatContainersGive() {
    for home in [nil, "", "home"] {
      for environment in [[:], ["HOME": ""], ["HOME": "home"]] {
        let directories = BaseDirectories(variable: { environment[$0] }, databaseHome: home)
        XCTAssertEqual(directories.state(of: "org.example"), "/.local/state/org.example")
      }
    }
  }
}
#endif
