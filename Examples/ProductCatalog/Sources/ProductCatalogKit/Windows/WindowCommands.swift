/// What the keys for windows do.
@MainActor package protocol WindowCommands: AnyObject {
  func openWindow() async
  func focusNextWindow() async
  func closeWindow() async
  func saveWindows() async
}
