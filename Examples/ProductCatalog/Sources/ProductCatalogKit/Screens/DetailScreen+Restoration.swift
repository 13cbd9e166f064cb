import CatalogModel
import Foundation
package import RestorationKit

extension DetailScreen: @MainActor RestorableNode, @MainActor RestorableTabs {
  private static let productKey = "product"

  package var restorationIdentifier: String? { "detail" }

  package var restorationChildren: [any RestorableNode] { pages }

  package var selectedTab: (any RestorableNode)? {
    get { selectedPage }
    set { if let page = newValue as? TabPage { select(page.tab) } }
  }

  /// Makes the screen of a saved product; nil if the catalog does not have it any more.
  static func restored(in catalog: Catalog, from coder: StateDecoder) throws -> DetailScreen? {
    let id = try coder.decode(UUID.self, forKey: productKey)
    return catalog.product(id).map { DetailScreen(catalog: catalog, productID: $0.id) }
  }

  package func encodeRestorableState(with coder: StateEncoder) throws {
    coder.encode(productID, forKey: Self.productKey)
  }
}

extension TabPage: @MainActor StatefulNode {
  package var restorationIdentifier: String? { tab.rawValue }

  package var restorableState: Int {
    get { scrollOffset }
    set { scroll(to: newValue) }
  }
}
