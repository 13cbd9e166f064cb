import CGtk
package import CatalogModel
import RestorationGTK

/// The words that others have saved during an edit, and buttons that say what becomes of both texts.
///
/// It never takes the keyboard by itself: the user may be typing.
@MainActor
package final class ChangedMeanwhile {
  /// How long the question must have been there for an answer to count, in microseconds.
  ///
  /// The click that brings the window to the front, which then looks at the words of others, may be one on
  /// a button.
  private static let shortestLook: gint64 = 500_000

  let widget: ObjectPointer
  /// Called with what the user has chosen.
  var chosen: (@MainActor (WordsEdit.Choice) -> Void)?

  private let text = ObjectPointer(made: gtk_text_view_new())
  private var theirs: ProductEdit?
  private var shownSince: gint64 = 0

  init() {
    let scrolled = ObjectPointer(made: gtk_scrolled_window_new())
    let buttons = box(GTK_ORIENTATION_HORIZONTAL, spacing: 12)
    widget = box(
      GTK_ORIENTATION_VERTICAL, spacing: 6,
      [
        paragraph("Changed meanwhile", .heading),
        paragraph("Others have saved these words since you began. Yours are above."), scrolled,
        buttons,
      ])
    add(.notice, to: widget)
    gtk_widget_set_margin_top(widget.of(), 12)
    setAccessibleRole(widget, GTK_ACCESSIBLE_ROLE_ALERT)
    setAccessibleLabel(widget, "Changed meanwhile")
    setAccessibleLabel(text, "Their words")
    gtk_text_view_set_editable(text.of(), 0)
    gtk_text_view_set_accepts_tab(text.of(), 0)
    gtk_text_view_set_wrap_mode(text.of(), GTK_WRAP_WORD_CHAR)
    gtk_text_view_set_left_margin(text.of(), 9)
    gtk_text_view_set_right_margin(text.of(), 9)
    gtk_scrolled_window_set_child(scrolled.opaque, text.of())
    gtk_scrolled_window_set_has_frame(scrolled.opaque, 1)
    gtk_scrolled_window_set_min_content_height(scrolled.opaque, 84)
    gtk_box_set_homogeneous(buttons.of(), 1)
    gtk_widget_set_halign(buttons.of(), GTK_ALIGN_END)
    for (label, choice) in [
      ("Save _mine", .mine), ("Take _theirs", .theirs), ("Edit _both", .both),
    ] as [(String, WordsEdit.Choice)] {
      let button = ObjectPointer(made: gtk_button_new_with_mnemonic(label))
      gtk_box_append(buttons.of(), button.of())
      connect(button, "clicked") { [unowned self] in answer(choice) }
    }
    gtk_widget_set_visible(widget.of(), 0)
  }

  /// Does what a button says, unless the words have come too late to be seen before it was pressed.
  package func answer(_ choice: WordsEdit.Choice) {
    guard g_get_monotonic_time() - shownSince >= Self.shortestLook else { return }
    chosen?(choice)
  }

  /// Shows words, or nothing if there is nothing to decide.
  func show(_ theirs: ProductEdit?) {
    guard theirs != self.theirs else { return }
    self.theirs = theirs
    shownSince = g_get_monotonic_time()
    if let theirs {
      gtk_text_buffer_set_text(
        gtk_text_view_get_buffer(text.of()), "\(theirs.title)\n\n\(theirs.description)", -1)
    }
    gtk_widget_set_visible(widget.of(), theirs == nil ? 0 : 1)
  }

  var isShown: Bool { theirs != nil }

  /// What is to be read in it; nil if it is not shown.
  package var shownText: String? {
    guard gtk_widget_get_visible(widget.of()) != 0 else { return nil }
    return contents(of: text)
  }

  /// Whether one of its parts has the keyboard, which a restore gives it before it is shown.
  var hasKeyboard: Bool { gtk_widget_get_focus_child(widget.of()) != nil }
}

/// Gives a widget the role that a screen reader says; before the widget is shown.
@MainActor
private func setAccessibleRole(_ widget: ObjectPointer, _ role: GtkAccessibleRole) {
  var value = GValue()
  g_value_init(&value, gtk_accessible_role_get_type())
  g_value_set_enum(&value, gint(role.rawValue))
  g_object_set_property(widget.of(), "accessible-role", &value)
  g_value_unset(&value)
}
