#if SecretService
import ArchiveCodec
import Foundation
import RestorationKit
import RestorationSecretService
import RestorationTesting
import TestSupport
import XCTest

/// Several processes of one app, and its key.
final class KeyProcessTests: DesktopTestCase {
  private static let context = ArchiveContext(["test"])

  private let provider = SecretServiceKeyProvider(application: "org.example.test")

  // MARK: The other process

  /// For each line makes the key, or finds it, and seals an archive of this name with it.
  func testTheProcess() throws {
    guard let app = AppUnderTest.current else { throw XCTSkip("Runs in a process of its own.") }
    while let line = readLine() {
      let words = line.split(separator: " ").map(String.init)
      do {
        guard let key = try provider.key(creating: words[0] == "make") else {
          app.say("no key")
          continue
        }
        let storage = FileStorage(path: "\(app.folder)/\(words[1])")
        _ = try Archive.write(
          RecordBuilder().finish(), to: storage, key: key, context: Self.context)
        app.say("sealed")
      } catch {
        app.say("\(error)")
      }
    }
  }

  override func setUpWithError() throws {
    // The process is on the desktop of the test that has started it.
    guard AppUnderTest.current == nil else { return }
    try super.setUpWithError()
    try desktop.startKeyring()
  }

  private func start() throws -> AppProcess {
    try AppProcess.again(
      ["RestorationSecretServiceTests.KeyProcessTests/testTheProcess"], folder: desktop.path(""))
  }

  private func open(_ name: String, with key: ArchiveKey) throws {
    XCTAssertNotNil(
      try Archive.open(FileStorage(path: desktop.path(name)), key: key, context: Self.context))
  }

  // MARK: Tests

  func testAnotherProcessFindsTheKey() throws {
    let process = try start()
    XCTAssertEqual(try process.ask("find a"), "no key")
    let key = try XCTUnwrap(try provider.key(creating: true))
    XCTAssertEqual(try process.ask("find a"), "sealed")
    try process.end()
    try open("a", with: key)
  }

  func testProcessesThatMakeTheKeyAtOnceEndWithOne() throws {
    let processes = try (0..<6).map { _ in try start() }
    // All of them are there before one makes the key.
    for process in processes { XCTAssertEqual(try process.ask("find none"), "no key") }
    for (number, process) in processes.enumerated() { try process.send("make \(number)") }
    for process in processes { XCTAssertEqual(try process.answer(), "sealed") }
    XCTAssertEqual(try desktop.items().count, 1)
    let key = try XCTUnwrap(try provider.key(creating: false))
    for number in processes.indices { try open("\(number)", with: key) }
    for process in processes { try process.end() }
  }
}
#endif
