import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// The key in a file is read once for many states, and a new one is seen.
@MainActor
final class KeyReuseTests: XCTestCase {
  func testAStateIsSealedWithTheKeyThatHasReplacedOneThatIsStillInUse() async throws {
    let folder = try TemporaryDirectory()
    let (store, keys) = (MemoryStateDirectory(), KeyFile(path: folder.child("key")))
    func keeper(_ name: String) throws -> StateKeeper {
      try StateKeeper(
        application: Launch.application, name: name, directory: store, keys: keys)
    }
    let first = try keeper("first")
    _ = try await first.save([TestNode("root", value: "Rome")])
    try FileManager.default.removeItem(atPath: keys.path)
    let key = try KeyFile(path: keys.path).loadOrCreate()
    let second = try keeper("second")
    _ = try await second.save([TestNode("root", value: "Oslo")])
    let context = ArchiveContext([Launch.application, "second"])
    XCTAssertNotNil(
      try Archive.open(store.storage(named: "second"), key: key, context: context))
    await first.close()
    await second.close()
  }
}
