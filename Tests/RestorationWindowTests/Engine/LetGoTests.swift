import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// What goes with a scene or a state, and in which order.
@MainActor
final class LetGoTests: XCTestCase {
  func testAStateThatAnotherHasTakenMeanwhileIsNobodysAndItsSetAsideStatesStay() async throws {
    for isSingle in [false, true] {
      let directory = try TemporaryDirectory()
      let keys = MemoryKeyProvider()
      func keeper() throws -> StateKeeper {
        let keeper = try StateKeeper(
          application: "org.example", directory: FileStateDirectory(path: directory.path),
          keys: keys)
        if isSingle { keeper.policy.isSingleInstance = true }
        return keeper
      }
      let before = try keeper()
      _ = try await before.save([TestNode("a")])
      await before.close()
      // It has not read what is stored, so it keeps that.
      let first = try keeper()
      _ = try await first.save([TestNode("a")])
      let kept = try await first.setAsideStates()
      XCTAssertEqual(kept.count, 1)
      try FileManager.default.removeItem(atPath: directory.child(".main.rka.lock"))
      let other = try keeper()
      _ = try await other.restore(into: [TestNode("a")])
      XCTAssertEqual(other.stateName, "main")
      let wanted = try XCTUnwrap(kept.first)
      do {
        try await first.removeSetAside(wanted)
        XCTAssertFalse(isSingle, "It was removed.")
      } catch {
        XCTAssertEqual(error.code, .inUse)
      }
      XCTAssertEqual(first.stateName, isSingle ? nil : "main~2")
      let left = try await other.setAsideStates()
      XCTAssertEqual(left, kept)
    }
  }

  func testTheSetAsideStatesOfASecondInstanceAreThoseOfTheStateThatItHas() async throws {
    let launch = Launch()
    _ = try await launch.keeper().save([TestNode("a")])
    let first = try launch.keeper()
    _ = try await first.save([TestNode("a")])
    let second = try launch.keeper(endsLast: false)
    _ = try await second.save([TestNode("a")])
    XCTAssertEqual(second.stateName, "main~2")
    let kept = try await first.setAsideStates()
    XCTAssertEqual(kept.count, 1)
    var listed = try await second.setAsideStates()
    XCTAssertEqual(listed, [])
    // Closed, it has none, and looks at the first one.
    await second.close()
    listed = try await second.setAsideStates()
    XCTAssertEqual(listed, kept)
  }

  func testAStateThatIsPutBackEndsTheRestoreOfTheOneBefore() async throws {
    let launch = Launch()
    for value in ["old", "new"] {
      _ = try await launch.keeper().save([TestNode("a", value: value)])
    }
    let keeper = try launch.keeper()
    // What is not back may come late, so the mark stays.
    _ = try await keeper.restore()
    XCTAssertNotNil(launch.markerBytes)
    let kept = try await keeper.setAsideStates()
    try await keeper.putBack(try XCTUnwrap(kept.first))
    launch.assertIsNotMarked()
    _ = try await keeper.save([TestNode("a", value: "newest")])
    launch.assertIsNotMarked()
  }
}
