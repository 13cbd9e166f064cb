extension EditField {
  /// The text in sight and the cursor.
  ///
  /// The lines in sight follow from the cursor alone.
  func drawing(size: Size, isActive: Bool) -> Canvas {
    var canvas = Canvas(size: size)
    guard size.rows > 0, size.columns > 0 else { return canvas }
    let layout = layout(columns: size.columns)
    let cursor = layout.position(ofOffset: buffer.cursor)
    let hiddenRows = max(0, cursor.row - size.rows + 1)
    let hiddenColumns = isMultiline ? 0 : max(0, cursor.column - size.columns + 1)
    for (row, line) in layout.texts.dropFirst(hiddenRows).prefix(size.rows).enumerated() {
      canvas.draw(line.dropping(columns: hiddenColumns), at: Position(row: row, column: 0))
    }
    if isActive {
      canvas.cursor = Position(
        row: cursor.row - hiddenRows,
        column: min(cursor.column - hiddenColumns, size.columns - 1))
    }
    return canvas
  }

  /// Where the cursor is, in words.
  func place(columns: Int) -> String {
    let cursor = layout(columns: columns).position(ofOffset: buffer.cursor)
    return isMultiline
      ? "line \(cursor.row + 1), column \(cursor.column + 1)" : "column \(cursor.column + 1)"
  }
}

extension String {
  /// The text without its first columns; a space stands for half a wide character.
  fileprivate func dropping(columns: Int) -> String {
    var left = columns
    let rest = drop { character in
      guard left > 0 else { return false }
      left -= character.columns
      return true
    }
    return String(repeating: " ", count: max(0, -left)) + rest
  }
}
