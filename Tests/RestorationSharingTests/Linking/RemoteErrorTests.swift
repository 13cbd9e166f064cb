import RestorationKit
import RestorationSharing
import TestSupport
import XCTest

/// What is said of the errors of a store of one's own.
@MainActor
final class RemoteErrorTests: XCTestCase {
  private static let sentence =
    "The store did not answer. Try again when it can be reached. (Down)"

  func testAnyErrorOfAStoreIsSaidWithWhatToDo() async throws {
    let keeper = try Device("here", DownStore(), keys: MemoryKeyProvider()).launch()
    let error = await restorationError { _ = try await keeper.restore() }
    XCTAssertEqual(error?.code, .store)
    XCTAssertEqual(error?.description, Self.sentence)
  }

  func testAnyErrorOfAStoreIsInTheReportOfWhatIsSentLater() async throws {
    let device = Device(
      "here", DownStore(), keys: MemoryKeyProvider(), localCopy: MemoryStateDirectory())
    let keeper = try device.launch()
    let report = try await keeper.save([TestNode("root")])
    XCTAssertEqual(report.unsent, Self.sentence)
    XCTAssertEqual(
      keeper.remoteStatus, .unsent(RemoteStoreError(.unavailable, Self.sentence)))
  }
}

/// A store whose errors have no words.
private struct DownStore: RemoteStateStore {
  private struct Down: Error {}

  let location = "the store"

  func load(_ name: String) async throws -> RemoteState? { throw Down() }

  func replace(
    _ name: String, with bytes: [UInt8], expecting version: RemoteVersion?
  ) async throws -> RemoteVersion? {
    throw Down()
  }

  func remove(_ name: String, expecting version: RemoteVersion) async throws -> Bool {
    throw Down()
  }

  func names(prefix: String) async throws -> [String] { throw Down() }
}
