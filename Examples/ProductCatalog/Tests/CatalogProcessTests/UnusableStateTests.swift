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

  #if !RESTORATION_NEXT
  /// The files that begin so, with what is in them.
  private func files(_ prefix: String, _ sandbox: Sandbox) throws -> [Data] {
    try FileManager.default.contentsOfDirectory(atPath: sandbox.stateDirectory.path)
      .filter { $0.hasPrefix(prefix) }
      .map { try Data(contentsOf: sandbox.stateDirectory.appending(path: $0)) }
  }
  #endif

  private func setAside(_ file: URL, _ sandbox: Sandbox) throws -> [Data] {
    #if RESTORATION_NEXT
    let history = file.deletingPathExtension().appendingPathExtension("history")
    guard FileManager.default.fileExists(atPath: history.path) else { return [] }
    return try FileManager.default.contentsOfDirectory(atPath: history.path)
      .map { try Data(contentsOf: history.appending(path: $0)) }
    #else
    try files("\(file.lastPathComponent).unreadable-", sandbox)
    #endif
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
    #if !RESTORATION_NEXT
    let list = try files("main.scenes.rka", sandbox)
    #endif
    let other = try Sandbox()
    XCTAssertEqual(try CatalogProcess("down", in: other).end(), 0)
    try FileManager.default.removeItem(at: sandbox.keyFile)
    try FileManager.default.moveItem(at: other.keyFile, to: sandbox.keyFile)
    try startAndPressDown(
      in: sandbox,
      saying: "catalog: Your screens are not back. The key does not open this archive (")
    #if RESTORATION_NEXT
    XCTAssertEqual(try setAside(file, sandbox), [stored])
    #else
    XCTAssertEqual(try Data(contentsOf: file), stored)
    XCTAssertEqual(try files("main.scenes.rka.unreadable-", sandbox), list)
    #endif
    try checkThatTheNewStateOpens(sandbox)
  }

  func testAStateWithoutItsKeyIsSetAside() throws {
    let sandbox = try storeState()
    let file = try windowFile(sandbox)
    let stored = try Data(contentsOf: file)
    #if !RESTORATION_NEXT
    let list = try files("main.scenes.rka", sandbox)
    #endif
    try FileManager.default.removeItem(at: sandbox.keyFile)
    try startAndPressDown(
      in: sandbox,
      saying: "catalog: Your screens are not back. The key that opens this archive is not there (")
    #if RESTORATION_NEXT
    XCTAssertEqual(try setAside(file, sandbox), [stored])
    #else
    XCTAssertEqual(try Data(contentsOf: file), stored)
    XCTAssertEqual(try files("main.scenes.rka.unreadable-", sandbox), list)
    #endif
    try checkThatTheNewStateOpens(sandbox)
  }

  func testATruncatedStateIsSetAside() throws {
    let sandbox = try storeState()
    let file = try windowFile(sandbox)
    let truncated = try Data(contentsOf: file).prefix(300)
    try truncated.write(to: file)
    try startAndPressDown(in: sandbox, saying: "catalog: Your screens are not back. The archive ")
    XCTAssertEqual(try setAside(file, sandbox), [truncated])
    try checkThatTheNewStateOpens(sandbox)
  }

  #if !RESTORATION_NEXT
  func testALostListIsMadeAgainFromTheWindows() throws {
    for damage in [nil, Data("not an archive".utf8)] {
      let sandbox = try storeState()
      let before = try CatalogProcess(in: sandbox)
      XCTAssertEqual(before.end(), 0)
      let list = sandbox.stateDirectory.appending(path: "main.scenes.rka")
      if let damage {
        try damage.write(to: list)
      } else {
        try FileManager.default.removeItem(at: list)
      }
      let after = try CatalogProcess(in: sandbox)
      XCTAssertEqual(after.end(), 0)
      XCTAssertEqual(
        try after.errorOutput.contains("catalog: Your screens are not back."), damage != nil)
      let again = try CatalogProcess(in: sandbox)
      XCTAssertEqual(again.end(), 0)
      XCTAssertEqual(try again.screens.map(\.screen), try before.screens.map(\.screen))
    }
  }
  #endif

  func testAnUnreadableStateStaysUntilTheNextKey() throws {
    let sandbox = try storeState()
    let file = try windowFile(sandbox)
    let garbage = Data("not an archive".utf8)
    try garbage.write(to: file)
    XCTAssertEqual(try CatalogProcess(in: sandbox).end(), 0)
    XCTAssertEqual(try Data(contentsOf: file), garbage)
    XCTAssertEqual(try setAside(file, sandbox), [])
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
