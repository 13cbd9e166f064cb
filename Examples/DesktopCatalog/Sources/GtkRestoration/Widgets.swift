import CGtk

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
