/// The part of a list that is in sight.
package struct ListWindow: Hashable, Sendable {
  package let count: Int
  package let rows: Int

  package init(count: Int, rows: Int) {
    self.count = count
    self.rows = rows
  }

  package func clampedRow(_ row: Int) -> Int {
    min(max(0, row), max(0, count - 1))
  }

  package func clampedOffset(_ offset: Int) -> Int {
    min(max(0, offset), max(0, count - rows))
  }

  /// The offset nearest to the one wanted at which a row is in sight.
  package func offset(nearest wanted: Int, showing row: Int?) -> Int {
    let offset = clampedOffset(wanted)
    guard let row, rows > 0 else { return offset }
    return min(max(offset, row - rows + 1), row)
  }

  /// The rows in sight from an offset on.
  package func visible(from offset: Int) -> Range<Int> {
    let start = clampedOffset(offset)
    return start..<min(count, start + max(0, rows))
  }
}
