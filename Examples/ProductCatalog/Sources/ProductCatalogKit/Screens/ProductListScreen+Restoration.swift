import Foundation
package import RestorationKit

extension ProductListScreen: @MainActor RestorableNode {
  private enum Key {
    static let query = "query"
    static let isSearching = "isSearching"
    static let selectedProduct = "selectedProduct"
    static let scrollOffset = "scrollOffset"
  }

  package var restorationIdentifier: String? { "list" }

  package func encodeRestorableState(with coder: StateEncoder) throws {
    coder.encode(query, forKey: Key.query)
    coder.encode(isSearching, forKey: Key.isSearching)
    // The identifier, not the row: products come and go between two launches.
    coder.encode(selectedProductID, forKey: Key.selectedProduct)
    coder.encode(scrollOffset, forKey: Key.scrollOffset)
  }

  /// The query comes first, because the rest is clamped to the products that match it.
  package func decodeRestorableState(with coder: StateDecoder) throws {
    search(
      for: try coder.decode(forKey: Key.query),
      isTyping: try coder.decode(forKey: Key.isSearching))
    select(try coder.decodeIfPresent(UUID.self, forKey: Key.selectedProduct))
    scroll(to: try coder.decode(forKey: Key.scrollOffset))
  }
}
