import Foundation
package import RestorationKit

extension EditScreen: @MainActor RestorableNode {
  private enum Key {
    static let product = "product"
    static let title = "title"
    static let description = "description"
    static let activeField = "activeField"
    static let failure = "failure"
    static let asksToLeave = "asksToLeave"
  }

  package var restorationIdentifier: String? { "edit" }

  /// Makes the screen of a saved product; nil if the catalog does not have it any more.
  static func restored(in catalog: Catalog, from coder: StateDecoder) throws -> EditScreen? {
    EditScreen(catalog: catalog, productID: try coder.decode(forKey: Key.product))
  }

  private var fieldsByKey: [(key: String, field: EditField)] {
    [(Key.title, titleField), (Key.description, descriptionField)]
  }

  package func encodeRestorableState(with coder: StateEncoder) throws {
    coder.encode(productID, forKey: Key.product)
    for (key, field) in fieldsByKey {
      coder.encodeContainer(forKey: key, field.encode)
    }
    coder.encode(fieldsByKey[activeFieldIndex].key, forKey: Key.activeField)
    coder.encode(failure, forKey: Key.failure)
    coder.encode(asksToLeave, forKey: Key.asksToLeave)
  }

  /// A field that was not saved keeps the words of the product.
  package func decodeRestorableState(with coder: StateDecoder) throws {
    for (key, field) in fieldsByKey {
      try coder.container(forKey: key).map(field.decode)
    }
    let active = try coder.decode(String.self, forKey: Key.activeField)
    activateField(fieldsByKey.firstIndex { $0.key == active } ?? 0)
    failure = try coder.decodeIfPresent(forKey: Key.failure)
    asksToLeave = try coder.decodeIfPresent(forKey: Key.asksToLeave) ?? false
  }
}

extension EditField {
  private enum Key {
    static let text = "text"
    static let cursor = "cursor"
  }

  fileprivate func encode(with coder: StateEncoder) {
    coder.encode(buffer.text, forKey: Key.text)
    coder.encode(buffer.cursor, forKey: Key.cursor)
  }

  fileprivate func decode(with coder: StateDecoder) throws {
    replace(
      with: try coder.decode(forKey: Key.text), cursor: try coder.decode(forKey: Key.cursor))
  }
}
