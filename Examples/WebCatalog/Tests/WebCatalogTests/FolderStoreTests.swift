import Foundation
import RestorationKit
import RestorationSharing
import RestorationSharingTesting
import RestorationTesting
import WebCatalogKit
import XCTest

/// The folder is a store like any other.
final class FolderStoreTests: XCTestCase {
  func testAFolderKeepsAllPromisesOfAStore() async {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "folder-store-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let failures = await RemoteStoreConformance.checks.failures {
      let path = folder.appending(path: UUID().uuidString).path
      return { try FolderStore(path) }
    }
    XCTAssertEqual(failures, [])
  }
}
