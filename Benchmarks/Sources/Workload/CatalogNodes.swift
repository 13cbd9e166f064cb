package import RestorationKit

/// The root: it is there before a restore.
package final class CatalogNode: RestorableNode {
  package let restorationIdentifier: String? = "catalog"
  package private(set) var sections: [SectionNode] = []

  package var restorationChildren: [any RestorableNode] { sections }

  package init() {}

  package init(_ catalog: Catalog) {
    sections = catalog.sections.map(SectionNode.init)
  }

  /// The nodes alone, without a catalog beside them.
  package init(productCount: Int) {
    sections = Catalog.sections(productCount: productCount).map(SectionNode.init)
  }

  init(sections: [SectionNode]) {
    self.sections = sections
  }

  package func decodeRestorableState(with coder: StateDecoder) {
    sections = coder.restoredChildren.compactMap { $0 as? SectionNode }
  }

  package var catalog: Catalog {
    Catalog(sections: sections.map(\.section))
  }
}

/// A page of products; made anew by a restore.
package final class SectionNode: RestorableNode, RestorationClass {
  package let restorationIdentifier: String?
  private var products: [ProductNode] = []

  package var restorationChildren: [any RestorableNode] { products }

  init(_ section: Section) {
    restorationIdentifier = section.identifier
    products = section.products.map(ProductNode.init)
  }

  init(identifier: String?, products: [ProductNode] = []) {
    restorationIdentifier = identifier
    self.products = products
  }

  package static func object(at path: RestorationPath, coder: StateDecoder) -> (any StateRestoring)?
  {
    SectionNode(identifier: path.identifier)
  }

  package func decodeRestorableState(with coder: StateDecoder) {
    products = coder.restoredChildren.compactMap { $0 as? ProductNode }
  }

  var section: Section {
    Section(identifier: restorationIdentifier ?? "", products: products.map(\.product))
  }
}
