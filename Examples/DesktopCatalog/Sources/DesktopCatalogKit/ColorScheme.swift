import CGtk
import RestorationGTK

/// Light or dark, as the user has set it for all apps.
///
/// The desktop portal says which, and again whenever the user changes it; GTK asks for it only in later
/// versions than 4.8. Where there is no portal, or the user has no preference, the settings of GTK hold.
/// Nothing here waits for the portal.
@MainActor
enum ColorScheme {
  private static let portal = "org.freedesktop.portal.Desktop"
  private static let path = "/org/freedesktop/portal/desktop"
  private static let settings = "org.freedesktop.portal.Settings"
  private static let namespace = "org.freedesktop.appearance"
  private static let key = "color-scheme"
  private static let preferDark = "gtk-application-prefer-dark-theme"

  /// Follows the user's preference until the process ends.
  ///
  /// - Parameter bus: The session bus.
  static func follow(on bus: OpaquePointer) {
    let changed: GDBusSignalCallback = { _, _, _, _, _, arguments, _ in
      guard g_variant_check_format_string(arguments, "(ssv)", 0) != 0,
        let name = g_variant_get_child_value(arguments, 1)
      else { return }
      defer { g_variant_unref(name) }
      guard String(cString: g_variant_get_string(name, nil)) == ColorScheme.key else { return }
      let scheme = ColorScheme.number(in: arguments, at: 2)
      MainActor.assumeIsolated { ColorScheme.use(scheme) }
    }
    g_dbus_connection_signal_subscribe(
      bus, portal, settings, "SettingChanged", path, namespace, G_DBUS_SIGNAL_FLAGS_NONE, changed,
      nil, nil)

    let answered: GAsyncReadyCallback = { bus, result, _ in
      guard let bus,
        let answer = g_dbus_connection_call_finish(OpaquePointer(bus), result, nil)
      else { return }
      defer { g_variant_unref(answer) }
      let scheme = ColorScheme.number(in: answer, at: 0)
      MainActor.assumeIsolated { ColorScheme.use(scheme) }
    }
    var arguments = [namespace, key].map { (text: String) in g_variant_new_string(text) }
    g_dbus_connection_call(
      bus, portal, path, settings, "Read", g_variant_new_tuple(&arguments, gsize(arguments.count)),
      nil, G_DBUS_CALL_FLAGS_NONE, -1, nil, answered, nil)
  }

  private static func use(_ scheme: UInt32?) {
    guard let settings = gtk_settings_get_default() else { return }
    guard let scheme, scheme == 1 || scheme == 2 else {
      return gtk_settings_reset_property(settings, preferDark)
    }
    var value = GValue()
    g_value_init(&value, GType(5 << 2))
    g_value_set_boolean(&value, scheme == 1 ? 1 : 0)
    g_object_set_property(ObjectPointer(settings).of(), preferDark, &value)
  }

  /// A number that stands in as many variants as the portal likes.
  private nonisolated static func number(in tuple: OpaquePointer?, at index: gsize) -> UInt32? {
    guard let tuple, index < g_variant_n_children(tuple) else { return nil }
    var value = g_variant_get_child_value(tuple, index)
    while let variant = value, g_variant_check_format_string(variant, "v", 0) != 0 {
      value = g_variant_get_variant(variant)
      g_variant_unref(variant)
    }
    guard let value else { return nil }
    defer { g_variant_unref(value) }
    return g_variant_check_format_string(value, "u", 0) != 0 ? g_variant_get_uint32(value) : nil
  }
}
