import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

@MainActor
final class EphemeralKeyTests: XCTestCase {
  private let store = MemoryStateDirectory()

  private func restored(_ keys: any KeyProvider) async throws -> String? {
    let node = TestNode("a", value: "default")
    _ = try await StateKeeper(application: "org.example.test", directory: store, keys: keys)
      .restore(into: [node])
    return node.value
  }

  func testAnEphemeralKeyOpensWhatItSealedAndAnotherOneDoesNot() async throws {
    let keys = try ArchiveKey()
    let keeper = try StateKeeper(application: "org.example.test", directory: store, keys: keys)
    _ = try await keeper.save([TestNode("a", value: "saved")])
    await keeper.close()
    let again = try await restored(keys)
    XCTAssertEqual(again, "saved")
    await assertThrows(WholeError(notRestored: ArchiveError(.wrongKey, location: "memory"))) {
      _ = try await restored(.ephemeral())
    }
  }

  func testATestTakesOneLine() async throws {
    let keeper = try StateKeeper(
      application: "org.example.test", directory: store, keys: .ephemeral())
    let report = try await keeper.save([TestNode("a")])
    XCTAssertEqual(report.savedPaths, ["a"])
  }
}
