package import CatalogModel
package import Foundation

/// The words of a product while they are being changed.
///
/// Nothing is kept until they are saved.
@MainActor package final class EditScreen {
  let catalog: Catalog
  package let productID: UUID
  package let titleField: EditField
  package let descriptionField: EditField
  package private(set) var activeFieldIndex = 0
  /// Why the last attempt to save failed, in a sentence.
  package var failure: String?
  var asksToLeave = false

  /// Starts from the words of a product; nil if the catalog does not have it.
  package init?(catalog: Catalog, productID: UUID) {
    guard let product = catalog.product(productID) else { return nil }
    self.catalog = catalog
    self.productID = productID
    titleField = EditField(name: "Title", text: product.title, isMultiline: false)
    descriptionField = EditField(
      name: "Description", text: product.description, isMultiline: true)
  }

  package var fields: [EditField] { [titleField, descriptionField] }
  package var activeField: EditField { fields[activeFieldIndex] }

  package func activateField(_ index: Int) {
    activeFieldIndex = min(max(0, index), fields.count - 1)
  }

  package var words: ProductEdit {
    ProductEdit(title: titleField.buffer.text, description: descriptionField.buffer.text)
  }

  package var hasUnsavedChanges: Bool {
    words != catalog.product(productID)?.words
  }

  /// Whether the user is to say what becomes of the changes; another window may have saved them.
  package var isAskingToLeave: Bool { asksToLeave && hasUnsavedChanges }
}

extension EditScreen: @MainActor Screen {
  package var title: String { "Edit" }

  package var note: Note? {
    hasUnsavedChanges
      ? Note(text: "● unsaved", mark: "●", style: .warning) : Note(text: "no changes")
  }

  package var keyHints: [KeyHint] {
    guard !isAskingToLeave else { return [] }
    return [KeyHint("Ctrl-S", "Save"), KeyHint("Esc", "Back"), KeyHint("Tab", "Next field")]
  }

  package func handle(_ key: Key, size: Size) -> ScreenResponse {
    guard !isAskingToLeave else { return handleAnswer(key) }
    asksToLeave = false
    switch key {
    case .escape: return asksBeforeLeaving() ? .stay : .pop
    case .control("s"): return save()
    case .tab: activateField((activeFieldIndex + 1) % fields.count)
    case .backTab: activateField((activeFieldIndex + fields.count - 1) % fields.count)
    default: passToField(key, size: size)
    }
    return .stay
  }

  package func asksBeforeLeaving() -> Bool {
    asksToLeave = hasUnsavedChanges
    return asksToLeave
  }

  /// No letter discards anything: one may follow Esc by mistake or in a paste.
  private func handleAnswer(_ key: Key) -> ScreenResponse {
    switch key {
    case .control("s"): return save()
    case .control("d"): return .pop
    case .escape: asksToLeave = false
    default: break
    }
    return .stay
  }

  private func save() -> ScreenResponse {
    asksToLeave = false
    do throws(CatalogError) {
      try catalog.save(words, of: productID)
      return .pop
    } catch {
      failure = error.description
      return .stay
    }
  }

  /// Up and down lead from one field to the other where a field does not use them.
  private func passToField(_ key: Key, size: Size) {
    if activeField.handle(key, columns: EditLayout(size: size).textColumns) {
      failure = nil
    } else if key == .up {
      activateField(activeFieldIndex - 1)
    } else if key == .down || key == .enter {
      activateField(activeFieldIndex + 1)
    }
  }
}
