public import Foundation

/// The products, in the order of their file, with the user's edits laid over them.
@MainActor public final class Catalog {
  private let originals: [Product]
  private let rows: [UUID: Int]
  private let editFile: EditFile
  private var edits: [UUID: ProductEdit]

  /// Reads the products and the edits.
  ///
  /// - Parameters:
  ///   - products: The file of the products.
  ///   - editFile: The file of the edits, which need not exist.
  /// - Throws: `CatalogError` if one of them cannot be used.
  public init(products: ProductFile, edits editFile: EditFile) throws(CatalogError) {
    originals = try products.products()
    guard !originals.isEmpty else { throw .productsEmpty(path: products.location.path) }
    var rows: [UUID: Int] = [:]
    for (row, product) in originals.enumerated() {
      guard rows.updateValue(row, forKey: product.id) == nil else {
        throw .productRepeated(product.id)
      }
    }
    self.rows = rows
    self.editFile = editFile
    edits = try editFile.load()
  }

  /// How many products there are.
  public var count: Int { originals.count }

  /// All products, with the words of the user.
  public var products: [Product] {
    originals.map { $0.applying(edits[$0.id]) }
  }

  /// A product with the words of the user; nil if there is none with this identifier.
  public func product(_ id: UUID) -> Product? {
    original(id)?.applying(edits[id])
  }

  /// A product with its own words.
  public func original(_ id: UUID) -> Product? {
    rows[id].map { originals[$0] }
  }

  /// Whether the user has changed the words of a product.
  public func isEdited(_ id: UUID) -> Bool {
    edits[id] != nil
  }

  /// Keeps an edit on disk, then in memory; an edit that says what the original says is dropped.
  ///
  /// Edits that another process has saved meanwhile stay.
  public func save(_ edit: ProductEdit, of id: UUID) throws(CatalogError) {
    guard let original = original(id) else { throw .productUnknown(id) }
    guard edit.title.contains(where: { !$0.isWhitespace }) else { throw .titleEmpty }
    var changed = try editFile.load()
    changed[id] = edit == original.words ? nil : edit
    try editFile.save(changed)
    edits = changed
  }
}
