/// Where each window is on the terminal.
package struct WindowLayout {
  private static let smallest = Size(columns: 38, rows: 8)

  let size: Size
  let count: Int

  package init(size: Size, count: Int) {
    self.size = size
    self.count = count
  }

  /// The areas, in order: side by side, or one below the other where that is too narrow; nil if
  /// there is room for one window only.
  package var areas: [(origin: Position, size: Size)]? {
    guard count > 1 else { return [(Position(row: 0, column: 0), size)] }
    if size.columns / count >= Self.smallest.columns {
      return parts(of: size.columns).map {
        (Position(row: 0, column: $0.lowerBound), Size(columns: $0.count, rows: size.rows))
      }
    }
    guard size.rows / count >= Self.smallest.rows else { return nil }
    return parts(of: size.rows).map {
      (Position(row: $0.lowerBound, column: 0), Size(columns: size.columns, rows: $0.count))
    }
  }

  private func parts(of length: Int) -> [Range<Int>] {
    (0..<count).map { (length * $0 / count)..<(length * ($0 + 1) / count) }
  }
}
