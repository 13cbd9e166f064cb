public import Foundation

/// The products, in the order of their file, with the words of users laid over them.
public struct Products: Sendable {
  private let originals: [Product]
  private let rows: [UUID: Int]

  /// The words of users, by the identifier of their product.
  public var edits: [UUID: ProductEdit]

  /// Reads the products.
  ///
  /// - Parameters:
  ///   - file: The file of the products.
  ///   - edits: What is laid over them.
  /// - Throws: `CatalogError` if the file cannot be used.
  public init(
    _ file: ProductFile, edits: [UUID: ProductEdit] = [:]
  ) throws(CatalogError) {
    originals = try file.products()
    guard !originals.isEmpty else { throw .productsEmpty(path: file.location.path) }
    var rows: [UUID: Int] = [:]
    for (row, product) in originals.enumerated() {
      guard rows.updateValue(row, forKey: product.id) == nil else {
        throw .productRepeated(product.id)
      }
    }
    self.rows = rows
    self.edits = edits
  }

  /// How many products there are.
  public var count: Int { originals.count }

  /// All products, with the words of users.
  public var all: [Product] {
    originals.map { $0.applying(edits[$0.id]) }
  }

  /// A product with the words of users; nil if there is none with this identifier.
  public subscript(id: UUID) -> Product? {
    original(id)?.applying(edits[id])
  }

  /// A product with its own words.
  public func original(_ id: UUID) -> Product? {
    rows[id].map { originals[$0] }
  }

  /// Whether a user has changed the words of a product.
  public func isEdited(_ id: UUID) -> Bool {
    edits[id] != nil
  }

  /// Lays words over a product in place of those before; if they are the product's own, none.
  public mutating func lay(_ edit: ProductEdit, over id: UUID) throws(CatalogError) {
    guard let original = original(id) else { throw .productUnknown(id) }
    guard edit.title.contains(where: { !$0.isWhitespace }) else { throw .titleEmpty }
    edits[id] = edit == original.words ? nil : edit
  }
}
