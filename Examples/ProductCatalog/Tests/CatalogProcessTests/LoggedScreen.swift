import Foundation

/// A line of the screen log.
struct LoggedScreen: Decodable, Hashable {
  let screen: String
  /// When it was shown, in seconds since 1970.
  let t: Double

  /// Reads a log; a last line that was cut off by the end of the process does not count.
  static func all(in log: URL) throws -> [LoggedScreen] {
    guard FileManager.default.fileExists(atPath: log.path) else { return [] }
    let lines = try Data(contentsOf: log).split(separator: UInt8(ascii: "\n"))
    return lines.compactMap { try? JSONDecoder().decode(LoggedScreen.self, from: $0) }
  }

  /// Those of a log that were still on screen at a time, or came after it.
  static func since(_ time: Double, in log: [LoggedScreen]) -> [LoggedScreen] {
    let ends = log.dropFirst().map(\.t) + [.infinity]
    return zip(log, ends).filter { $1 >= time }.map(\.0)
  }
}

extension LoggedScreen {
  /// The two windows of a screen that stand side by side, without the line of keys.
  static func panes(of screen: String) -> [String] {
    var panes = ["", ""]
    for line in screen.split(separator: "\n").dropLast() {
      // Nowhere else do two borders touch.
      guard let seam = ["││", "╮╭", "╯╰"].lazy.compactMap({ line.firstRange(of: $0) }).first else {
        return [screen]
      }
      let middle = line.index(after: seam.lowerBound)
      panes[0] += line[..<middle] + "\n"
      panes[1] += line[middle...] + "\n"
    }
    return panes
  }
}
