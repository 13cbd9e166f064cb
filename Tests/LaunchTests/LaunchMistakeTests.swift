import Foundation
import TestSupport
import XCTest

/// Mistakes around a launch: another instance, a key, a file, a home, a busy main actor.
final class LaunchMistakeTests: XCTestCase {
  private func count(
    in home: TemporaryDirectory, path: String? = nil, through command: [String] = []
  ) throws -> (output: [String], lines: [String]) {
    try LaunchedApp.run(
      "count", in: home, variables: path.map { ["HOME": $0] } ?? [:], through: command)
  }

  private func key(in home: TemporaryDirectory) -> String {
    home.path + "/.local/share/restoration-keys/org.example.mistakes.key"
  }

  private func state(in home: TemporaryDirectory) -> String {
    home.path + "/.local/state/org.example.mistakes/main.rka"
  }

  // MARK: Another instance

  func testASecondInstanceIsTheFirstLineAlsoWhenTheFirstOneIsStopped() throws {
    let home = try TemporaryDirectory()
    let first = try LaunchedApp("Mistakes", "busy", home: home)
    XCTAssertEqual(try first.line(), "1")
    for signal in [0, SIGSTOP] {
      first.signal(signal)
      XCTAssertEqual(
        try count(in: home).lines,
        [
          "Another instance of the app runs: process \(first.process.processIdentifier), LaunchedApps"
            + " has main. So this one has the state main~2, and does not show what the other one saves."
            + " End the other one, and launch again, to see its state."
        ])
    }
    first.signal(SIGCONT)
    try first.endInput()
    XCTAssertEqual(first.ending(), .exited(0))
    XCTAssertEqual(try count(in: home).output, ["2"])
  }

  func testAMainActorThatIsBusyForFiveSecondsIsSaid() throws {
    let app = try LaunchedApp("Mistakes", "busy", home: TemporaryDirectory())
    XCTAssertEqual(
      try app.errorLine(),
      "RestorationKit: A change has waited for 5 seconds to be saved, since the main actor is busy. Do"
        + " what takes long, or waits as readLine() does, off the main actor.")
    try app.endInput()
    XCTAssertEqual(app.ending(), .exited(0))
    XCTAssertEqual(try app.errorLines(), [])
  }

  // MARK: Keys and files

  func testAKeyThatIsGoneAndComesBackIsSaid() throws {
    let home = try TemporaryDirectory()
    XCTAssertEqual(try count(in: home).output, ["1"])
    let key = key(in: home)
    try FileManager.default.moveItem(atPath: key, toPath: key + ".old")
    let without = try count(in: home)
    XCTAssertEqual(without.output, ["1"])
    XCTAssertEqual(
      without.lines,
      [
        "The restore has failed: The key that opens this archive is not there (keyMissing: in \(key))."
          + " End the app and put the key back; else the next save makes a new key and sets aside what"
          + " is stored."
      ])
    try FileManager.default.removeItem(atPath: key)
    try FileManager.default.moveItem(atPath: key + ".old", toPath: key)
    let again = try count(in: home)
    XCTAssertEqual(again.output, ["1"])
    XCTAssertEqual(
      again.lines,
      [
        "The restore has failed: The key does not open this archive (wrongKey: in \(state(in: home)))."
          + " If you have the key that it was written with, end the app and put that back; else the next"
          + " save sets aside what is stored."
      ])
  }

  func testAStateThatIsCopiedToAnotherHomeNeedsItsKey() throws {
    let (home, other) = (try TemporaryDirectory(), try TemporaryDirectory())
    XCTAssertEqual(try count(in: home).output, ["1"])
    XCTAssertEqual(try count(in: other).lines, [], "Another home has a state of its own.")
    for folder in [".local/state", ".local/share"] {
      try FileManager.default.removeItem(atPath: other.path + "/" + folder)
    }
    try FileManager.default.copyItem(
      atPath: home.path + "/.local/state", toPath: other.path + "/.local/state")
    XCTAssertEqual(
      try count(in: other, path: other.path).lines.map { $0.prefix(40) },
      ["The restore has failed: The key that ope"])
    try FileManager.default.removeItem(atPath: other.path + "/.local")
    try FileManager.default.copyItem(
      atPath: home.path + "/.local", toPath: other.path + "/.local")
    let copied = try count(in: other)
    XCTAssertEqual(copied.output, ["2"])
    XCTAssertEqual(copied.lines, [])
  }

