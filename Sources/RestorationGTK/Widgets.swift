#if GTK
internal import CGTK4

/// Gives a widget the name that a screen reader says.
///
/// - Parameters:
///   - widget: The widget.
///   - label: The name.
@MainActor
public func setAccessibleLabel(_ widget: ObjectPointer, _ label: String) {
  var properties = [GTK_ACCESSIBLE_PROPERTY_LABEL]
  var value = GValue()
  g_value_init(&value, GType(16 << 2))
  g_value_set_string(&value, label)
  gtk_accessible_update_property_value(widget.opaque, 1, &properties, &value)
  g_value_unset(&value)
}

/// Does the layout of a window that GTK would do before it draws the next frame.
///
/// When another row is selected, a list scrolls to it in the layout. Read before that, the offset
/// would be that of the row before.
///
/// - Parameter widget: A widget of the window.
@MainActor
func layOutNow(_ widget: ObjectPointer) {
  // There is none before the window is shown.
  guard let clock = gtk_widget_get_frame_clock(widget.of()) else { return }
  emit_layout(clock)
}
#endif
