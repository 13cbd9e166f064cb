import CGtk
import RestorationGTK

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
