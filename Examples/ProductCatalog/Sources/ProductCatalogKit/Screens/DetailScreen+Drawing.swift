import CatalogModel
extension DetailScreen {
  private static let rowsWithRule = 6

  package func draw(into canvas: inout Canvas) {
    drawTabs(into: &canvas)
    if canvas.size.rows >= Self.rowsWithRule { canvas.rule(row: 1) }
    selectedPage?.draw(lines(canvas.size), rows: pageRows(canvas.size), into: &canvas)
  }

  func pageRows(_ size: Size) -> Range<Int> {
    min(size.rows >= Self.rowsWithRule ? 2 : 1, size.rows)..<size.rows
  }

  /// The lines of the selected tab, with room for a scroll bar.
  func lines(_ size: Size) -> [StyledLine] {
    guard let product = catalog.product(productID) else {
      return [[Span(text: "This program is no longer in the catalog.", style: .dim)]]
    }
    return DetailContent(product: product, catalog: catalog, columns: size.columns - 2)
      .lines(of: tab)
  }

  /// Brackets as well as colours, so that the tab is known without colours too.
  private func drawTabs(into canvas: inout Canvas) {
    let tabs = DetailTab.allCases.map { tab in
      tab == self.tab
        ? Span(text: "[\(tab.title)]", style: [.bold, .reverse])
        : Span(text: " \(tab.title) ", style: .dim)
    }
    canvas.draw(tabs, at: Position(row: 0, column: 0))
  }
}
