/// The words a user has put in place of a product's own.
package struct ProductEdit: Hashable, Sendable, Codable {
  package var title: String
  package var description: String

  package init(title: String, description: String) {
    self.title = title
    self.description = description
  }
}

extension Product {
  package var words: ProductEdit {
    ProductEdit(title: title, description: description)
  }

  func applying(_ edit: ProductEdit?) -> Product {
    guard let edit else { return self }
    var product = self
    product.title = edit.title
    product.description = edit.description
    return product
  }
}
