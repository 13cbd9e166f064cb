package import Foundation

/// The built app on a desktop.
package final class CatalogApp {
  /// Where the build puts programs and libraries.
  package static let products = Bundle.main.bundleURL

  package let child: Child
  package let desktop: Desktop
  package let arguments: [String]

  /// Starts the app without waiting for its window.
  ///
  /// The environment is the desktop's, with other variables; nil takes one away. A launcher is a
  /// command that becomes the app, as `nohup`.
  package init(
    on desktop: Desktop, _ arguments: [String] = [], changing changes: [String: String?] = [:],
    by launcher: [String] = []
  ) throws {
    self.desktop = desktop
    self.arguments = arguments
    let executable = Self.products.appending(path: "desktop-catalog").path
    child = try desktop.child(launcher + [executable] + arguments, changing: changes)
  }

  /// Sends a signal, which no app could prepare for if it is SIGKILL, and waits for the end.
  ///
  /// - Returns: How the app has ended, which it may have done by itself.
  @discardableResult
  package func kill(_ signal: Int32 = SIGKILL) throws -> Child.Ending {
    child.send(signal)
    return try child.ending()
  }

  /// What the app has said on standard error, without what GTK says.
  package var sentences: [String] {
    get throws { try child.errorLines.filter { $0.hasPrefix("desktop-catalog: ") } }
  }

  /// Waits until a window of the app has the keyboard.
  package func waitForWindow() throws {
    try waitFor("a window of the app. It says: \(try child.errorLines)") {
      guard child.isRunning else { throw HasEnded(errorLines: try child.errorLines) }
      return desktop.xdotool("getactivewindow", "getwindowpid") == "\(child.identifier)"
    }
  }

  private struct HasEnded: Error {
    let errorLines: [String]
  }

  /// The numbers that the server has given to the windows.
  package var windows: [String] {
    (desktop.xdotool("search", "--onlyvisible", "--pid", "\(child.identifier)") ?? "")
      .split(separator: "\n").map(String.init)
  }
}
