package import CatalogModel
package import Foundation
import RestorationDrafts

/// The words of a product while they are being changed.
///
/// Nothing is kept until they are saved. If others save the same product meanwhile, the screen shows
/// their words, too, and the user says what becomes of both.
@MainActor package final class EditScreen {
  let catalog: Catalog
  package let productID: UUID
  package let titleField: EditField
  package let descriptionField: EditField
  package private(set) var activeFieldIndex = 0
  /// Why the last attempt to save failed, in a sentence.
  package var failure: String?
  var asksToLeave = false
  /// The edit but for its words, which are in the fields.
  private var begun: WordsEdit
  /// The words of others that were on the screen last: an answer is about those.
  var shownTheirs: ProductEdit?

  /// Starts from the words of a product; nil if the catalog does not have it.
  package convenience init?(catalog: Catalog, productID: UUID) {
    guard let words = catalog.product(productID)?.words else { return nil }
    self.init(WordsEdit(of: words), of: productID, in: catalog)
  }

  init(_ edit: WordsEdit, of productID: UUID, in catalog: Catalog) {
    self.catalog = catalog
    self.productID = productID
    begun = edit
    titleField = EditField(name: "Title", text: edit.words.title, isMultiline: false)
    descriptionField = EditField(
      name: "Description", text: edit.words.description, isMultiline: true)
    refresh()
  }

  package var fields: [EditField] { [titleField, descriptionField] }
  package var activeField: EditField { fields[activeFieldIndex] }

  package func activateField(_ index: Int) {
    activeFieldIndex = min(max(0, index), fields.count - 1)
  }

  package var words: ProductEdit {
    ProductEdit(title: titleField.buffer.text, description: descriptionField.buffer.text)
  }

  /// The edit with the words in the fields; other words are put in them.
  package var edit: WordsEdit {
    get {
      var edit = begun
      edit.words = words
      return edit
    }
    set {
      begun = newValue
      put(newValue.words.title, in: titleField)
      put(newValue.words.description, in: descriptionField)
    }
  }

  private func put(_ text: String, in field: EditField) {
    if field.buffer.text != text { field.replace(with: text, cursor: text.count) }
  }

  /// Goes on with an edit whose words are in the fields.
  ///
  /// - Parameter draft: The stored draft. A state of an earlier version has none: its words count as made
  ///   from those that the product has now, because nothing says what they were made from.
  func goOn(with draft: Draft<ProductEdit>?) {
    begun = WordsEdit(draft ?? present.map { Draft(words, from: $0) } ?? Draft(words))
    refresh()
  }

  private var present: ProductEdit? { catalog.product(productID)?.words }

  package var hasUnsavedChanges: Bool { edit.isUnsaved(given: present) }

  /// Whether the user is to say what becomes of the changes; another window may have saved them.
  package var isAskingToLeave: Bool { asksToLeave && hasUnsavedChanges }
}

extension EditScreen: @MainActor Screen {
  package var title: String { "Edit" }

  package var note: Note? {
    if begun.theirs != nil { return Note(text: "≠ changed meanwhile", mark: "≠", style: .warning) }
    return hasUnsavedChanges
      ? Note(text: "● unsaved", mark: "●", style: .warning) : Note(text: "no changes")
  }

  package func refresh() {
    do throws(CatalogError) {
      try catalog.refresh()
    } catch {
      // The words that are known stay; saving says what is wrong with the file.
    }
    edit.look(at: present)
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
    case .control("s"): return save(over: begun.draft.base)
    case .control("k"): return choose(.mine)
    case .control("t"): return choose(.theirs)
    case .control("b"): return choose(.both)
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
    case .control("s"): return save(over: begun.draft.base)
    case .control("d"): return .pop
    case .escape: asksToLeave = false
    default: break
    }
    return .stay
  }

  /// Does what the user has chosen between two texts, if both were there to be seen.
  private func choose(_ choice: WordsEdit.Choice) -> ScreenResponse {
    guard let theirs = begun.theirs, theirs == shownTheirs else { return .stay }
    edit.choose(choice)
    failure = nil
    return switch choice {
    // Not over the base of the edit: one that is too large is not in it.
    case .mine: save(over: theirs)
    case .theirs: .pop
    case .both: .stay
    }
  }

  private func save(over base: ProductEdit?) -> ScreenResponse {
    asksToLeave = false
    guard words != begun.draft.base else { return .pop }
    do throws(CatalogError) {
      try catalog.save(words, of: productID, over: base)
      return .pop
    } catch .wordsChanged(let present) {
      failure = nil
      edit.look(at: present)
    } catch {
      failure = error.description
    }
    return .stay
  }

  /// Up and down lead from one field to the other where a field does not use them.
  private func passToField(_ key: Key, size: Size) {
    let size = EditLayout(size: fieldsSize(in: size))
    if activeField.handle(key, columns: size.textColumns) {
      failure = nil
    } else if key == .up {
      activateField(activeFieldIndex - 1)
    } else if key == .down || key == .enter {
      activateField(activeFieldIndex + 1)
    }
  }
}
