import CGtk
package import CatalogModel
package import Foundation
import RestorationDrafts
package import RestorationGTK

/// The words of a product while they are being changed.
///
/// If others save the same product meanwhile, their words are shown below those of the user, who says what
/// becomes of both.
@MainActor
package final class ProductEditor {
  let widget: ObjectPointer
  package let title = ObjectPointer(made: gtk_entry_new())
  let text = ObjectPointer(made: gtk_text_view_new())
  let scrolled = ObjectPointer(made: gtk_scrolled_window_new())
  /// The product that is being edited; nil if none is.
  package private(set) var productID: UUID?
  /// The question what becomes of the changes, while it is asked.
  package private(set) var question: LeaveQuestion?
  /// The words of others, while the user is to choose.
  package let changedMeanwhile = ChangedMeanwhile()
  /// Called when the user is done, or products have other words.
  package var updated: (@MainActor () -> Void)?
  /// Called when something has changed that is restored and that no view tells of.
  var changed: (@MainActor () -> Void)?

  private let catalog: Catalog
  private let window: ObjectPointer
  /// The edit but for its words, which are in the fields.
  private var begun: WordsEdit?
  /// What the user wants to do when the editor is left.
  private var next: (@MainActor () -> Void)?
  private let problem = paragraph("", .problem)

  init(_ catalog: Catalog, in window: ObjectPointer) {
    self.catalog = catalog
    self.window = window
    let labels = ["Title", "Description"].map { paragraph($0, .dim, .caption) }
    gtk_widget_set_margin_top(labels[1].of(), 12)
    widget = box(
      GTK_ORIENTATION_VERTICAL, spacing: 6,
      [labels[0], title, labels[1], scrolled, changedMeanwhile.widget, problem])
    setMargins(widget, horizontal: 18, vertical: 18)
    setAccessibleLabel(title, "Title")
    setAccessibleLabel(text, "Description")
    gtk_text_view_set_wrap_mode(text.of(), GTK_WRAP_WORD_CHAR)
    gtk_text_view_set_accepts_tab(text.of(), 0)
    gtk_scrolled_window_set_child(scrolled.opaque, text.of())
    gtk_widget_set_vexpand(scrolled.of(), 1)
    gtk_scrolled_window_set_has_frame(scrolled.opaque, 1)
    for set in [
      gtk_text_view_set_left_margin, gtk_text_view_set_right_margin, gtk_text_view_set_top_margin,
      gtk_text_view_set_bottom_margin,
    ] {
      set(text.of(), 9)
    }
    changedMeanwhile.chosen = { [unowned self] in choose($0) }
  }

  package var words: ProductEdit {
    ProductEdit(
      title: String(cString: gtk_editable_get_text(title.opaque)), description: contents(of: text))
  }

  /// The edit with the words in the fields; other words are put in them.
  package private(set) var edit: WordsEdit? {
    get {
      var edit = begun
      edit?.words = words
      return edit
    }
    set {
      begun = newValue
      if let words = newValue?.words { put(words) }
      let wasShown = changedMeanwhile.isShown
      changedMeanwhile.show(newValue?.theirs)
      if wasShown { keepKeyboard() }
    }
  }

  /// Takes the keyboard from a button that is not shown any more.
  func keepKeyboard() {
    guard changedMeanwhile.hasKeyboard, !changedMeanwhile.isShown else { return }
    gtk_widget_grab_focus(title.of())
  }

  private func put(_ words: ProductEdit) {
    let shown = self.words
    if words.title != shown.title {
      gtk_editable_set_text(title.opaque, words.title)
      gtk_editable_set_position(title.opaque, -1)
    }
    if words.description != shown.description {
      gtk_text_buffer_set_text(gtk_text_view_get_buffer(text.of()), words.description, -1)
    }
  }

  private var present: ProductEdit? { productID.flatMap(catalog.product)?.words }

  /// Starts with the words that a product has; does nothing if the catalog does not have it.
  package func begin(_ id: UUID) {
    guard let words = catalog.product(id)?.words else { return }
    begin(WordsEdit(of: words), of: id)
  }

  /// Goes on with an edit that was stored.
  func begin(_ edit: WordsEdit, of id: UUID) {
    productID = id
    var edit = edit
    edit.look(at: present)
    self.edit = edit
    tell("")
    changed?()
  }

  /// Compares the edit with the words that its product has now.
  package func look() {
    guard productID != nil else { return }
    edit?.look(at: present)
  }

  private func tell(_ sentence: String) {
    gtk_label_set_text(problem.opaque, sentence)
    gtk_widget_set_visible(problem.of(), sentence.isEmpty ? 0 : 1)
  }

  package func save() {
    save(over: begun?.draft.base)
  }

  private func save(over base: ProductEdit?) {
    guard let productID, let begun else { return }
    guard words != begun.draft.base else { return end() }
    do throws(CatalogError) {
      try catalog.save(words, of: productID, over: base)
      end()
    } catch {
      // What the user does next is another matter.
      next = nil
      if case .wordsChanged = error { tell("") } else { tell(error.description) }
      updated?()
    }
  }

  /// Does what the user has chosen between two texts.
  package func choose(_ choice: WordsEdit.Choice) {
    guard let theirs = begun?.theirs else { return }
    edit?.choose(choice)
    changed?()
    switch choice {
    // Not over the base of the edit: one that is too large is not in it.
    case .mine: save(over: theirs)
    case .theirs: end()
    case .both: gtk_widget_grab_focus(title.of())
    }
  }

  /// Whether there are words that nobody has saved.
  package var hasChanges: Bool { productID != nil && edit?.isUnsaved(given: present) == true }

  /// Asks what is to become of changes, if there are any.
  func leave() {
    guard productID != nil else { return }
    guard hasChanges else { return end() }
    ask(LeaveQuestion())
  }

  /// Asks what is to become of changes, and then goes on unless the user stays.
  func leave(then next: @escaping @MainActor () -> Void) {
    leave()
    if question != nil { self.next = next }
  }

  /// Shows the question over the window.
  func ask(_ question: LeaveQuestion) {
    guard productID != nil, self.question == nil else { return }
    self.question = question
    question.changed = changed
    question.show(over: window) { [unowned self] answer in
      self.question = nil
      changed?()
      switch answer {
      case .save: save()
      case .discard: end()
      case .stay: next = nil
      }
    }
    changed?()
  }

  private func end() {
    productID = nil
    edit = nil
    changed?()
    updated?()
    next.take()?()
  }
}

