extension Canvas {
  mutating func draw(_ line: StyledLine, at position: Position, before limit: Int? = nil) {
    var column = position.column
    for span in line {
      let start = Position(row: position.row, column: column)
      column = draw(span.text, at: start, span.style, before: limit)
    }
  }

  mutating func fill(row: Int, _ style: Style) {
    draw(String(repeating: " ", count: size.columns), at: Position(row: row, column: 0), style)
  }

  /// Covers the last rows with a message, as many as it takes but none before the first one given.
  mutating func coverLastRows(with message: String, from firstRow: Int = 0) {
    let lines = TextLayout(message, columns: size.columns).texts
    let first = max(firstRow, size.rows - lines.count)
    for (row, line) in zip(first..<max(first, size.rows), lines) {
      fill(row: row, .warning)
      draw(line, at: Position(row: row, column: 0), .warning)
    }
  }

  mutating func rule(row: Int, _ style: Style = .dim) {
    draw(String(repeating: "─", count: size.columns), at: Position(row: row, column: 0), style)
  }

  /// Draws a box of the canvas's width.
  ///
  /// It needs two rows and two columns.
  mutating func box(rows: Range<Int>, _ style: Style = .dim) {
    guard rows.count >= 2, size.columns >= 2 else { return }
    let line = String(repeating: "─", count: size.columns - 2)
    draw("╭\(line)╮", at: Position(row: rows.lowerBound, column: 0), style)
    for row in rows.dropFirst().dropLast() {
      draw("│", at: Position(row: row, column: 0), style)
      draw("│", at: Position(row: row, column: size.columns - 1), style)
    }
    draw("╰\(line)╯", at: Position(row: rows.upperBound - 1, column: 0), style)
  }

  /// Draws a scroll bar in the last column, unless everything is in sight.
  mutating func scrollBar(rows: Range<Int>, offset: Int, count: Int) {
    guard count > rows.count, !rows.isEmpty, offset >= 0 else { return }
    let length = max(1, rows.count * rows.count / count)
    let start = (rows.count - length) * offset / (count - rows.count)
    for row in 0..<rows.count {
      let isThumb = (start..<(start + length)).contains(row)
      let position = Position(row: rows.lowerBound + row, column: size.columns - 1)
      draw(isThumb ? "┃" : "│", at: position, isThumb ? .accent : .dim)
    }
  }
}
