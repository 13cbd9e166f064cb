import Foundation

/// A file with a line of JSON for every screen the user saw, written the moment it is shown.
@MainActor package final class ScreenLog {
  private struct Entry: Encodable {
    let t: Double
    let screen: String
  }

  private let file: OutputDescriptor
  private let encoder = JSONEncoder()
  private var last: String?

  /// Opens the file to append to it; nil if that is not possible.
  package init?(path: String) {
    guard let file = OutputDescriptor.appending(to: path) else { return nil }
    self.file = file
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  }

  /// Adds a screen unless its text is that of the screen before.
  ///
  /// A log that cannot be written is no reason to end the program.
  func append(_ canvas: Canvas) {
    let screen = canvas.plainText
    guard screen != last else { return }
    last = screen
    let entry = Entry(t: Date().timeIntervalSince1970, screen: screen)
    guard let line = try? encoder.encode(entry) else { return }
    file.write(String(decoding: line, as: UTF8.self) + "\n")
  }
}
