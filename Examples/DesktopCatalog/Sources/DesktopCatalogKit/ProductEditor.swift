import CGtk
import CatalogModel
import Foundation
import RestorationGTK

/// The words of a product while they are being changed.
@MainActor
final class ProductEditor {
  let widget: ObjectPointer
  let title = ObjectPointer(made: gtk_entry_new())
  let text = ObjectPointer(made: gtk_text_view_new())
  let scrolled = ObjectPointer(made: gtk_scrolled_window_new())
  /// The product that is being edited; nil if none is.
  private(set) var productID: UUID?
  /// The question what becomes of the changes, while it is asked.
  private(set) var question: LeaveQuestion?
  /// Called when the user is done.
  var ended: (@MainActor () -> Void)?
  /// Called when something has changed that is restored and that no view tells of.
  var changed: (@MainActor () -> Void)?

  private let catalog: Catalog
  private let window: ObjectPointer
  /// What the user wants to do when the editor is left.
  private var next: (@MainActor () -> Void)?
  private let problem = paragraph("", .problem)

  init(_ catalog: Catalog, in window: ObjectPointer) {
    self.catalog = catalog
    self.window = window
    let labels = ["Title", "Description"].map { paragraph($0, .dim, .caption) }
    gtk_widget_set_margin_top(labels[1].of(), 12)
    widget = box(
      GTK_ORIENTATION_VERTICAL, spacing: 6, [labels[0], title, labels[1], scrolled, problem])
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
  }

  var words: ProductEdit {
    var (start, end) = (GtkTextIter(), GtkTextIter())
    let buffer = gtk_text_view_get_buffer(text.of())
    gtk_text_buffer_get_bounds(buffer, &start, &end)
    let description = gtk_text_buffer_get_text(buffer, &start, &end, 1)
    defer { g_free(description) }
    return ProductEdit(
      title: String(cString: gtk_editable_get_text(title.opaque)),
      description: description.map { String(cString: $0) } ?? "")
  }

  /// Starts with the words that a product has; does nothing if the catalog does not have it.
  func begin(_ id: UUID) {
    guard let product = catalog.product(id) else { return }
    productID = id
    gtk_editable_set_text(title.opaque, product.title)
    let buffer = gtk_text_view_get_buffer(text.of())
    gtk_text_buffer_begin_irreversible_action(buffer)
    gtk_text_buffer_set_text(buffer, product.description, -1)
    gtk_text_buffer_end_irreversible_action(buffer)
    tell("")
    changed?()
  }

  private func tell(_ sentence: String) {
    gtk_label_set_text(problem.opaque, sentence)
    gtk_widget_set_visible(problem.of(), sentence.isEmpty ? 0 : 1)
  }

  func save() {
    guard let productID else { return }
    do throws(CatalogError) {
      try catalog.save(words, of: productID)
      end()
    } catch {
      tell(error.description)
    }
  }

  /// Whether there are words that nobody has saved.
  var hasChanges: Bool { productID.map { words != catalog.product($0)?.words } ?? false }

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
    changed?()
    ended?()
    next.take()?()
  }
}

/// Asks what is to become of changes that are not saved.
@MainActor
final class LeaveQuestion {
  enum Answer: Int32 { case stay, discard, save }

  /// A `GtkWindow`.
  let dialog = ObjectPointer(made: gtk_window_new())
  /// Which button has the keyboard.
  private(set) lazy var focus = KeyboardFocus(in: dialog) { [weak self] in self?.changed?() }
  /// Called when another button has the keyboard.
  var changed: (@MainActor () -> Void)?
  /// Called with the answer.
  private var answered: (@MainActor (Answer) -> Void)?

  init() {
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
