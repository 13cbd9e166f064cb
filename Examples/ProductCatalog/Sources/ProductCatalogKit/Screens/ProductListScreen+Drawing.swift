import CatalogModel
extension ProductListScreen {
  package func draw(into canvas: inout Canvas) {
    let products = products
    let top = showsQuery ? 1 : 0
    if showsQuery { drawQuery(into: &canvas) }
    guard let selected = selectedRow(in: products) else {
      canvas.draw("No program matches.", at: Position(row: top, column: 2), .dim)
      return
    }
    let window = window(over: products, size: canvas.size)
    let visible = window.visible(from: window.offset(nearest: scrollOffset, showing: selected))
    for row in visible {
      let line = top + row - visible.lowerBound
      draw(products[row], isSelected: row == selected, row: line, into: &canvas)
    }
    let rows = min(top, canvas.size.rows)..<canvas.size.rows
    canvas.scrollBar(rows: rows, offset: visible.lowerBound, count: products.count)
  }

  private func drawQuery(into canvas: inout Canvas) {
    let label = [Span(text: "/ ", style: [.accent, .bold]), Span(text: query)]
    canvas.draw(label, at: Position(row: 0, column: 0))
    guard isSearching, canvas.size.columns > 2 else { return }
    let column = min(2 + query.columns, canvas.size.columns - 1)
    canvas.cursor = Position(row: 0, column: column)
  }

  private func draw(
    _ product: Product, isSelected: Bool, row: Int, into canvas: inout Canvas
  ) {
    let columns = ListColumns(width: canvas.size.columns - 2)
    let style: Style = isSelected ? .reverse : []
    let secondary: Style = isSelected ? .reverse : .dim
    let blank = String(repeating: " ", count: max(0, columns.width))
    canvas.draw(blank, at: Position(row: row, column: 0), style)
    canvas.draw(isSelected ? "▸" : "", at: Position(row: row, column: 0), style)
    let mark = catalog.isEdited(product.id) ? " •" : ""
    let title = product.title.fitting(columns: columns.title.count - mark.columns) + mark
    canvas.draw(
      title, at: Position(row: row, column: columns.title.lowerBound), style,
      before: columns.width)
    for (text, range) in [(product.version, columns.version), (product.section, columns.section)] {
      canvas.draw(
        text.fitting(columns: range.count), at: Position(row: row, column: range.lowerBound),
        secondary, before: columns.width)
    }
  }
}

/// Where a row of the list has its columns.
///
/// Those for which there is no room are empty.
private struct ListColumns {
  let width: Int
  let title: Range<Int>
  let version: Range<Int>
  let section: Range<Int>

  init(width: Int) {
    let end = max(2, width)
    let sectionStart = width >= 34 ? end - 12 : end
    let versionStart = width >= 58 ? sectionStart - 24 : sectionStart
    self.width = width
    title = 2..<max(2, versionStart - (versionStart < end ? 2 : 0))
    version = versionStart..<max(versionStart, sectionStart - 2)
    section = sectionStart..<end
  }
}
