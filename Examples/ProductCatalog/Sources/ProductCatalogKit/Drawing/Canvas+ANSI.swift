extension Canvas {
  /// The escape sequences that turn a terminal showing one canvas into one showing this.
  ///
  /// - Parameter shown: The canvas on the terminal, or nil when what it shows is not known.
  /// - Returns: The text to write to the terminal.
  func ansi(after shown: Canvas?) -> String {
    let known = shown?.size == size ? shown : nil
    var output = "\u{1B}[?25l\u{1B}[0m"
    for row in 0..<size.rows where known.map({ $0.row(row) != self.row(row) }) ?? true {
      output += "\u{1B}[\(row + 1);1H" + ansi(row: row)
    }
    if let cursor {
      output += "\u{1B}[\(cursor.row + 1);\(cursor.column + 1)H\u{1B}[?25h"
    }
    return output
  }

  private func ansi(row: Int) -> String {
    var output = ""
    var style: Style = []
    for cell in self.row(row) {
      guard let character = cell.character else { continue }
      if cell.style != style {
        output += cell.style.ansi
        style = cell.style
      }
      output.append(character)
    }
    return output + (style.isEmpty ? "" : Style().ansi)
  }
}

extension Style {
  private static let codes: [(Style, Int)] = [
    (.bold, 1), (.dim, 2), (.underline, 4), (.reverse, 7), (.accent, 36), (.warning, 33),
  ]

  fileprivate var ansi: String {
    let codes = Self.codes.filter { contains($0.0) }.map { ";\($0.1)" }
    return "\u{1B}[0" + codes.joined() + "m"
  }
}
