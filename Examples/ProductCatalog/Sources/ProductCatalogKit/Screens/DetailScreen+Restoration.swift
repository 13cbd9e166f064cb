import CatalogModel
import Foundation
package import RestorationKit

extension DetailScreen: @MainActor RestorableNode, @MainActor RestorableTabs {
  private static let productKey = "product"
  private static let typedKey = "hasTypedWords"

  package var restorationIdentifier: String? { "detail" }

  package var restorationChildren: [any RestorableNode] { pages }

  package var selectedTab: (any RestorableNode)? {
    get { selectedPage }
    set { if let page = newValue as? TabPage { select(page.tab) } }
  }

  /// Makes the screen of a saved product; nil if the catalog does not have it any more, unless words
  /// were typed in the editor on it.
  static func restored(in catalog: Catalog, from coder: StateDecoder) throws -> DetailScreen? {
    let id = try coder.decode(UUID.self, forKey: productKey)
    let isNeeded = try coder.decodeIfPresent(Bool.self, forKey: typedKey) == true
    guard isNeeded || catalog.product(id) != nil else { return nil }
    return DetailScreen(catalog: catalog, productID: id)
  }

  package func encodeRestorableState(with coder: StateEncoder) throws {
    coder.encode(productID, forKey: Self.productKey)
    coder.encode(editor?.hasUnsavedChanges == true, forKey: Self.typedKey)
  }
}

extension TabPage: @MainActor StatefulNode {
  package var restorationIdentifier: String? { tab.rawValue }

  package var restorableState: Int {
    get { scrollOffset }
    set { scroll(to: newValue) }
  }
}
