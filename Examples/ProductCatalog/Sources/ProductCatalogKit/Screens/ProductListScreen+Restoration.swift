import CatalogModel
package import Foundation
package import RestorationKit

/// The rows stand for products, which come and go between two launches; so what is selected and
/// where the list was is told by the identifiers of the products.
extension ProductListScreen:
  @MainActor StatefulNode, @MainActor RestorableList
{
  package struct State: Codable {
    var query: String
    var isSearching: Bool
  }

  package var restorationIdentifier: String? { "list" }

  package var selectedIndexPaths: [IndexPath] {
    get { products.firstIndex { $0.id == selectedProductID }.map { [IndexPath(index: $0)] } ?? [] }
    set { if let row = newValue.first?.first { select(products[row].id) } }
  }

  package var firstVisibleIndexPath: IndexPath? {
    get { products.indices.contains(scrollOffset) ? IndexPath(index: scrollOffset) : nil }
    set { if let row = newValue?.first { scroll(to: row) } }
  }

  package var modelAssociation: (any DataSourceModelAssociation)? { self }

  package func hasElement(at indexPath: IndexPath) -> Bool {
    indexPath.count == 1 && products.indices.contains(indexPath[0])
  }

  /// The rows follow, which are those of the products that match the query.
  package var restorableState: State {
    get { State(query: query, isSearching: isSearching) }
    set { search(for: newValue.query, isTyping: newValue.isSearching) }
  }
}

extension ProductListScreen: @MainActor DataSourceModelAssociation {
  package func modelIdentifierForElement(
    at indexPath: IndexPath, in list: any RestorableList
  ) -> String? {
    hasElement(at: indexPath) ? products[indexPath[0]].id.uuidString : nil
  }

  package func indexPathForElement(
    withModelIdentifier identifier: String, in list: any RestorableList
  ) -> IndexPath? {
    products.firstIndex { $0.id.uuidString == identifier }.map { IndexPath(index: $0) }
  }
}
