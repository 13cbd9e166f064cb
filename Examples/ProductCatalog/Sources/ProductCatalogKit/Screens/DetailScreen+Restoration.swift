import Foundation
package import RestorationKit

extension DetailScreen: @MainActor RestorableNode {
  private enum Key {
    static let product = "product"
    static let selectedTab = "selectedTab"
    static let scrollOffsets = "scrollOffsets"
  }

  package var restorationIdentifier: String? { "detail" }

  /// Makes the screen of a saved product; nil if the catalog does not have it any more.
  static func restored(in catalog: Catalog, from coder: StateDecoder) throws -> DetailScreen? {
    let id = try coder.decode(UUID.self, forKey: Key.product)
    return catalog.product(id).map { DetailScreen(catalog: catalog, productID: $0.id) }
  }

  package func encodeRestorableState(with coder: StateEncoder) throws {
    coder.encode(productID, forKey: Key.product)
    coder.encode(selectedTab.rawValue, forKey: Key.selectedTab)
    let offsets = pages.map { ($0.tab.rawValue, $0.scrollOffset) }
    coder.encode(Dictionary(uniqueKeysWithValues: offsets), forKey: Key.scrollOffsets)
  }

  /// A tab that is unknown here leaves the first one selected.
  package func decodeRestorableState(with coder: StateDecoder) throws {
    select(DetailTab(rawValue: try coder.decode(forKey: Key.selectedTab)) ?? selectedTab)
    let offsets = try coder.decode([String: Int].self, forKey: Key.scrollOffsets)
    for page in pages { page.scroll(to: offsets[page.tab.rawValue] ?? 0) }
  }
}
