/// Text with a cursor in it, counted in characters as a reader sees them.
package struct TextBuffer: Hashable, Sendable {
  package private(set) var characters: [Character]
  /// Where the next character goes: from 0, before the first, to the number of characters.
  package private(set) var cursor: Int

  /// Makes a buffer.
  ///
  /// A cursor outside the text is moved to its nearer end.
  package init(_ text: String, cursor: Int? = nil) {
    characters = Array(text)
    self.cursor = min(max(0, cursor ?? characters.count), characters.count)
  }

  package var text: String { String(characters) }

  package mutating func moveCursor(to offset: Int) {
    cursor = min(max(0, offset), characters.count)
  }

  package mutating func moveCursor(by distance: Int) {
    moveCursor(to: cursor + distance)
  }

  /// Puts text before the cursor.
  ///
  /// A combining mark joins the character it follows.
  package mutating func insert(_ text: String) {
    let before = String(characters[..<cursor]) + text
    let after = String(characters[cursor...])
    self = TextBuffer(before + after, cursor: before.count)
  }

  package mutating func deleteBackward() {
    guard cursor > 0 else { return }
    remove(at: cursor - 1)
  }

  package mutating func deleteForward() {
    guard cursor < characters.count else { return }
    remove(at: cursor)
  }

  /// What stood on either side may join into one character, so the text is taken apart again.
  private mutating func remove(at offset: Int) {
    let before = String(characters[..<offset])
    self = TextBuffer(before + String(characters[(offset + 1)...]), cursor: before.count)
  }
}
