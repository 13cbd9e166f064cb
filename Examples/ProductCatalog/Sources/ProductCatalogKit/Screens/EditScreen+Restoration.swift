import CatalogModel
import Foundation
import RestorationKit

extension EditScreen: @MainActor RestorableNode, @MainActor StatefulNode {
  package struct State: Codable {
    var product: UUID
    var title: EditField.State
    var description: EditField.State
    var activeField: Int
    var failure: String?
    var asksToLeave: Bool
  }

  package var restorationIdentifier: String? { "edit" }

  package var restorableState: State {
    get {
      State(
        product: productID, title: titleField.state, description: descriptionField.state,
        activeField: activeFieldIndex, failure: failure, asksToLeave: asksToLeave)
    }
    set {
      titleField.state = newValue.title
      descriptionField.state = newValue.description
      activateField(newValue.activeField)
      failure = newValue.failure
      asksToLeave = newValue.asksToLeave
    }
  }

  /// Makes the screen of a saved product; nil if the catalog does not have it any more.
  static func restored(in catalog: Catalog, from coder: StateDecoder) throws -> EditScreen? {
    EditScreen(catalog: catalog, productID: try coder.decodeState(of: EditScreen.self).product)
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
