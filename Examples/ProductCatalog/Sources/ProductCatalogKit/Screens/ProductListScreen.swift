package import CatalogModel
package import Foundation

/// The list of all products, or of those that match a search.
@MainActor package final class ProductListScreen {
  let catalog: Catalog
  package private(set) var selectedProductID: UUID?
  /// The first row in sight.
  ///
  /// Drawing moves it as far as it must to show the selected row.
  package private(set) var scrollOffset = 0
  package private(set) var query = ""
  /// Whether typed characters go to the query.
  package private(set) var isSearching = false

  package init(catalog: Catalog) {
    self.catalog = catalog
    selectedProductID = catalog.products.first?.id
  }

  package var products: [Product] { catalog.products(matching: query) }

  package func selectedRow(in products: [Product]) -> Int? {
    products.firstIndex { $0.id == selectedProductID } ?? products.indices.first
  }

  /// Selects a product, or the first one if that is not in the list.
  package func select(_ id: UUID?) {
    let products = products
    selectedProductID = products.contains { $0.id == id } ? id : products.first?.id
  }

  package func scroll(to offset: Int) {
    scrollOffset = min(max(0, offset), max(0, products.count - 1))
  }

  /// Shows only the products that match a query; an empty one shows them all.
  package func search(for query: String, isTyping: Bool) {
    self.query = query
    isSearching = isTyping
    select(selectedProductID)
    scroll(to: scrollOffset)
  }
}

extension ProductListScreen {
  var showsQuery: Bool { isSearching || !query.isEmpty }

  func window(over products: [Product], size: Size) -> ListWindow {
    ListWindow(count: products.count, rows: max(1, size.rows - (showsQuery ? 1 : 0)))
  }
}
