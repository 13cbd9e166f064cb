import Foundation
import XCTest

/// Launches after launches whose process ended while it restored.
final class LaunchGuardTests: XCTestCase {
  private struct Ending: Equatable {
    let output: String
    let wasCrash: Bool

    static let crash = Ending(output: "", wasCrash: true)

    static func said(_ output: String) -> Ending {
      Ending(output: output + "\n", wasCrash: false)
    }
  }

  /// Runs the crashing app to its end.
  private func run(_ deed: String, threshold: Int, in sandbox: Sandbox) throws -> Ending {
    let process = Process()
    let output = Pipe()
    process.executableURL = CatalogProcess.executable(named: "crashing-app")
    process.arguments = ["\(threshold)", deed]
    // A trap is meant here, so nobody needs to know where it was.
    process.environment = sandbox.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let text = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return Ending(
      output: String(decoding: text, as: UTF8.self),
      wasCrash: process.terminationReason == .uncaughtSignal)
  }

  private func states(_ sandbox: Sandbox) throws -> [String: Data] {
    let directory = sandbox.directory.appending(path: "state/org.restorationkit.crashing-app")
    // The note of where the key is stays as it is.
    let names = try FileManager.default.subpathsOfDirectory(atPath: directory.path)
      .filter { !$0.hasSuffix(".key") && !$0.hasSuffix(".history") }
    return try Dictionary(
      uniqueKeysWithValues: names.map {
        ($0, try Data(contentsOf: directory.appending(path: $0)))
      })
  }

  private func isSetAside(_ name: String) -> Bool {
    name.hasPrefix("main.history/") && name.contains("-crashed-")
  }

  private func checkThatTheStateIsSetAside(after crashes: [String], threshold: Int) throws {
    let sandbox = try Sandbox()
    XCTAssertEqual(try run("save", threshold: threshold, in: sandbox), .said("saved"))
    let saved = try states(sandbox)
    XCTAssertEqual(Array(saved.keys), ["main.rka"])
    for deed in crashes {
      XCTAssertEqual(try run(deed, threshold: threshold, in: sandbox), .crash)
      XCTAssertEqual(try states(sandbox)["main.rka"], saved["main.rka"])
    }
    let next = try run("restore", threshold: threshold, in: sandbox)
    XCTAssertTrue(next.output.hasPrefix("crashed(setAsideAt: "), next.output)
    let kept = try states(sandbox)
    XCTAssertEqual(kept.filter { isSetAside($0.key) }.map(\.value), Array(saved.values))
    // An empty archive says that the state has given way.
    XCTAssertEqual(kept.keys.filter { !isSetAside($0) }, ["main.rka"])

    XCTAssertEqual(try run("restore", threshold: threshold, in: sandbox), .said("noArchive"))
    XCTAssertEqual(try run("save", threshold: threshold, in: sandbox), .said("saved"))
    XCTAssertEqual(try run("restore", threshold: threshold, in: sandbox), .said("restored"))
    // The file of the lock stays beside a state that was restored.
    XCTAssertEqual(
      try states(sandbox).keys.filter { !isSetAside($0) }.sorted(),
      [".main.rka.lock", "main.rka"])
    XCTAssertEqual(try states(sandbox).count, 3)
  }

  func testAfterOneCrashWithTheThresholdOneTheStateIsSetAside() throws {
    try checkThatTheStateIsSetAside(after: ["killOutside"], threshold: 1)
  }

  func testAfterTwoCrashesWithTheThresholdTwoTheStateIsSetAside() throws {
    try checkThatTheStateIsSetAside(after: ["trap", "killOutside"], threshold: 2)
  }

  func testAfterCrashesInAScreenItIsLeftOutAndItsStateStays() throws {
    for crashes in [["trap"], ["kill"], ["kill", "trap"]] {
      let sandbox = try Sandbox()
      let threshold = crashes.count
      XCTAssertEqual(try run("save", threshold: threshold, in: sandbox), .said("saved"))
      let saved = try states(sandbox)["main.rka"]
      for deed in crashes {
        XCTAssertEqual(try run(deed, threshold: threshold, in: sandbox), .crash)
      }
      // It is tried again after one launch that has left it out, and then after two.
      let leftOut = Ending.said(
        "restored\nscreen left out by this version of the app, since restoring it crashed")
      let endings: [(String, Ending)] = [
        ("restore", leftOut), ("kill", .crash), ("trap", leftOut), ("kill", leftOut),
        ("trap", .crash), ("restore", leftOut),
      ]
      for (number, (deed, ending)) in endings.enumerated() {
        XCTAssertEqual(try run(deed, threshold: threshold, in: sandbox), ending, "\(number)")
        XCTAssertEqual(try states(sandbox)["main.rka"], saved)
      }
    }
  }

  func testAnAppThatExitsInTheMidstOfItsRestoreHasNotCrashed() throws {
    let sandbox = try Sandbox()
    XCTAssertEqual(try run("save", threshold: 1, in: sandbox), .said("saved"))
    for _ in 1...3 {
      XCTAssertEqual(
        try run("exit", threshold: 1, in: sandbox), Ending(output: "", wasCrash: false))
    }
    XCTAssertEqual(try run("restore", threshold: 1, in: sandbox), .said("restored"))
  }

  func testALaunchThatRestoresBetweenTwoCrashesKeepsTheState() throws {
    let sandbox = try Sandbox()
    XCTAssertEqual(try run("save", threshold: 2, in: sandbox), .said("saved"))
    for _ in 1...3 {
      XCTAssertEqual(try run("kill", threshold: 2, in: sandbox), .crash)
      XCTAssertEqual(try run("restore", threshold: 2, in: sandbox), .said("restored"))
    }
  }

  func testAProcessThatEndsAfterItsRestoreIsNotBlamedOnTheState() throws {
    let sandbox = try Sandbox()
    XCTAssertEqual(try run("save", threshold: 1, in: sandbox), .said("saved"))
    for _ in 1...3 {
      XCTAssertTrue(try run("killLater", threshold: 1, in: sandbox).wasCrash)
    }
    XCTAssertEqual(try run("restore", threshold: 1, in: sandbox), .said("restored"))
  }
}
