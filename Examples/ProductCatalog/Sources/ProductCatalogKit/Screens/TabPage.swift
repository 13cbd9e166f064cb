package import CatalogModel
/// What one tab shows, and how far it is scrolled.
@MainActor package final class TabPage {
  package let tab: DetailTab
  /// The first line in sight.
  ///
  /// Drawing moves it back as far as the text is long.
  package private(set) var scrollOffset = 0

  init(tab: DetailTab) {
    self.tab = tab
  }

  package func scroll(to offset: Int) {
    scrollOffset = max(0, offset)
  }

  /// Scrolls by a key.
  ///
  /// - Returns: Whether the key is one that scrolls.
  func scroll(by key: Key, in window: ListWindow) -> Bool {
    let offset = window.clampedOffset(scrollOffset)
    let wanted: Int? =
      switch key {
      case .up: offset - 1
      case .down: offset + 1
      case .pageUp: offset - window.rows
      case .pageDown: offset + window.rows
      case .home: 0
      case .end: window.count
      default: nil
      }
    guard let wanted else { return false }
    scroll(to: window.clampedOffset(wanted))
    return true
  }

  func draw(_ lines: [StyledLine], rows: Range<Int>, into canvas: inout Canvas) {
    let window = ListWindow(count: lines.count, rows: rows.count)
    let visible = window.visible(from: scrollOffset)
    for (row, line) in zip(rows, lines[visible]) {
      canvas.draw(line, at: Position(row: row, column: 0), before: canvas.size.columns - 2)
    }
    canvas.scrollBar(rows: rows, offset: visible.lowerBound, count: lines.count)
  }
}
