/// The words a user has put in place of a product's own.
public struct ProductEdit: Hashable, Sendable, Codable {
  /// What is shown in lists.
  public var title: String
  /// A few sentences.
  public var description: String

  /// Creates words, which may be those of the product itself.
  public init(title: String, description: String) {
    self.title = title
    self.description = description
  }
}

extension Product {
  /// Its own words.
  public var words: ProductEdit {
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
