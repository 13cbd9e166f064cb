public import Foundation

/// The products with the edits of one user, which lie in a file.
@MainActor public final class Catalog {
  private(set) var contents: Products
  private let editFile: EditFile

  /// Reads the products and the edits.
  ///
  /// - Parameters:
  ///   - products: The file of the products.
  ///   - editFile: The file of the edits, which need not exist.
  /// - Throws: `CatalogError` if one of them cannot be used.
  public init(products: ProductFile, edits editFile: EditFile) throws(CatalogError) {
    contents = try Products(products)
    self.editFile = editFile
    contents.edits = try editFile.load()
  }

  /// How many products there are.
  public var count: Int { contents.count }

  /// All products, with the words of the user.
  public var products: [Product] { contents.all }

  /// A product with the words of the user; nil if there is none with this identifier.
  public func product(_ id: UUID) -> Product? { contents[id] }

  /// A product with its own words.
  public func original(_ id: UUID) -> Product? { contents.original(id) }

  /// Whether the user has changed the words of a product.
  public func isEdited(_ id: UUID) -> Bool { contents.isEdited(id) }

  /// Keeps an edit on disk, then in memory; an edit that says what the original says is dropped.
  ///
  /// Edits that another process has saved meanwhile stay.
  public func save(_ edit: ProductEdit, of id: UUID) throws(CatalogError) {
    var changed = contents
    changed.edits = try editFile.load()
    try changed.lay(edit, over: id)
    try editFile.save(changed.edits)
    contents = changed
  }
}
