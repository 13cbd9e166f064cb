import CGtk
import RestorationGTK

/// What is shown in place of a product when a search finds none.
@MainActor
final class EmptyState {
  let widget: ObjectPointer
  private let sentence = paragraph("", .dim, width: 40)

  init() {
    let icon = ObjectPointer(made: gtk_image_new_from_icon_name("system-search-symbolic"))
    gtk_image_set_pixel_size(icon.opaque, 96)
    gtk_widget_set_margin_bottom(icon.of(), 12)
    add(.dim, to: icon)
    let title = paragraph("No Results Found", .title)
    for label in [title, sentence] { center(label) }
    widget = box(GTK_ORIENTATION_VERTICAL, spacing: 12, [icon, title, sentence])
    gtk_widget_set_valign(widget.of(), GTK_ALIGN_CENTER)
    setMargins(widget, horizontal: 24, vertical: 24)
  }

  func show(_ query: String) {
    gtk_label_set_text(
      sentence.opaque, "No title and no package name has “\(query)” in it. Try other words.")
  }
}
