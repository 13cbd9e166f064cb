import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

#if !canImport(Darwin)
/// Where an app finds its key: the state and the key have variables of their own, and a terminal of
/// a snap sets only one of them.
@MainActor
final class KeyPlaceTests: XCTestCase {
  private static let application = "org.example.places"
  private let home = Result { try TemporaryDirectory() }

  /// A launch in an environment: what came back, and what was stored then.
  @discardableResult
  private func launch(inSnap: Bool, revision: Int = 1) async throws -> String? {
    let home = try home.get().path
    let names = ["HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"]
    let before = ProcessInfo.processInfo.environment
    for name in names { unsetenv(name) }
    setenv("HOME", home, 1)
    if inSnap { setenv("XDG_DATA_HOME", snap(revision), 1) }
    defer {
      for name in names {
        if let value = before[name] { setenv(name, value, 1) } else { unsetenv(name) }
      }
    }
    let keeper = try StateKeeper(application: Self.application)
    let node = TestNode("a")
    do { _ = try await keeper.restore(into: [node]) } catch { node.value = nil }
    let found = node.value
    node.value = "\((found.flatMap { Int($0) } ?? 0) + 1)"
    _ = try await keeper.save([node])
    await keeper.close()
    return found
  }

  private func snap(_ revision: Int) -> String {
    ((try? home.get().path) ?? "") + "/snap/code/\(revision)/.local/share"
  }

  private func keyFile(inSnap: Bool) throws -> String {
    let data = inSnap ? snap(1) : try home.get().child(".local/share")
    return "\(data)/restoration-keys/\(Self.application).key"
  }

  private func hasKey(inSnap: Bool) throws -> Bool {
    FileManager.default.fileExists(atPath: try keyFile(inSnap: inSnap))
  }

  private func setAsideCount() throws -> Int {
    let history = try home.get().child(".local/state/\(Self.application)/main.history")
    guard FileManager.default.fileExists(atPath: history) else { return 0 }
    return try FileManager.default.contentsOfDirectory(atPath: history).count
  }

  func testTheTerminalOfASnapAndAnyOtherHaveOneState() async throws {
    for isSnapFirst in [false, true] {
      try FileManager.default.removeItem(atPath: try home.get().path)
      try FileManager.default.createDirectory(
        atPath: try home.get().path, withIntermediateDirectories: false)
      for count in 0..<6 {
        let found = try await launch(inSnap: (count % 2 == 0) == isSnapFirst)
        XCTAssertEqual(found, count == 0 ? nil : "\(count)", "snap first: \(isSnapFirst)")
      }
      XCTAssertEqual(try setAsideCount(), 0)
      XCTAssertFalse(try hasKey(inSnap: true))
      XCTAssertTrue(try hasKey(inSnap: false))
    }
  }

  func testWithoutTheKeyOneLaunchSetsTheStateAsideAndLaterOnesGoOn() async throws {
    try await launch(inSnap: true)
    try FileManager.default.removeItem(atPath: try keyFile(inSnap: false))
    for (count, inSnap) in [true, false, true, false].enumerated() {
      let found = try await launch(inSnap: inSnap)
      XCTAssertEqual(found, count == 0 ? nil : "\(count)")
    }
    XCTAssertEqual(try setAsideCount(), 1)
  }
}
#endif
