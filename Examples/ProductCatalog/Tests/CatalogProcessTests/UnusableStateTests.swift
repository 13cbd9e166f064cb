import Foundation
import XCTest

/// Whatever is wrong with the files, the program starts, says so, and destroys nothing.
final class UnusableStateTests: XCTestCase {
  private let sandbox = Result { try Sandbox() }

  /// Stores a state with a detail screen on the list.
  private func storeState() throws -> Sandbox {
    let sandbox = try sandbox.get()
    XCTAssertEqual(try CatalogProcess("down enter", in: sandbox).end(), 0)
    return sandbox
  }

  /// Starts the program, checks that it shows the first screen and says something, and presses a key.
  private func startAndPressDown(
    in sandbox: Sandbox, saying expected: String, line: UInt = #line
  ) throws {
    let process = try CatalogProcess("down", in: sandbox)
    XCTAssertEqual(process.end(), 0, line: line)
    XCTAssertEqual(
      try process.screens.first?.screen.hasPrefix("╭─ Catalog ──"), true, line: line)
    let errors = try process.errorOutput
    XCTAssertTrue(errors.contains(expected), errors, line: line)
  }

  private func setAside(_ sandbox: Sandbox) -> Data? {
    let directory = sandbox.stateFile.deletingLastPathComponent()
    let names = try? FileManager.default.contentsOfDirectory(atPath: directory.path)
    return names?.first { $0.hasPrefix("main.rka.unreadable-") }.flatMap {
      try? Data(contentsOf: directory.appending(path: $0))
    }
  }

  private func checkThatTheNewStateOpens(_ sandbox: Sandbox) throws {
    let again = try CatalogProcess(in: sandbox)
    XCTAssertEqual(again.end(), 0)
    XCTAssertTrue(try again.errorOutput.hasPrefix("Restored 2 of 2 nodes."))
  }

  func testAStateThatAnotherKeySealedIsKeptAside() throws {
    let sandbox = try storeState()
    let stored = try Data(contentsOf: sandbox.stateFile)
    let other = try Sandbox()
    XCTAssertEqual(try CatalogProcess("down", in: other).end(), 0)
    try FileManager.default.removeItem(at: sandbox.keyFile)
    try FileManager.default.moveItem(at: other.keyFile, to: sandbox.keyFile)
    try startAndPressDown(
      in: sandbox,
      saying: "catalog: Your screens are not back. The key does not open this archive.")
    XCTAssertEqual(setAside(sandbox), stored)
    try checkThatTheNewStateOpens(sandbox)
  }

  func testAStateWithoutItsKeyIsKeptAside() throws {
    let sandbox = try storeState()
    let stored = try Data(contentsOf: sandbox.stateFile)
    try FileManager.default.removeItem(at: sandbox.keyFile)
    try startAndPressDown(
      in: sandbox,
      saying: "catalog: Your screens are not back. The key that opens this archive is not there.")
    XCTAssertEqual(setAside(sandbox), stored)
    try checkThatTheNewStateOpens(sandbox)
  }

  func testATruncatedStateIsKeptAside() throws {
    let sandbox = try storeState()
    let truncated = try Data(contentsOf: sandbox.stateFile).dropLast(100)
    try truncated.write(to: sandbox.stateFile)
    try startAndPressDown(in: sandbox, saying: "catalog: Your screens are not back. The archive ")
    XCTAssertEqual(setAside(sandbox), truncated)
    try checkThatTheNewStateOpens(sandbox)
  }

  func testAnUnreadableStateStaysUntilTheNextKey() throws {
    let sandbox = try storeState()
    let garbage = Data("not an archive".utf8)
    try garbage.write(to: sandbox.stateFile)
    XCTAssertEqual(try CatalogProcess(in: sandbox).end(), 0)
    XCTAssertEqual(try Data(contentsOf: sandbox.stateFile), garbage)
    XCTAssertNil(setAside(sandbox))
  }

  func testADirectoryInPlaceOfTheStateIsSaidAndLeftAlone() throws {
    let sandbox = try sandbox.get()
    let inside = sandbox.stateFile.appending(path: "precious")
    try FileManager.default.createDirectory(at: inside, withIntermediateDirectories: true)
    try startAndPressDown(
      in: sandbox, saying: "catalog: Your screens are not saved. The path does not name a regular")
    XCTAssertTrue(FileManager.default.fileExists(atPath: inside.path))
  }

  func testADamagedKeyIsSaidAndNeitherFileIsReplaced() throws {
    let sandbox = try storeState()
    let stored = try Data(contentsOf: sandbox.stateFile)
    let key = Data("not a key".utf8)
    try key.write(to: sandbox.keyFile)
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o600], ofItemAtPath: sandbox.keyFile.path)
    try startAndPressDown(
      in: sandbox, saying: "catalog: Your screens are not saved. The key is damaged or is none.")
    XCTAssertEqual(try Data(contentsOf: sandbox.stateFile), stored)
    XCTAssertEqual(try Data(contentsOf: sandbox.keyFile), key)
  }
}
