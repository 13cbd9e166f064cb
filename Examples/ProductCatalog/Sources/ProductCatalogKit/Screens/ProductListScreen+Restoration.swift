package import Foundation
package import RestorationKit

/// The rows stand for products, which come and go between two launches; so what is selected and
/// where the list was is told by the identifiers of the products.
extension ProductListScreen: @MainActor RestorableNode, @MainActor RestorableList {
  private enum Key {
    static let query = "query"
    static let isSearching = "isSearching"
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

  package func encodeRestorableState(with coder: StateEncoder) throws {
    coder.encode(query, forKey: Key.query)
    coder.encode(isSearching, forKey: Key.isSearching)
  }

  /// The rows follow, which are those of the products that match the query.
  package func decodeRestorableState(with coder: StateDecoder) throws {
    search(
      for: try coder.decode(forKey: Key.query),
      isTyping: try coder.decode(forKey: Key.isSearching))
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
