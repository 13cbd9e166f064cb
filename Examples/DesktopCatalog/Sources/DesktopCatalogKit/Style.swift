import CGtk
import GtkRestoration

/// What the app looks like beyond what GTK gives it.
///
/// GTK has classes for titles, too, but those have a size of their own whatever font the user has chosen.
@MainActor
enum Style: String {
  case title = "catalog-title"
  case heading = "catalog-heading"
  case caption = "catalog-caption"
  case dim = "dim-label"
  case problem = "error"
  case suggested = "suggested-action"
  case destructive = "destructive-action"
  case sidebar = "navigation-sidebar"
  case content = "view"

  /// A list without padding has as many pixels as its rows: `RestorableRows` tells a place by them.
  private static let sheet = """
    .catalog-title { font-weight: 800; font-size: 180%; }
    .catalog-heading { font-weight: bold; }
    .navigation-sidebar { padding: 0; }
    stackswitcher > button { min-width: 72px; }
    .catalog-caption { font-size: 90%; }
    window.message > box.titlebar { min-height: 18px; }
    """

  /// Lets all windows of the app know the classes.
  static func install() {
    guard let display = gdk_display_get_default() else { return }
    let provider = ObjectPointer(made: gtk_css_provider_new())
    gtk_css_provider_load_from_data(provider.of(), sheet, -1)
    gtk_style_context_add_provider_for_display(
      display, provider.opaque, guint(GTK_STYLE_PROVIDER_PRIORITY_APPLICATION))
    g_object_unref(provider)
  }
}

@MainActor
func add(_ styles: Style..., to widget: ObjectPointer) {
  for style in styles { gtk_widget_add_css_class(widget.of(), style.rawValue) }
}

@MainActor
func setMargins(_ widget: ObjectPointer, horizontal: Int32, vertical: Int32) {
  gtk_widget_set_margin_start(widget.of(), horizontal)
  gtk_widget_set_margin_end(widget.of(), horizontal)
  gtk_widget_set_margin_top(widget.of(), vertical)
  gtk_widget_set_margin_bottom(widget.of(), vertical)
}

@MainActor
func box(
  _ orientation: GtkOrientation, spacing: Int32, _ children: [ObjectPointer] = []
) -> ObjectPointer {
  let box = ObjectPointer(made: gtk_box_new(orientation, spacing))
  for child in children { gtk_box_append(box.of(), child.of()) }
  return box
}

/// A text of one line, which is cut where there is no room.
@MainActor
func line(_ styles: Style...) -> ObjectPointer {
  let label = ObjectPointer(made: gtk_label_new(nil))
  gtk_label_set_xalign(label.opaque, 0)
  gtk_label_set_ellipsize(label.opaque, PANGO_ELLIPSIZE_END)
  for style in styles { add(style, to: label) }
  return label
}

/// A text of as many lines as it needs, none longer than people like to read.
@MainActor
func paragraph(_ text: String, _ styles: Style..., width: Int32 = 64) -> ObjectPointer {
  let label = ObjectPointer(made: gtk_label_new(text))
  gtk_label_set_wrap(label.opaque, 1)
  gtk_label_set_wrap_mode(label.opaque, PANGO_WRAP_WORD_CHAR)
  gtk_label_set_max_width_chars(label.opaque, width)
  gtk_label_set_xalign(label.opaque, 0)
  gtk_widget_set_halign(label.of(), GTK_ALIGN_START)
  for style in styles { add(style, to: label) }
  return label
}

/// Lets a text that `paragraph` has made stand in the middle.
@MainActor
func center(_ label: ObjectPointer) {
  gtk_label_set_justify(label.opaque, GTK_JUSTIFY_CENTER)
  gtk_label_set_xalign(label.opaque, 0.5)
  gtk_widget_set_halign(label.of(), GTK_ALIGN_CENTER)
}
