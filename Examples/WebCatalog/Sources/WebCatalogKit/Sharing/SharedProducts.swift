import CatalogModel
import Foundation
import RestorationDrafts

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

  /// Saves the words of an editor.
  ///
  /// - Returns: As ``refresh()``.
  /// - Throws: `WordsHaveChanged` if somebody has saved others that the user has not seen.
  func save(_ editor: ProductEditor.State, of id: UUID) async throws -> [UUID] {
    var products = products
    let stored = try await entries.update(Self.entry, from: [String: ProductEdit]()) { stored in
      products.edits = Self.edits(stored)
      switch editor.state(given: products[id]?.words) {
      case .clean: break
      case .conflict: throw WordsHaveChanged()
      case .orphaned, .unreadable: throw WebProblem.notFound
      }
      do {
        try products.lay(editor.words, over: id)
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

/// Somebody has saved words that the user of an editor has not seen.
struct WordsHaveChanged: Error {}
