import Foundation
import XCTest

/// Whatever is wrong with the files, the program starts, says so, and destroys nothing.
final class UnusableStateTests: XCTestCase {
  private var stored: Sandbox?

  override func tearDown() {
    stored = nil
  }

  private func sandbox() throws -> Sandbox {
    if let stored { return stored }
    let sandbox = try Sandbox()
    stored = sandbox
    return sandbox
  }

  /// Stores a state with a detail screen on the list.
  private func storeState() throws -> Sandbox {
    let sandbox = try sandbox()
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

  /// The file of the only window that was stored.
  private func windowFile(_ sandbox: Sandbox) throws -> URL {
    XCTAssertEqual(sandbox.windowFiles.count, 1)
    return try XCTUnwrap(sandbox.windowFiles.first)
  }

  private func setAside(_ file: URL) throws -> [Data] {
    let history = file.deletingPathExtension().appendingPathExtension("history")
    guard FileManager.default.fileExists(atPath: history.path) else { return [] }
    return try FileManager.default.contentsOfDirectory(atPath: history.path)
      .map { try Data(contentsOf: history.appending(path: $0)) }
  }

  private func checkThatTheNewStateOpens(_ sandbox: Sandbox) throws {
    let again = try CatalogProcess(in: sandbox)
    XCTAssertEqual(again.end(), 0)
    XCTAssertTrue(try again.errorOutput.contains("Restored 2 of 2 nodes."))
  }

  func testAStateThatAnotherKeySealedIsSetAside() throws {
    let sandbox = try storeState()
    let file = try windowFile(sandbox)
    let stored = try Data(contentsOf: file)
    let other = try Sandbox()
    XCTAssertEqual(try CatalogProcess("down", in: other).end(), 0)
    try FileManager.default.removeItem(at: sandbox.keyFile)
    try FileManager.default.moveItem(at: other.keyFile, to: sandbox.keyFile)
    try startAndPressDown(
      in: sandbox,
      saying: "catalog: Your screens are not back. The key does not open this archive (")
    XCTAssertEqual(try setAside(file), [stored])
    try checkThatTheNewStateOpens(sandbox)
  }

  func testAStateWithoutItsKeyIsSetAside() throws {
    let sandbox = try storeState()
    let file = try windowFile(sandbox)
    let stored = try Data(contentsOf: file)
    try FileManager.default.removeItem(at: sandbox.keyFile)
    try startAndPressDown(
      in: sandbox,
      saying: "catalog: Your screens are not back. The key that opens this archive is not there (")
    XCTAssertEqual(try setAside(file), [stored])
    try checkThatTheNewStateOpens(sandbox)
  }

  func testATruncatedStateIsSetAside() throws {
    let sandbox = try storeState()
    let file = try windowFile(sandbox)
    let truncated = try Data(contentsOf: file).prefix(300)
    try truncated.write(to: file)
    try startAndPressDown(in: sandbox, saying: "catalog: Your screens are not back. The archive ")
    XCTAssertEqual(try setAside(file), [truncated])
    try checkThatTheNewStateOpens(sandbox)
  }

  func testAnUnreadableStateIsInTheHistoryAfterALaunchWithoutAKey() throws {
    let sandbox = try storeState()
    let file = try windowFile(sandbox)
    let garbage = Data("not an archive".utf8)
    try garbage.write(to: file)
    XCTAssertEqual(try CatalogProcess(in: sandbox).end(), 0)
    XCTAssertEqual(try setAside(file), [garbage])
  }

  func testADirectoryInPlaceOfTheStateIsSaidAndLeftAlone() throws {
    let sandbox = try storeState()
    let file = try windowFile(sandbox)
    try FileManager.default.removeItem(at: file)
    let inside = file.appending(path: "precious")
    try FileManager.default.createDirectory(at: inside, withIntermediateDirectories: true)
    try startAndPressDown(
      in: sandbox, saying: "catalog: Your screens are not saved. The path does not name a regular")
    XCTAssertTrue(FileManager.default.fileExists(atPath: inside.path))
  }

  func testADamagedKeyIsSaidAndNeitherFileIsReplaced() throws {
    let sandbox = try storeState()
    let file = try windowFile(sandbox)
    let stored = try Data(contentsOf: file)
    let key = Data("not a key".utf8)
    try key.write(to: sandbox.keyFile)
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o600], ofItemAtPath: sandbox.keyFile.path)
    try startAndPressDown(
      in: sandbox, saying: "catalog: Your screens are not saved. The key is damaged or is none.")
    XCTAssertEqual(try Data(contentsOf: file), stored)
    XCTAssertEqual(try Data(contentsOf: sandbox.keyFile), key)
  }
}
