import Foundation
import Glibc
import TestSupport
import XCTest

/// What the files and the environment of a launch do to an app of the README's kind.
final class EnvironmentTests: XCTestCase {
  private func states(_ home: TemporaryDirectory) -> String {
    home.child(".local/state/org.example.notes")
  }

  private func names(_ home: TemporaryDirectory) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: states(home)).sorted()
  }

  /// The files of the states that were set aside since nobody could read them.
  private func asides(_ home: TemporaryDirectory) throws -> [String] {
    let folder = "\(states(home))/main.history"
    guard FileManager.default.fileExists(atPath: folder) else { return [] }
    return try FileManager.default.contentsOfDirectory(atPath: folder)
      .filter { $0.contains("unread") }.map { "main.history/\($0)" }
  }

  /// Counts up in a launch of its own, which is killed then.
  private func count(
    _ expected: Int, _ home: TemporaryDirectory, through command: [String] = [],
    file: StaticString = #filePath, line: UInt = #line
  ) throws {
    let app = try LaunchedApp("Counting", home: home, through: command)
    XCTAssertEqual(try app.line(), "count \(expected)", file: file, line: line)
    XCTAssertEqual(try app.ask("+"), "count \(expected + 1)", file: file, line: line)
    XCTAssertEqual(app.end(by: SIGTERM), .killed(by: SIGTERM), file: file, line: line)
  }

  /// Starts a program as an ordinary user, who may not do everything.
  private var asUser: [String] {
    guard OrdinaryUser.isNeeded else { return [] }
    let user = "\(OrdinaryUser.identifier)"
    return ["setpriv", "--reuid", user, "--regid", user, "--clear-groups"]
  }

  private func homeOfUser() throws -> TemporaryDirectory {
    let home = try TemporaryDirectory()
    if OrdinaryUser.isNeeded {
      XCTAssertEqual(chown(home.path, OrdinaryUser.identifier, OrdinaryUser.identifier), 0)
    }
    return home
  }

  func testAnAppThatMayNotReadItsStateAtItsLaunchHasItLater() throws {
    let home = try homeOfUser()
    for expected in 0..<2 { try count(expected, home, through: asUser) }
    let app = try LaunchedApp("WithoutPermission", home: home, through: asUser)
    XCTAssertEqual(try app.line(), "count 0")
    XCTAssertEqual(try app.line(), "count 2")
    try app.endInput()
    XCTAssertEqual(try app.line(), "stored: true")
    XCTAssertEqual(app.ending(), .exited(0))
    try count(2, home, through: asUser)
    XCTAssertEqual(try asides(home), [])
  }

  func testAnAppThatSetsSomethingAtOnceSetsAsideWhatItCouldNotRead() throws {
    let home = try homeOfUser()
    for expected in 0..<2 { try count(expected, home, through: asUser) }
    let before = try Data(contentsOf: URL(filePath: "\(states(home))/main.rka"))
    let app = try LaunchedApp("WithoutPermission", "sets", home: home, through: asUser)
    XCTAssertEqual(try app.line(), "count 0")
    try app.endInput()
    XCTAssertEqual(try app.line(), "stored: true")
    XCTAssertEqual(app.ending(), .exited(0))
    let aside = try asides(home)
    XCTAssertEqual(aside.count, 1)
    for name in aside {
      XCTAssertEqual(try Data(contentsOf: URL(filePath: "\(states(home))/\(name)")), before)
    }
    let line = "What was stored could not be read, and is set aside"
    let said = try app.errorLines().filter { $0.contains(line) }
    XCTAssertEqual(said.count, 1)
    try count(0, home, through: asUser)
  }

  func testAUserCanSaveAfterRootHasRunTheAppInTheSameHome() throws {
    guard OrdinaryUser.isNeeded else { throw XCTSkip("Only root can run an app as two users.") }
    let home = try homeOfUser()
    try count(0, home, through: asUser)
    let root = try LaunchedApp("Counting", home: home)
    // The key of a user is not that of root.
    XCTAssertEqual(try root.line(), "count 0")
    // The other process is alive: the user has another state meanwhile.
    try count(0, home, through: asUser)
    XCTAssertEqual(try root.ask("+"), "count 1")
    root.end(by: SIGKILL)
    for expected in 1..<4 { try count(expected, home, through: asUser) }
  }

  func testACopyOfTheDirectoryByLinksHasALockOfItsOwn() throws {
    let home = try TemporaryDirectory()
    try count(0, home)
    let app = try LaunchedApp("Counting", home: home)
    XCTAssertEqual(try app.line(), "count 1")
    app.end(by: SIGKILL)
    // As `cp -al` does.
    for name in try names(home) where !name.contains(".sessions") && !name.contains(".history") {
      XCTAssertEqual(link("\(states(home))/\(name)", home.child(name)), 0)
    }
    for expected in 1..<3 { try count(expected, home) }
  }

  func testAUmaskThatTakesBitsOfTheOwnerTakesNothingFromTheState() throws {
    for mask in ["0177", "0777"] {
      let home = try homeOfUser()
      try count(0, home, through: asUser + ["sh", "-c", "umask \(mask); exec \"$@\"", "sh"])
      try count(1, home, through: asUser)
    }
  }
}
