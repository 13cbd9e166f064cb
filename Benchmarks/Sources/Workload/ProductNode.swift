package import RestorationKit

/// One product on the screen; made anew by a restore.
package final class ProductNode: RestorableNode, RestorationClass {
  package private(set) var product: Product

  package var restorationIdentifier: String? { product.identifier }

  package init(_ product: Product) {
    self.product = product
  }

  /// A product of which nothing but the identifier is known.
  package convenience init(identifier: String) {
    var product = Product()
    product.identifier = identifier
    self.init(product)
  }

  package func restock() {
    product.stock += 1
  }

  package static func object(at path: RestorationPath, coder: StateDecoder) -> (any StateRestoring)?
  {
    ProductNode(identifier: path.identifier ?? "")
  }

  package func encodeRestorableState(with coder: StateEncoder) {
    coder.encode(product.title, forKey: "title")
    coder.encode(product.subtitle, forKey: "subtitle")
    coder.encode(product.maker, forKey: "maker")
    coder.encode(product.note, forKey: "note")
    coder.encode(product.stock, forKey: "stock")
    coder.encode(product.price, forKey: "price")
    coder.encode(product.rating, forKey: "rating")
    coder.encode(product.isFavourite, forKey: "isFavourite")
    coder.encode(product.changed, forKey: "changed")
    coder.encode(product.digest, forKey: "digest")
    coder.encode(product.recent, forKey: "recent")
  }

  package func decodeRestorableState(with coder: StateDecoder) throws {
    product.title = try coder.decode(forKey: "title")
    product.subtitle = try coder.decode(forKey: "subtitle")
    product.maker = try coder.decode(forKey: "maker")
    product.note = try coder.decode(forKey: "note")
    product.stock = try coder.decode(forKey: "stock")
    product.price = try coder.decode(forKey: "price")
    product.rating = try coder.decode(forKey: "rating")
    product.isFavourite = try coder.decode(forKey: "isFavourite")
    product.changed = try coder.decode(forKey: "changed")
    product.digest = try coder.decode(forKey: "digest")
    product.recent = try coder.decode(forKey: "recent")
  }
}
