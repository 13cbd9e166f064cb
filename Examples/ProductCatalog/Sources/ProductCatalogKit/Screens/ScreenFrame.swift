/// Draws a navigation stack: where you are and the top screen, and room for a line below it.
///
/// There is a box around the screen unless the terminal is too small for one.
@MainActor package struct ScreenFrame {
  private static let smallestBoxed = Size(columns: 40, rows: 9)
  private static let smallestPath = 16

  let size: Size
  private let isFocused: Bool

  package init(size: Size, isFocused: Bool = true) {
    self.size = size
    self.isFocused = isFocused
  }

  private var isBoxed: Bool {
    size.columns >= Self.smallestBoxed.columns && size.rows >= Self.smallestBoxed.rows
  }

  /// The part of the terminal that belongs to the screen.
  var bodySize: Size {
    isBoxed
      ? Size(columns: size.columns - 4, rows: size.rows - 3)
      : Size(columns: max(0, size.columns), rows: max(0, size.rows - 2))
  }

  /// Where the line below the screen starts.
  func belowBody(from origin: Position) -> Position {
    Position(row: origin.row + size.rows - 1, column: isBoxed ? 1 : 0)
  }

  package func draw(_ navigation: NavigationStack, notice: String? = nil) -> Canvas {
    var body = Canvas(size: bodySize)
    navigation.top.draw(into: &body)
    var canvas = Canvas(size: size)
    if isBoxed { canvas.box(rows: 0..<(size.rows - 1)) }
    canvas.place(body, at: Position(row: 1, column: isBoxed ? 2 : 0))
    drawHeader(of: navigation, into: &canvas)
    if !isFocused { canvas.cursor = nil }
    if let notice { canvas.coverLastRows(with: notice, from: 1) }
    return canvas
  }

  private func drawHeader(of navigation: NavigationStack, into canvas: inout Canvas) {
    let margin = isBoxed ? 2 : 0
    let available = size.columns - 2 * margin
    let note = shownNote(navigation.top.note, columns: available)
    let noteColumns = note.text.isEmpty ? 0 : note.text.columns + 2
    let pathColumns = available - noteColumns - (isBoxed ? 3 : 0)
    let path = Self.path(navigation.screens.map(\.title), columns: pathColumns)
    canvas.draw(
      isBoxed ? " \(path) " : path, at: Position(row: 0, column: margin), isFocused ? .bold : .dim)
    let noteStart = Position(row: 0, column: size.columns - margin - noteColumns)
    canvas.draw(note.text.isEmpty ? "" : " \(note.text) ", at: noteStart, note.style)
  }

  /// The note, or its mark where the note would leave too little room for the path.
  private func shownNote(_ note: Note?, columns: Int) -> Note {
    guard var note else { return Note(text: "") }
    if note.text.columns + Self.smallestPath > columns { note.text = note.mark }
    return note
  }

  /// The titles with signs between them; the first ones give way where there is no room.
  private static func path(_ titles: [String], columns limit: Int) -> String {
    for dropped in 0..<titles.count {
      let kept = (dropped > 0 ? ["…"] : []) + titles.dropFirst(dropped)
      let path = kept.joined(separator: " › ")
      if path.columns <= limit { return path }
    }
    return (titles.last ?? "").fitting(columns: limit)
  }
}
