import CatalogModel
import Foundation
import RestorationDrafts
import RestorationKit

extension EditScreen: @MainActor StatefulNode {
  package struct State: Codable {
    var product: UUID
    var title: EditField.State
    var description: EditField.State
    var activeField: Int
    var failure: String?
    var asksToLeave: Bool
    /// Nil in states of an earlier version, which has the words in the fields only.
    var draft: Draft<ProductEdit>?
  }

  package var restorationIdentifier: String? { "edit" }

  package var restorableState: State {
    get {
      State(
        product: productID, title: titleField.state, description: descriptionField.state,
        activeField: activeFieldIndex, failure: failure, asksToLeave: asksToLeave,
        draft: edit.draft)
    }
    set {
      titleField.state = newValue.title
      descriptionField.state = newValue.description
      activateField(newValue.activeField)
      failure = newValue.failure
      asksToLeave = newValue.asksToLeave
      goOn(with: newValue.draft)
    }
  }

  /// Makes the screen of a saved product; nil if the catalog does not have it any more, unless words
  /// were typed: they are nowhere else.
  static func restored(in catalog: Catalog, from coder: StateDecoder) throws -> EditScreen? {
    let state = try coder.decodeState(of: EditScreen.self)
    if let screen = EditScreen(catalog: catalog, productID: state.product) { return screen }
    let words = ProductEdit(title: state.title.text, description: state.description.text)
    let edit = WordsEdit(state.draft ?? Draft(words))
    return edit.isUnsaved(given: nil) ? EditScreen(edit, of: state.product, in: catalog) : nil
  }
}

extension EditField {
  package struct State: Codable {
    var text: String
    var cursor: Int
  }

  fileprivate var state: State {
    get { State(text: buffer.text, cursor: buffer.cursor) }
    set { replace(with: newValue.text, cursor: newValue.cursor) }
  }
}
