import TestSupport

/// All short lives of a keeper.
final class ShortHistoryTests: ShortHistoryTestCase {
  func testWhateverAShortHistoryEndsInWhatComesBackWasSavedAndIsNotOlder() async throws {
    try LongTests.skipUnlessOn()
    try await tryAll(KeeperHistory.self, Share(of: 256))
  }
}
