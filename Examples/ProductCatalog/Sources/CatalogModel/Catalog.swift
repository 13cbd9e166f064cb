public import Foundation
import RestorationDrafts

/// The products with the edits of one user, which lie in a file.
@MainActor public final class Catalog {
  private(set) var contents: Products
  private let editFile: EditFile
  /// The file as it was read last.
  private var stamp: FileStamp?

  /// Reads the products and the edits.
  ///
  /// - Parameters:
  ///   - products: The file of the products.
  ///   - editFile: The file of the edits, which need not exist.
  /// - Throws: `CatalogError` if one of them cannot be used.
  public init(products: ProductFile, edits editFile: EditFile) throws(CatalogError) {
    contents = try Products(products)
    self.editFile = editFile
    stamp = editFile.stamp()
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
  /// Edits of other products that another process has saved meanwhile stay.
  ///
  /// - Parameters:
  ///   - edit: The words.
  ///   - id: The identifier of the product.
  ///   - base: The words that the user has changed, or has seen before they were to be replaced.
  /// - Throws: `CatalogError`: `wordsChanged` if the product has others now, which then stay.
  public func save(
    _ edit: ProductEdit, of id: UUID, over base: ProductEdit?
  ) throws(CatalogError) {
    var changed = contents
    try editFile.change { edits throws(CatalogError) in
      contents.edits = edits
      changed.edits = edits
      guard let present = changed[id]?.words else { throw .productUnknown(id) }
      // They may be saved already, and the program have ended before it knew.
      guard present == base || present == edit else { throw .wordsChanged(present) }
      try changed.lay(edit, over: id)
      edits = changed.edits
    }
    contents = changed
  }

  /// Reads the edits again if somebody else has written their file.
  ///
  /// - Returns: Whether a product has other words now.
  /// - Throws: `CatalogError` if the file cannot be used; the words stay as they were.
  @discardableResult
  public func refresh() throws(CatalogError) -> Bool {
    if let stamp, stamp.compare(with: editFile.location) == .same { return false }
    let now = editFile.stamp()
    let edits = try editFile.load()
    stamp = now
    guard edits != contents.edits else { return false }
    contents.edits = edits
    return true
  }
}
