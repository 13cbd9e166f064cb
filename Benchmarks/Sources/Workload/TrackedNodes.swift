internal import RestorationKit

// The nodes of the catalog, but those that say when they change: no save asks the others.

final class TrackedRoot: RestorableNode {
  static let stateTracking = StateTracking.invalidated

  let restorationIdentifier: String? = "catalog"
  private var sections: [TrackedSection] = []

  var restorationChildren: [any RestorableNode] { sections }

  init() {}

  init(productCount: Int) {
    sections = Catalog.sections(productCount: productCount).map(TrackedSection.init)
  }

  func decodeRestorableState(with coder: StateDecoder) {
    sections = coder.restoredChildren.compactMap { $0 as? TrackedSection }
  }

  var products: [TrackedProduct] { sections.flatMap(\.products) }
}

final class TrackedSection: RestorableNode, RestorationClass {
  static let stateTracking = StateTracking.invalidated

  let restorationIdentifier: String?
  private(set) var products: [TrackedProduct] = []

  var restorationChildren: [any RestorableNode] { products }

  init(_ section: Section) {
    restorationIdentifier = section.identifier
    products = section.products.map { TrackedProduct(ProductNode($0)) }
  }

  private init(identifier: String?) {
    restorationIdentifier = identifier
  }

  static func object(at path: RestorationPath, coder: StateDecoder) -> (any StateRestoring)? {
    TrackedSection(identifier: path.identifier)
  }

  func decodeRestorableState(with coder: StateDecoder) {
    products = coder.restoredChildren.compactMap { $0 as? TrackedProduct }
  }
}

final class TrackedProduct: RestorableNode, RestorationClass {
  static let stateTracking = StateTracking.invalidated

  private let node: ProductNode

  var restorationIdentifier: String? { node.restorationIdentifier }
  var product: Product { node.product }

  init(_ node: ProductNode) {
    self.node = node
  }

  static func object(at path: RestorationPath, coder: StateDecoder) -> (any StateRestoring)? {
    TrackedProduct(ProductNode(identifier: path.identifier ?? ""))
  }

  func encodeRestorableState(with coder: StateEncoder) {
    node.encodeRestorableState(with: coder)
  }

  func decodeRestorableState(with coder: StateDecoder) throws {
    try node.decodeRestorableState(with: coder)
  }

  func change() {
    node.restock()
    invalidateRestorableState()
  }
}
