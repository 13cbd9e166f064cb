import Foundation
import XCTest

/// The built app on a desktop, driven by keys.
final class CatalogApp {
  let child: Child
  private let desktop: Desktop

  /// Starts the app in the environment of a desktop, but for what differs from that.
  ///
  /// With `ignoringHangup` it starts as under `nohup`.
  init(
    on desktop: Desktop, ignoringHangup: Bool = false, _ environment: [String: String] = [:]
  ) throws {
    self.desktop = desktop
    let products = Bundle.main.bundleURL
    let app = products.appending(path: "desktop-catalog").path
    let slowDisk = products.appending(path: "libSlowDisk.so").path
    child = try Child(
      ignoringHangup ? ["/bin/sh", "-c", "trap '' HUP; exec \(app)"] : [app],
      environment: desktop.environment.merging(["LD_PRELOAD": slowDisk]) { $1 }
        .merging(environment) { $1 })
  }

  /// Waits until one of its windows has the keyboard.
  func waitForWindow() throws {
    try waitFor("a window; it said \(child.errorLines)") {
      try look("getactivewindow", "getwindowpid") == "\(child.identifier)"
    }
  }

  /// Waits until that many of its windows are there, and the same one has had the keyboard for a
  /// while.
  func waitForWindows(_ count: Int) throws {
    try waitFor("\(count) windows; it said \(child.errorLines)") {
      try look("search", "--onlyvisible", "--pid", "\(child.identifier)", "--name", ".")?
        .split(separator: "\n").count == count
    }
    var (active, since) = (try look("getactivewindow"), Date())
    try waitFor("one window to stay in front") {
      let now = try look("getactivewindow")
      if now != active { (active, since) = (now, Date()) }
      return Date().timeIntervalSince(since) > 0.5
    }
  }

  private func look(_ arguments: String...) throws -> String? {
    try Child.output(of: ["/usr/bin/xdotool"] + arguments, environment: desktop.environment)
  }

  /// Starts the app and types into the search field of its first window.
  convenience init(on desktop: Desktop, searching text: String) throws {
    try self.init(on: desktop)
    try waitForWindow()
    try press(["ctrl+f"] + text.map { "\($0)" })
    try desktop.waitUntilStored([text])
  }

  /// Presses keys, and a moment later does what a shell command says.
  func press(_ keys: [String], then command: [String] = []) throws {
    let result = try Child.output(
      of: ["/usr/bin/xdotool", "key", "--delay", "0"] + keys
        + (command.isEmpty ? [] : ["exec"] + command),
      environment: desktop.environment)
    XCTAssertNotNil(result, "The keys \(keys) could not be pressed.")
  }

  /// What it has complained of.
  var complaints: [String] { child.errorLines.filter { $0.hasPrefix("desktop-catalog:") } }
}
