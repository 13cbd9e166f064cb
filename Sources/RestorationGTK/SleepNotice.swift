#if GTK
internal import CGTK4
internal import Glibc

/// Does something when the machine is about to sleep, which waits for it.
///
/// logind tells it to everybody, and waits for those who hold a lock: five seconds by default.
/// Nothing here waits for logind.
@MainActor
final class SleepNotice {
  private static let logind = "org.freedesktop.login1"
  private static let manager = "org.freedesktop.login1.Manager"
  private static let path = "/org/freedesktop/login1"

  private let connection: OpaquePointer
  private let willSleep: @MainActor () -> Void
  /// The file descriptor of the lock, which is gone when that is closed, also by the end of the
  /// process.
  private var lock: Int32?

  /// Waits for notices until the process ends.
  ///
  /// - Parameter willSleep: What is done before the machine sleeps.
  static func begin(willSleep: @escaping @MainActor () -> Void) {
    let reply = Reply { result in
      // Without a system bus there is nobody who could tell.
      guard let connection = g_bus_get_finish(result, nil) else { return }
      // The app can do without the bus, should that end.
      g_dbus_connection_set_exit_on_close(connection, 0)
      let notice = SleepNotice(connection, willSleep)
      notice.subscribe()
      notice.takeLock()
    }
    g_bus_get(G_BUS_TYPE_SYSTEM, nil, Reply.take, reply.pointer)
  }

  private init(_ connection: OpaquePointer, _ willSleep: @escaping @MainActor () -> Void) {
    self.connection = connection
    self.willSleep = willSleep
  }

  private func subscribe() {
    let call: GDBusSignalCallback = { _, _, _, _, _, arguments, data in
      guard let data, g_variant_check_format_string(arguments, "(b)", 0) != 0,
        let argument = g_variant_get_child_value(arguments, 0)
      else { return }
      let isAboutToSleep = g_variant_get_boolean(argument) != 0
      g_variant_unref(argument)
      let notice = Unmanaged<SleepNotice>.fromOpaque(data).takeUnretainedValue()
      MainActor.assumeIsolated { isAboutToSleep ? notice.sleep() : notice.takeLock() }
    }
    g_dbus_connection_signal_subscribe(
      connection, Self.logind, Self.manager, "PrepareForSleep", Self.path, nil,
      G_DBUS_SIGNAL_FLAGS_NONE, call, Unmanaged.passRetained(self).toOpaque(), nil)
  }

  private func sleep() {
    let lock = lock.take()
    willSleep()
    if let lock { close(lock) }
  }

  private func takeLock() {
    guard lock == nil else { return }
    let name = g_get_application_name().map { String(cString: $0) } ?? "An app"
    // What is held off, by whom, why, and how.
    var arguments = ["sleep", name, "Stores its windows", "delay"].map { (text: String) in
      g_variant_new_string(text)
    }
    let reply = Reply { [self] result in
      var descriptors: UnsafeMutablePointer<GUnixFDList>?
      // Without logind the machine does not wait.
      guard
        let answer = g_dbus_connection_call_with_unix_fd_list_finish(
          connection, &descriptors, result, nil)
      else { return }
      keepLock(answer, descriptors)
      g_variant_unref(answer)
      descriptors.map { g_object_unref(ObjectPointer($0)) }
    }
    g_dbus_connection_call_with_unix_fd_list(
      connection, Self.logind, Self.path, Self.manager, "Inhibit",
      g_variant_new_tuple(&arguments, gsize(arguments.count)), nil,
      G_DBUS_CALL_FLAGS_NO_AUTO_START, -1, nil, nil, Reply.take, reply.pointer)
  }

  private func keepLock(
    _ answer: OpaquePointer, _ descriptors: UnsafeMutablePointer<GUnixFDList>?
  ) {
    guard lock == nil, let descriptors, g_variant_check_format_string(answer, "(h)", 0) != 0,
      let handle = g_variant_get_child_value(answer, 0)
    else { return }
    let descriptor = g_unix_fd_list_get(descriptors, g_variant_get_handle(handle), nil)
    g_variant_unref(handle)
    if descriptor >= 0 { lock = descriptor }
  }
}

/// What is done with the reply to a call.
@MainActor
private final class Reply {
  private let body: @MainActor (OpaquePointer?) -> Void

  init(_ body: @escaping @MainActor (OpaquePointer?) -> Void) {
    self.body = body
  }

  /// Keeps this until the reply is there.
  var pointer: ObjectPointer { Unmanaged.passRetained(self).toOpaque() }

  static let take: GAsyncReadyCallback = { _, result, data in
    guard let data else { return }
    nonisolated(unsafe) let result = result
    let reply = Unmanaged<Reply>.fromOpaque(data).takeRetainedValue()
    MainActor.assumeIsolated { reply.body(result) }
  }
}
#endif
