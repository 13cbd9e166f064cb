import ArchiveCodec
import Foundation
import RestorationKit
import Synchronization
import TestSupport
import XCTest

/// Values that are decoded when the keeper has let the state go.
@MainActor
final class ClosedNoteTests: XCTestCase {
  /// A value that runs a hook when it is decoded.
  private struct Hooked: Codable, Sendable {
    var text = ""

    init(_ text: String) { self.text = text }

    init(from decoder: any Decoder) throws {
      text = try decoder.singleValueContainer().decode(String.self)
      Hooked.hook.withLock { $0 }?()
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(text)
    }

    static let hook = Mutex<(@Sendable () -> Void)?>(nil)
  }

  private struct App {
    @Restored("text") var text = Hooked("initial")
  }

  override func tearDown() async throws { Hooked.hook.withLock { $0 = nil } }

  /// The file of the lock while the value of another launch is decoded, and just before.
  private func files(closingFirst isClosed: Bool) async throws -> (before: Data, while: Data?) {
    let directory = try TemporaryDirectory()
    let keys = try ArchiveKey()
    let lock = URL(filePath: directory.child(".main.rka.lock"))
    let states = FileStateDirectory(path: directory.path)
    try await RestorationSession(directory: states, keys: keys).run {
      try await Restoration.begin("org.example.values", signals: [])
      App().text = Hooked("stored")
      await Restoration.end()
    }
    return try await RestorationSession(directory: states, keys: keys).run {
      try await Restoration.begin("org.example.values", signals: [])
      let app = App()
      if isClosed { await Restoration.keeper?.close() }
      let before = try Data(contentsOf: lock)
      let found = Mutex<Data?>(nil)
      Hooked.hook.withLock { $0 = { found.withLock { $0 = try? Data(contentsOf: lock) } } }
      XCTAssertEqual(app.text.text, "stored")
      await Restoration.end()
      return (before, found.withLock { $0 })
    }
  }

  func testAValueThatIsDecodedIsNotedInTheFileOfTheLock() async throws {
    let files = try await files(closingFirst: false)
    XCTAssertNotEqual(try XCTUnwrap(files.while), files.before)
  }

  func testNothingIsNotedInAFileThatTheKeeperHasLetGo() async throws {
    let files = try await files(closingFirst: true)
    XCTAssertEqual(try XCTUnwrap(files.while), files.before)
  }
}