  func testAFileThatIsNoStateAnyMoreIsSaid() throws {
    let home = try TemporaryDirectory()
    XCTAssertEqual(try count(in: home).output, ["1"])
    let file = URL(filePath: state(in: home))
    let whole = try Data(contentsOf: file)
    var flipped = whole
    flipped[flipped.count / 2] ^= 1
    for (bytes, finding) in [
      (Data("garbage".utf8), "This is not an archive (notAnArchive: byte 0"),
      (
        flipped,
        "The archive was changed or damaged after it was written (damaged: commit, byte 288"
      ),
    ] {
      try bytes.write(to: file)
      let (output, lines) = try count(in: home)
      XCTAssertEqual(output, ["1"])
      XCTAssertEqual(
        lines,
        [
          "The restore has failed: \(finding), in \(file.path)). Let the app go on; its next save sets"
            + " aside what is stored."
        ])
    }
  }

  /// What is said of a key that others can read, or that is theirs.
  private func linesOfAnExposedKey(in home: borrowing TemporaryDirectory) -> [String] {
    let error =
      "The key file is open to others, or theirs. Make it yours with chown and chmod 600. (keyExposed:"
      + " in \(key(in: home)))"
    return ["The restore has failed: \(error)", "The save has failed: \(error)"]
  }

  func testAKeyThatOthersCanReadIsSaid() throws {
    let home = try TemporaryDirectory()
    XCTAssertEqual(try count(in: home).output, ["1"])
    XCTAssertEqual(chmod(key(in: home), 0o644), 0)
    XCTAssertEqual(try count(in: home).lines, linesOfAnExposedKey(in: home))
    XCTAssertEqual(chmod(key(in: home), 0o600), 0)
    XCTAssertEqual(try count(in: home).output, ["2"])
  }

  // MARK: Homes

  func testAHomeInWhichNothingCanBeWrittenIsSaid() throws {
    let (output, lines) = try count(in: TemporaryDirectory(), path: "/dev/null")
    XCTAssertEqual(output, ["1"])
    let error =
      "The path does not name a regular file. Move away what is there. (notAFile: system error"
    let folder = "/dev/null/.local/state/org.example.mistakes"
    XCTAssertEqual(
      lines,
      [
        "The restore has failed: \(error) 20, in \(folder)/main.rka)",
        "The save has failed: \(error) 20, in \(folder)/.main.rka.lock)",
      ])
  }

  private static let nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
  private static let noPermission =
    "There is no permission. Check the owner and the mode of the file and its directory."
    + " (permissionDenied: system error 13, in "

  /// A home of a user who is not the one that runs the tests.
  private func homeOfNobody() throws -> TemporaryDirectory {
    guard geteuid() == 0, FileManager.default.isExecutableFile(atPath: "/usr/bin/setpriv") else {
      throw XCTSkip("Needs the rights of root, and setpriv.")
    }
    let home = try TemporaryDirectory()
    XCTAssertEqual(chown(home.path, 65534, 65534), 0)
    return home
  }

  func testALaunchAsRootOnTheStateOfAUserIsSaidAndHarmsNothing() throws {
    let home = try homeOfNobody()
    XCTAssertEqual(try count(in: home, through: Self.nobody).output, ["1"])
    XCTAssertEqual(try count(in: home).lines, linesOfAnExposedKey(in: home))
    let (output, lines) = try count(in: home, through: Self.nobody)
    XCTAssertEqual(output, ["2"])
    XCTAssertEqual(lines, [])
  }

  func testAUserWhoseFoldersBelongToRootIsToldSo() throws {
    let home = try homeOfNobody()
    XCTAssertEqual(try count(in: home).lines, [])
    let folder = home.path + "/.local/state/org.example.mistakes"
    let first = key(in: home)
    XCTAssertEqual(
      try count(in: home, through: Self.nobody).lines,
      [
        "The restore has failed: \(Self.noPermission)\(first))",
        "The save has failed: \(Self.noPermission)\(folder)/.main.rka.lock)",
      ])
  }

  func testAUserWithoutAHomeIsToldSo() throws {
    let home = try homeOfNobody()
    let file = "/nonexistent/.local/state/org.example.mistakes/main.rka)"
    let (output, lines) = try LaunchedApp.run(
      "count", in: home, variables: ["HOME": "/nonexistent"], through: Self.nobody)
    XCTAssertEqual(output, ["1"])
    let problem = "A problem of the launch: The launch could not be marked:"
    XCTAssertEqual(
      lines,
      [
        "\(problem) \(Self.noPermission)\(file)",
        "The save has failed: \(Self.noPermission)\(file)",
      ])
  }
}
