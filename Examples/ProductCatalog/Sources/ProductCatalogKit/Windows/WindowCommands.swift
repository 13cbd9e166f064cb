/// What the keys for windows do.
@MainActor package protocol WindowCommands: AnyObject {
  func openWindow() async
  func focusNextWindow() async
  func closeWindow() async
  func saveWindows() async
  /// The windows of earlier launches, the newest first.
  func earlierSessions() async -> [EarlierWindows]
  /// Opens the windows of an earlier launch again; returns why one of them is not there.
  func putBack(_ earlier: EarlierWindows) async -> String?
}
