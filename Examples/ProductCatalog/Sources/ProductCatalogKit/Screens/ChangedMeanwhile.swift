import CatalogModel

/// The words that others have saved during an edit, and the keys that say what becomes of both texts.
struct ChangedMeanwhile {
  private static let heading = "Changed meanwhile. Others have saved:"
  /// No letter is among them: letters go to the text, which can be edited all the time.
  private static let answers = "Ctrl-K saves mine, Ctrl-T takes theirs, Ctrl-B edits both."
  /// A screen of fewer rows has no room for both texts.
  private static let fewestRows = 7

  let theirs: ProductEdit
  private let columns: Int
  private let words: [StyledLine]
  private let heading: [StyledLine]
  private let answers: [StyledLine]

  init(_ theirs: ProductEdit, columns: Int) {
    func lines(_ text: String, _ style: Style) -> [StyledLine] {
      TextLayout(text, columns: columns).texts.map { [Span(text: $0, style: style)] }
    }
    let isNarrow = Self.answers.columns > columns
    self.theirs = theirs
    self.columns = columns
    heading = lines(Self.heading, .warning)
    words = lines(theirs.title, .bold) + lines(theirs.description, [])
    answers = lines(
      isNarrow ? Self.answers.replacing("Ctrl-", with: "^") : Self.answers, .warning)
  }

  /// How many of the rows of a screen it takes: no more than half of them if that is room for two lines
  /// of the words.
  func rows(of rows: Int) -> Int {
    guard rows >= Self.fewestRows else { return rows }
    let others = heading.count + answers.count
    return min(others + words.count, max(others + 2, rows / 2), rows - 2)
  }

  /// Draws as much as there is room for.
  ///
  /// - Returns: Whether any of the words are to be seen.
  func draw(into canvas: inout Canvas, rows: Range<Int>) -> Bool {
    let room = max(0, rows.count - answers.count)
    var above = (room > heading.count ? heading : []) + words
    if above.count > room {
      above = Array(above.prefix(room))
      if let last = above.popLast() {
        above.append(
          last.map { Span(text: ($0.text + " …").fitting(columns: columns), style: $0.style) })
      }
    }
    for (row, line) in zip(rows, above + answers) {
      canvas.draw(line, at: Position(row: row, column: 0))
    }
    return room > 0
  }
}
