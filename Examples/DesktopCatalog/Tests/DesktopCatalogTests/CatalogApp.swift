import Foundation
import XCTest

/// The built app on a desktop, with its window in front.
final class CatalogApp {
  private let process: Child
  private let desktop: Desktop
  private let errors: URL
  private let isForgetful: Bool

  /// Starts the app without waiting for its window.
  init(on desktop: Desktop, _ arguments: [String], changing changes: [String: String?]) throws {
    self.desktop = desktop
    isForgetful = arguments.contains("--forgetful")
    errors = desktop.newFile()
    let executable = Bundle.main.bundleURL.appending(path: "desktop-catalog").path
    process = try desktop.child([executable] + arguments, changing: changes, errors: errors)
  }

  /// Ends the app as nothing it could prepare for does.
  ///
  /// - Returns: How it has ended, which it may have done by itself.
  @discardableResult
  func kill() throws -> Child.Ending {
    process.send(SIGKILL)
    return try process.ending()
  }

  var isRunning: Bool { process.isRunning }

  /// Waits for the end.
  func ending() throws -> Child.Ending { try process.ending() }

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
        == "\(process.identifier)"
    }
    if !isForgetful { try wait(for: "a stored state") { !desktop.windowFiles.isEmpty } }
    // Longer than saves are apart.
    return try waitUntilStill("the screen and the state", for: 0.6) {
      Moment(screen: try desktop.screen(), state: desktop.stateVersion)
    }.screen
  }

  private struct Moment: Equatable {
    let screen: Screenshot
    let state: [String]
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

  /// The numbers that the server has given to the windows.
  var windows: [String] {
    (desktop.xdotool("search", "--onlyvisible", "--pid", "\(process.identifier)") ?? "")
      .split(separator: "\n").map(String.init)
  }

  var titles: [String] { windows.compactMap { desktop.xdotool("getwindowname", $0) } }

  /// The pictures of the windows, by their titles; no window may cover another one.
  var pictures: [String: Data] {
    get throws {
      try windows.reduce(into: [:]) { pictures, number in
        let file = desktop.newFile().appendingPathExtension("ppm")
        XCTAssertNotNil(desktop.output(of: ["import", "-window", number, file.path]))
        let title = try XCTUnwrap(desktop.xdotool("getwindowname", number))
        pictures[title] = try Data(contentsOf: file)
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
