public import Foundation

/// Why the catalog could not be loaded, or an edit not be saved.
public enum CatalogError: Error, Hashable, Sendable {
  case productsUnreadable(path: String)
  case productsMalformed(path: String)
  case productsEmpty(path: String)
  case productRepeated(UUID)
  case productUnknown(UUID)
  case editsUnreadable(path: String)
  case editsMalformed(path: String)
  case editsNotSaved(path: String)
  case titleEmpty
  /// The product has other words than those that an edit is to replace.
  case wordsChanged(ProductEdit)
}

extension CatalogError: CustomStringConvertible {
  /// What is wrong, in a sentence.
  public var description: String {
    switch self {
    case .productsUnreadable(let path): "The products in \(path) cannot be read."
    case .productsMalformed(let path): "The file \(path) is not a list of products."
    case .productsEmpty(let path): "The file \(path) holds no products."
    case .productRepeated(let id): "Two products have the identifier \(id)."
    case .productUnknown(let id): "There is no product with the identifier \(id)."
    case .editsUnreadable(let path): "Your edits in \(path) cannot be read."
    case .editsMalformed(let path): "The file \(path) does not hold edits of this catalog."
    case .editsNotSaved(let path): "Your edits could not be saved to \(path)."
    case .titleEmpty: "A product needs a title."
    case .wordsChanged: "These words were changed meanwhile."
    }
  }
}
