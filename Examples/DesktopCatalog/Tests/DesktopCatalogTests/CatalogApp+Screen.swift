import DesktopTestSupport
import Foundation
import XCTest

/// What is seen of the app, and what is done to it by keys.
extension CatalogApp {
  /// Waits until a window of the app has the keyboard, nobody has anything to do, nothing moves,
  /// and all is stored.
  @discardableResult
  func settled() throws -> Screenshot {
    try waitForWindow()
    if !arguments.contains("--forgetful") {
      try waitFor("a stored state") { !desktop.windowFiles.isEmpty }
    }
    // On a busy machine an app stands still before it has drawn its window.
    var wakes = 0
    // Longer than saves are apart.
    return try waitUntilStill("the screen and the state", for: 0.6) {
      if !child.isAsleep || !desktop.isAsleep { wakes += 1 }
      return Moment(screen: try desktop.screen(), state: desktop.stateVersion, wakes: wakes)
    }.screen
  }

  private struct Moment: Equatable {
    let screen: Screenshot
    let state: [String]
    let wakes: Int
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
    try waitFor("a change on the screen after \(command)") { try desktop.screen() != before }
    try settled()
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
    try waitFor("the last app's windows to go") { try screen().isBare }
    let app = try CatalogApp(on: self, arguments, changing: changes)
    try app.settled()
    return app
  }

  /// What is on the screen now.
  func screen() throws -> Screenshot { try Screenshot(contentsOf: framebuffer) }

  /// The title of the window that has the keyboard; nil if there is none.
  var activeTitle: String? { xdotool("getactivewindow", "getwindowname") }

  /// Changes whenever anything is stored anew.
  var stateVersion: [String] {
    // The file of the lock also says that a launch has begun and ended.
    storedNames.filter { !$0.hasPrefix(".") }.map { name in
      let facts = try? FileManager.default.attributesOfItem(
        atPath: stateDirectory.appending(path: name).path)
      let date = facts?[.modificationDate] as? Date
      return "\(name) \(facts?[.systemFileNumber] ?? 0) \(date?.timeIntervalSince1970 ?? 0)"
    }
  }

  /// A copy of the state.
  func copyOfState() throws -> URL {
    let copy = newFile()
    try FileManager.default.copyItem(at: stateDirectory, to: copy)
    return copy
  }

  /// Makes the state what it was when it was copied.
  func putBack(_ copy: URL) throws {
    try FileManager.default.removeItem(at: stateDirectory)
    try FileManager.default.copyItem(at: copy, to: stateDirectory)
  }
}
