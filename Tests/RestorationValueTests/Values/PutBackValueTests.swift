import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// Values of today that an earlier session did not have.
@MainActor
final class PutBackValueTests: XCTestCase {
  private let directory = Result { try TemporaryDirectory() }
  private let keys = MemoryKeyProvider()
  private let screen = Screen()

  private final class Screen: RestorableScreen {
    let restorationIdentifier = "screen"
    @Restored var text = ""
    @Restored var size = 12
  }

  /// The screen as an earlier version of the app has it.
  private enum Earlier {
    final class Screen: RestorableScreen {
      let restorationIdentifier = "screen"
      @Restored var text = ""
    }
  }

  private func launch<Result>(
    _ screen: some RestorableScreen, _ body: @MainActor () async throws -> Result
  ) async throws -> Result {
    let session = RestorationSession(
      directory: FileStateDirectory(path: try directory.get().path), keys: keys,
      environment: ApplicationEnvironment(), now: { Date() })
    return try await session.run {
      try await Restoration.begin("org.example.putback", signals: [], roots: { [screen] }) {
        $0.policy.historyCounts[.session] = 10
      }
      let result = try await body()
      await Restoration.end()
      return result
    }
  }

  func testAValueThatASessionDidNotHaveIsThatOfItsDeclaration() async throws {
    let (old, new) = (RestoredValue("old", default: 0), RestoredValue("new", default: "none"))
    try await launch(Earlier.Screen()) { old.value = 1 }
    let today = Screen()
    try await launch(today) {
      XCTAssertEqual(old.value, 1)
      let keeper = try XCTUnwrap(Restoration.keeper)
      (old.value, new.value, today.text, today.size) = (2, "today", "today", 24)
      _ = try await keeper.save([today])
      let session = try await keeper.history().last { $0.reason == .session }
      try await keeper.putBack(try XCTUnwrap(session))
      _ = try await keeper.restore(into: [today])
      XCTAssertEqual(old.value, 1)
      XCTAssertEqual(new.value, "none")
      XCTAssertEqual([today.text, "\(today.size)"], ["", "12"])
      let isStored = await Restoration.end()
      XCTAssertTrue(isStored)
    }
    let next = Screen()
    try await launch(next) {
      XCTAssertEqual([old.value, new.value == "none" ? 0 : 1], [1, 0])
      XCTAssertEqual([next.text, "\(next.size)"], ["", "12"])
    }
  }

  /// An app may restore again without going back: what it has set since stays.
  func testAnyOtherRestoreLeavesAValueThatIsNotStored() async throws {
    let new = RestoredValue("new", default: "none")
    try await launch(Screen()) { RestoredValue("old", default: 0).value = 1 }
    let today = Screen()
    try await launch(today) {
      let keeper = try XCTUnwrap(Restoration.keeper)
      new.value = "today"
      _ = try await keeper.restore(into: [today])
      XCTAssertEqual(new.value, "today")
    }
  }
}
