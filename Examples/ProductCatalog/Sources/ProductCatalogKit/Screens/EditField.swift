/// A text that is being edited, and the cursor in it.
@MainActor package final class EditField {
  package let name: String
  package let isMultiline: Bool
  package private(set) var buffer: TextBuffer
  /// Where up and down aim, so that a short line on the way does not change the column.
  private var preferredColumn: Int?

  init(name: String, text: String, isMultiline: Bool) {
    self.name = name
    self.isMultiline = isMultiline
    buffer = TextBuffer(text)
  }

  /// Puts other text in the field.
  ///
  /// A cursor outside it is moved to its nearer end.
  package func replace(with text: String, cursor: Int) {
    buffer = TextBuffer(text, cursor: cursor)
    preferredColumn = nil
  }

  /// One column is kept free for a cursor after the last character.
  func layout(columns: Int) -> TextLayout {
    TextLayout(buffer.characters, columns: isMultiline ? columns - 1 : Int.max)
  }

  /// Changes the text or moves the cursor.
  ///
  /// - Returns: Whether the key means anything in this field.
  func handle(_ key: Key, columns: Int) -> Bool {
    if isMultiline, let offset = offsetByLine(key, columns: columns) {
      buffer.moveCursor(to: offset)
      return true
    }
    guard let changed = edited(by: key, columns: columns) else { return false }
    buffer = changed
    preferredColumn = nil
    return true
  }

  private func edited(by key: Key, columns: Int) -> TextBuffer? {
    var buffer = buffer
    switch key {
    case .text(let text): buffer.insert(text)
    case .enter where isMultiline: buffer.insert("\n")
    case .backspace: buffer.deleteBackward()
    case .delete: buffer.deleteForward()
    case .left: buffer.moveCursor(by: -1)
    case .right: buffer.moveCursor(by: 1)
    case .home:
      buffer.moveCursor(to: layout(columns: columns).startOffset(ofLineAt: buffer.cursor))
    case .end: buffer.moveCursor(to: layout(columns: columns).endOffset(ofLineAt: buffer.cursor))
    default: return nil
    }
    return buffer
  }

  /// Where up and down lead; nil where there is no further line.
  private func offsetByLine(_ key: Key, columns: Int) -> Int? {
    guard key == .up || key == .down else { return nil }
    let layout = layout(columns: columns)
    let position = layout.position(ofOffset: buffer.cursor)
    let row = position.row + (key == .up ? -1 : 1)
    guard layout.lines.indices.contains(row) else { return nil }
    let column = preferredColumn ?? position.column
    preferredColumn = column
    return layout.offset(at: Position(row: row, column: column))
  }
}