/// Asks what is to become of changes that are not saved.
@MainActor
package final class LeaveQuestion {
  enum Answer: Int32 { case stay, discard, save }

  /// A `GtkWindow`.
  let dialog = ObjectPointer(made: gtk_window_new())
  /// Which button has the keyboard.
  private(set) lazy var focus = KeyboardFocus(in: dialog) { [weak self] in self?.changed?() }
  /// Called when another button has the keyboard.
  var changed: (@MainActor () -> Void)?
  /// Called with the answer.
  private var answered: (@MainActor (Answer) -> Void)?

  package init() {
    gtk_window_set_title(dialog.of(), "Unsaved changes")
    gtk_window_set_modal(dialog.of(), 1)
    gtk_window_set_destroy_with_parent(dialog.of(), 1)
    gtk_window_set_resizable(dialog.of(), 0)
    // The question says it all, and has no need of a title.
    gtk_window_set_titlebar(dialog.of(), gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0))
    gtk_widget_add_css_class(dialog.of(), "dialog")
    gtk_widget_add_css_class(dialog.of(), "message")
    let texts = [
      paragraph("Save changes?", .heading, width: 40),
      paragraph("What you have changed and do not save is lost.", width: 40),
    ]
    texts.forEach(center)
    let buttons = box(GTK_ORIENTATION_HORIZONTAL, spacing: 12)
    gtk_box_set_homogeneous(buttons.of(), 1)
    gtk_widget_set_margin_top(buttons.of(), 12)
    for (label, meaning, style) in [
      ("_Keep editing", .stay, nil), ("_Discard", .discard, .destructive),
      ("_Save", .save, .suggested),
    ] as [(String, Answer, Style?)] {
      let button = ObjectPointer(made: gtk_button_new_with_mnemonic(label))
      if let style { add(style, to: button) }
      gtk_box_append(buttons.of(), button.of())
      connect(button, "clicked") { [weak self] in self?.answer(meaning) }
    }
    connect(
      dialog, "close-request",
      answering: { [weak self] _ in
        self?.answer(.stay)
        return true
      })
    let content = box(GTK_ORIENTATION_VERTICAL, spacing: 12, texts + [buttons])
    setMargins(content, horizontal: 24, vertical: 18)
    gtk_window_set_child(dialog.of(), content.of())
    connect(dialog, "notify::is-active") { [dialog] in
      gtk_window_set_focus_visible(dialog.of(), 1)
    }
  }

  /// Shows the question until it is answered.
  ///
  /// - Parameters:
  ///   - window: The window that waits for the answer; the question goes with it.
  ///   - answered: Is called with the answer; closing the dialog is to stay.
  func show(over window: ObjectPointer, answered: @escaping @MainActor (Answer) -> Void) {
    self.answered = answered
    gtk_window_set_transient_for(dialog.of(), window.of())
    // The keys of the app work in it, too.
    gtk_window_set_application(dialog.of(), gtk_window_get_application(window.of()))
    // A dialog that is restored waits for its window.
    guard gtk_widget_get_mapped(window.of()) == 0 else { return gtk_window_present(dialog.of()) }
    connect(window, "map") { [weak self] in
      if let self, self.answered != nil { gtk_window_present(dialog.of()) }
    }
  }

  private func answer(_ answer: Answer) {
    guard let answered = answered.take() else { return }
    gtk_window_destroy(dialog.of())
    answered(answer)
  }
}

/// The whole text of a text view.
@MainActor
func contents(of view: ObjectPointer) -> String {
  var (start, end) = (GtkTextIter(), GtkTextIter())
  let buffer = gtk_text_view_get_buffer(view.of())
  gtk_text_buffer_get_bounds(buffer, &start, &end)
  let text = gtk_text_buffer_get_text(buffer, &start, &end, 1)
  defer { g_free(text) }
  return text.map { String(cString: $0) } ?? ""
}
