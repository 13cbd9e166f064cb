import CatalogModel
import Crypto
import Foundation
import RestorationDrafts

extension TabContent {
  mutating func beginEdit(_ products: Products) throws(WebProblem) {
    guard let id = window.product, let product = products[id], editor?.product != id else { return }
    guard editor?.isChanged != true else { throw .unsavedWords }
    editor = ProductEditor.State(product: id, original: product.words, words: product.words)
    window.focus = Focus(field: .title, start: 0, end: 0)
  }

  /// Throws `otherEditor` if the words are of a product that is not edited any more.
  mutating func type(
    title: String?, description: String?, of product: UUID?
  ) throws(WebProblem) {
    guard let product, editor?.product == product else { throw .otherEditor }
    if let title { editor?.words.title = title }
    if let description { editor?.words.description = description }
  }

  /// Notes what is going to be saved.
  ///
  /// If the words before these were saved, and a kill kept the server from noting it, the user has
  /// seen those of the product.
  mutating func beginSave(over present: ProductEdit, of product: UUID) throws(WebProblem) {
    guard var editor, editor.product == product else { throw .otherEditor }
    if present == editor.saving { editor.original = present }
    editor.saving = editor.words
    self.editor = editor
  }

  mutating func endEdit(of product: UUID?) throws(WebProblem) {
    guard let product, editor?.product == product else { throw .otherEditor }
    endEdit()
  }

  /// What was typed since is edited on.
  mutating func endEdit(of product: UUID, saved words: ProductEdit) {
    guard editor?.product == product else { return }
    guard editor?.words != words else { return endEdit() }
    editor?.original = words
    editor?.saving = nil
  }

  private mutating func endEdit() {
    editor = nil
    if window.focus?.field != .search { window.focus = nil }
  }
}

/// What a user wants of their own words and of those that somebody has saved meanwhile.
enum WordsChoice: String {
  case mine, theirs, both
}

extension TabContent {
  /// Does what the user has chosen; words that are to be saved are saved after this.
  ///
  /// A choice between words of which some are not there any more changes nothing, and the page asks
  /// again with the newest.
  ///
  /// - Parameters:
  ///   - choice: What the user has chosen.
  ///   - present: The words of the product now.
  ///   - mark: The mark of the words that the page has shown.
  ///   - product: The product that the page edits.
  /// - Throws: `otherEditor` if the product is not edited any more.
  mutating func choose(
    _ choice: WordsChoice, _ present: ProductEdit, seen mark: String?, of product: UUID
  ) throws(WebProblem) {
    guard let editor, editor.product == product else { throw .otherEditor }
    guard editor.state(given: present) == .conflict, present.mark == mark else { return }
    switch choice {
    case .mine: self.editor?.original = present
    case .theirs: endEdit()
    case .both:
      guard let both = editor.both(with: present) else { return }
      self.editor?.words = both
      self.editor?.original = present
      window.focus = Focus(field: .title, start: 0, end: 0)
    }
  }
}

extension ProductEditor.State {
  /// The words of the user and those of somebody else, for the user to mend.
  ///
  /// - Parameter theirs: The words of the product now.
  /// - Returns: In each field both texts, or that of the only one who has changed it; nil if they are
  ///   too long for their field.
  func both(with theirs: ProductEdit) -> ProductEdit? {
    func both(_ field: KeyPath<ProductEdit, String>, separator: String) -> String {
      let (old, mine, theirs) = (
        original[keyPath: field], words[keyPath: field], theirs[keyPath: field]
      )
      if mine == theirs || mine == old { return theirs }
      if theirs == old { return mine }
      return [mine, theirs].filter { !$0.isEmpty }.joined(separator: separator)
    }
    let both = ProductEdit(
      title: both(\.title, separator: " / "), description: both(\.description, separator: "\n\n"))
    guard both.title.utf16.count <= TabChange.longestLine,
      both.description.utf16.count <= TabChange.longestText
    else { return nil }
    return both
  }
}

extension ProductEdit {
  /// Names these words in a form that has no room for them.
  var mark: String {
    Hex.text(SHA256.hash(data: Data("\(title.utf8.count)\n\(title)\(description)".utf8)))
  }
}
