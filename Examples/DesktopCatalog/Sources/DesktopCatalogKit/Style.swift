import CGtk
import RestorationGTK

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
  case notice = "catalog-notice"

  /// A list without padding has as many pixels as its rows: `RestorableRows` tells a place by them.
  private static let sheet = """
    .catalog-title { font-weight: 800; font-size: 180%; }
    .catalog-heading { font-weight: bold; }
    .navigation-sidebar { padding: 0; }
    stackswitcher > button { min-width: 72px; }
    .catalog-caption { font-size: 90%; }
    .catalog-notice { padding: 12px; border: 1px solid @warning_color; border-radius: 6px; }
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
