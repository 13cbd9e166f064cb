import CatalogModel
import Foundation

/// The products with the words that users have saved, which all servers share.
actor SharedProducts {
  static let entry = "web.edits"

  private let entries: Entries
  private(set) var products: Products

  init(_ products: Products, in entries: Entries) {
    (self.products, self.entries) = (products, entries)
  }

  /// Reads what other servers have saved.
  ///
  /// - Returns: The products of which other words are shown now.
  func refresh() async throws -> [UUID] {
    let stored = try await entries.load(Self.entry, as: [String: ProductEdit].self)
    return take(stored?.value ?? [:])
  }

  /// Saves words of a product.
  ///
  /// - Returns: As ``refresh()``.
  /// - Throws: `WordsHaveChanged` if they are not the ones that the edit began with any more.
  func save(_ edit: ProductEdit, of id: UUID, over original: ProductEdit) async throws
    -> [UUID]
  {
    var products = products
    let stored = try await entries.update(Self.entry, from: [String: ProductEdit]()) { stored in
      products.edits = Self.edits(stored)
      guard let present = products[id]?.words else { throw WebProblem.notFound }
      // They may be stored already, and the answer be lost.
      guard present == original || present == edit else { throw WordsHaveChanged(present: present) }
      do {
        try products.lay(edit, over: id)
      } catch CatalogError.titleEmpty {
        throw WebProblem.noTitle
      }
      stored[id.uuidString] = products.edits[id]
    }
    return take(stored ?? [:])
  }

  private func take(_ stored: [String: ProductEdit]) -> [UUID] {
    let (before, now) = (products.edits, Self.edits(stored))
    products.edits = now
    return Set(before.keys).union(now.keys).filter { before[$0] != now[$0] }
  }

  /// Leaves out what is no identifier.
  private static func edits(_ stored: [String: ProductEdit]) -> [UUID: ProductEdit] {
    Dictionary(
      stored.compactMap { name, edit in UUID(uuidString: name).map { ($0, edit) } },
      uniquingKeysWith: { $1 })
  }
}

/// Somebody has saved other words since the edit began.
struct WordsHaveChanged: Error {
  let present: ProductEdit
}
