import Foundation
import XCTest

/// The built app on a desktop, with its window in front.
final class CatalogApp {
  private let process: Process
  private let desktop: Desktop
  private let errors: URL
  private let isForgetful: Bool

  /// Starts the app without waiting for its window.
  init(on desktop: Desktop, _ arguments: [String], changing changes: [String: String?]) throws {
    self.desktop = desktop
    isForgetful = arguments.contains("--forgetful")
    errors = desktop.directory.appending(path: UUID().uuidString)
    try Data().write(to: errors)
    let executable = Bundle.main.bundleURL.appending(path: "desktop-catalog").path
    process = try desktop.process([executable] + arguments, changing: changes)
    process.standardError = try FileHandle(forWritingTo: errors)
    try process.run()
  }

  deinit {
    if process.isRunning { kill() }
  }

  /// Ends the app as nothing it could prepare for does.
  func kill() {
    send(SIGKILL)
    process.waitUntilExit()
  }

  func send(_ signal: Int32) { Glibc.kill(process.processIdentifier, signal) }

  var isRunning: Bool { process.isRunning }

  var wasKilled: Bool {
    process.terminationReason == .uncaughtSignal && process.terminationStatus == SIGKILL
  }

  /// Waits for the end.
  ///
  /// - Returns: The exit status.
  func end() throws -> Int32 {
    try wait(for: "the end of the app") { !process.isRunning }
    return process.terminationStatus
  }

  /// What the app has said on standard error, without what GTK says.
  var sentences: [String] {
    get throws {
      String(decoding: try Data(contentsOf: errors), as: UTF8.self).split(separator: "\n")
        .filter { $0.hasPrefix("desktop-catalog: ") }.map(String.init)
    }
  }

  // MARK: What is seen

  /// Waits until a window of the app has the keyboard, nothing moves, and all is stored.
  @discardableResult
  func settled() throws -> Screenshot {
    try wait(for: "a window of the app. It says: \(try sentences)") {
      guard process.isRunning else { throw HasEnded(sentences: try sentences) }
      return desktop.xdotool("getactivewindow", "getwindowpid")
        == "\(process.processIdentifier)"
    }
    if !isForgetful { try wait(for: "a stored state") { !desktop.windowFiles.isEmpty } }
    _ = try desktop.settledScreen()
    // Longer than saves are apart.
    try waitUntilStill("the state", for: 0.5) { desktop.stateVersion }
    return try desktop.settledScreen()
  }

  private struct HasEnded: Error {
    let sentences: [String]
  }

  /// Presses keys, and waits until what they change is to be seen and stored.
  func press(_ keys: String...) throws { try press(keys) }

  /// Presses a key many times.
  func press(_ key: String, times: Int) throws {
    try press(Array(repeating: key, count: times))
  }

  private func press(_ keys: [String]) throws { try change(["key", "--delay", "20"] + keys) }

  /// Types words.
  func type(_ words: String) throws { try change(["type", "--delay", "20", words]) }

  /// Does something that changes the screen.
  func change(_ command: [String]) throws {
    let before = try desktop.screen()
    XCTAssertNotNil(desktop.output(of: ["xdotool"] + command), "xdotool \(command)")
    try wait(for: "a change on the screen after \(command)") { try desktop.screen() != before }
    try settled()
  }

  // MARK: Windows

  /// The numbers of the windows, by their titles.
  var windows: [String: String] {
    let numbers =
      desktop.xdotool("search", "--onlyvisible", "--pid", "\(process.processIdentifier)") ?? ""
    return numbers.split(separator: "\n").map(String.init).reduce(into: [:]) {
      $0[desktop.xdotool("getwindowname", $1) ?? "no title"] = $1
    }
  }

  /// The pictures of the windows, by their titles; no window may cover another one.
  var pictures: [String: Data] {
    get throws {
      try windows.mapValues { number in
        let file = desktop.directory.appending(path: "\(UUID().uuidString).ppm")
        XCTAssertNotNil(desktop.output(of: ["import", "-window", number, file.path]))
        return try Data(contentsOf: file)
      }
    }
  }
}

extension Desktop {
  /// Starts the app and waits for its window.
  func launch(_ arguments: String..., changing changes: [String: String?] = [:]) throws
    -> CatalogApp
  {
    if let bare { try wait(for: "the last app's windows to go") { try screen() == bare } }
    let app = try CatalogApp(on: self, arguments, changing: changes)
    try app.settled()
    return app
  }
}
