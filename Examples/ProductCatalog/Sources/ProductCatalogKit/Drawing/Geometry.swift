/// The extent of a screen or of a part of one, in terminal cells.
package struct Size: Hashable, Sendable {
  package var columns: Int
  package var rows: Int

  package init(columns: Int, rows: Int) {
    self.columns = columns
    self.rows = rows
  }

  func insetBy(columns: Int, rows: Int) -> Size {
    Size(columns: max(0, self.columns - 2 * columns), rows: max(0, self.rows - 2 * rows))
  }
}

extension Size {
  private static let accepted = 1...1000

  /// Reads a size written as `80x24`.
  package init?(_ text: some StringProtocol) {
    let numbers = text.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
    guard numbers.count == 2, let columns = numbers[0], let rows = numbers[1],
      Self.accepted.contains(columns), Self.accepted.contains(rows)
    else { return nil }
    self.init(columns: columns, rows: rows)
  }
}

/// A place on a screen, counted from its top left cell.
package struct Position: Hashable, Sendable {
  package var row: Int
  package var column: Int

  package init(row: Int, column: Int) {
    self.row = row
    self.column = column
  }
}
