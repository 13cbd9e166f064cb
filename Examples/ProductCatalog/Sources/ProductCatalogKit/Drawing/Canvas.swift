/// A grid of cells on which a screen is drawn, and where the cursor stands, if anywhere.
package struct Canvas: Hashable, Sendable {
  struct Cell: Hashable, Sendable {
    /// Nothing in the right half of a character two columns wide.
    var character: Character? = " "
    var style: Style = []
  }

  package let size: Size
  package var cursor: Position?
  private var cells: [Cell]

  package init(size: Size) {
    self.size = Size(columns: max(0, size.columns), rows: max(0, size.rows))
    cells = Array(repeating: Cell(), count: self.size.columns * self.size.rows)
  }

  func row(_ row: Int) -> ArraySlice<Cell> {
    cells[(row * size.columns)..<((row + 1) * size.columns)]
  }

  /// Draws as many characters as fit between a position and a column.
  ///
  /// - Returns: The column after the last character drawn.
  @discardableResult
  mutating func draw(
    _ text: some StringProtocol, at position: Position, _ style: Style = [],
    before limit: Int? = nil
  ) -> Int {
    guard (0..<size.rows).contains(position.row), position.column >= 0 else {
      return position.column
    }
    let end = min(limit ?? size.columns, size.columns)
    var column = position.column
    for character in text.map(\.drawn) {
      guard column + character.columns <= end else { break }
      put(character, style, at: Position(row: position.row, column: column))
      column += character.columns
    }
    return column
  }

  /// Draws another canvas on this one, with its cursor.
  mutating func place(_ part: Canvas, at origin: Position) {
    for row in 0..<part.size.rows where (0..<size.rows).contains(origin.row + row) {
      for (column, cell) in part.row(row).enumerated()
      where (0..<size.columns).contains(origin.column + column) {
        cells[(origin.row + row) * size.columns + origin.column + column] = cell
      }
    }
    cursor = part.cursor.map {
      Position(row: origin.row + $0.row, column: origin.column + $0.column)
    }
  }

  private mutating func put(_ character: Character, _ style: Style, at position: Position) {
    let index = position.row * size.columns + position.column
    cells[index] = Cell(character: character, style: style)
    guard character.columns == 2 else { return }
    cells[index + 1] = Cell(character: nil, style: style)
  }
}
