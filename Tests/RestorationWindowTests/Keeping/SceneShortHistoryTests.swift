import TestSupport

/// All short lives of a host and its windows.
final class SceneShortHistoryTests: ShortHistoryTestCase {
  func testWhateverAShortHistoryOfWindowsEndsInTheWindowsThatComeBackAreThoseThatWereSaved()
    async throws
  {
    try LongTests.skipUnlessOn()
    try await tryAll(HostHistory.self, Share(of: 584))
  }
}
