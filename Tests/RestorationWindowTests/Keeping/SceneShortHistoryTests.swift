import TestSupport

/// All short lives of a host and its windows.
final class SceneShortHistoryTests: ShortHistoryTestCase {
  func testWhateverAShortHistoryOfWindowsEndsInTheWindowsThatComeBackAreThoseThatWereSaved()
    async throws
  {
    let share = Share(of: 584)
    try share.skipUnlessGiven()
    try await tryAll(HostHistory.self, share)
  }
}
