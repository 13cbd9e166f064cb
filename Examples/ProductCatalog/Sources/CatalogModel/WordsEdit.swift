public import RestorationDrafts

/// The words of a product while a user changes them, and what others have made of them meanwhile.
///
/// A place that shows an edit calls ``look(at:)`` whenever the words of the product may be others, and
/// shows ``theirs`` beside the words of the user until that one chooses.
public struct WordsEdit: Hashable, Sendable {
  /// What becomes of two texts.
  public enum Choice: CaseIterable, Hashable, Sendable {
    /// The words of the user are saved over the others.
    case mine
    /// The words of the user are given up.
    case theirs
    /// The user makes one text of both.
    case both
  }

  /// The words that are being typed, and those that they were made from.
  public private(set) var draft: Draft<ProductEdit>

  /// The words that others have saved over those that the draft was made from; nil if there is
  /// nothing to decide.
  public private(set) var theirs: ProductEdit?

  /// Goes on with an edit that was stored.
  public init(_ draft: Draft<ProductEdit>) {
    self.draft = draft
  }

  /// Begins with the words that a product has.
  public init(of words: ProductEdit) {
    self.init(Draft(words, from: words))
  }

  /// The words that are being typed.
  public var words: ProductEdit {
    get { draft.content }
    set { draft.content = newValue }
  }

  /// How the edit relates to the words that the product has now; nil if there is no such product.
  public func state(given present: ProductEdit?) -> DraftState {
    draft.state(given: present)
  }

  /// Whether something was typed that the product does not have.
  public func isUnsaved(given present: ProductEdit?) -> Bool {
    words != draft.base && words != present
  }

  /// Compares the edit with the words that the product has now.
  ///
  /// Where nothing was typed there is nothing to decide: the edit shows the words of others. Words that
  /// are already saved are what goes on from there.
  public mutating func look(at present: ProductEdit?) {
    theirs = nil
    guard let present, present != draft.base else { return }
    if isUnsaved(given: present) {
      theirs = present
    } else {
      draft = Draft(present, from: present)
    }
  }

  /// Does what the user has chosen, having seen ``theirs``.
  ///
  /// From then on the edit is made from those words, and no others: if they are changed once more, there
  /// is something to decide again.
  public mutating func choose(_ choice: Choice) {
    guard let theirs else { return }
    let chosen =
      switch choice {
      case .mine: words
      case .theirs: theirs
      case .both: words.joined(with: theirs, from: draft.base)
      }
    draft = Draft(chosen, from: theirs)
    self.theirs = nil
  }
}

extension ProductEdit {
  /// Puts one text behind the other in each field that both have changed.
  fileprivate func joined(with other: ProductEdit, from base: ProductEdit?) -> ProductEdit {
    func join(_ field: KeyPath<ProductEdit, String>, _ separator: String) -> String {
      let (mine, theirs) = (self[keyPath: field], other[keyPath: field])
      if mine == theirs || mine == base?[keyPath: field] { return theirs }
      if theirs == base?[keyPath: field] { return mine }
      return [mine, theirs].filter { !$0.isEmpty }.joined(separator: separator)
    }
    return ProductEdit(title: join(\.title, " / "), description: join(\.description, "\n\n"))
  }
}
