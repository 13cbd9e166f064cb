#if SecretService
internal import ArchiveCodec
internal import CSecret

/// Runs a call whose signals nobody else waits for, and none is left over: a process
/// without GLib's main loop would gather them for ever.
///
/// The connection to the bus is shared, so it is made before: it says that it is closed in
/// the context in which it was made, and that must not be this one.
func inContextOfItsOwn<Result>(
  _ body: () throws(ArchiveError) -> Result
) throws(ArchiveError) -> Result {
  let connection = unsafe UnsafeMutableRawPointer(g_bus_get_sync(G_BUS_TYPE_SESSION, nil, nil))
  let context = unsafe g_main_context_new()
  unsafe g_main_context_push_thread_default(context)
  defer {
    while unsafe g_main_context_iteration(context, 0) != 0 {}
    unsafe g_main_context_pop_thread_default(context)
    unsafe g_main_context_unref(context)
    if let connection = unsafe connection { unsafe g_object_unref(connection) }
  }
  return try body()
}

/// What a list holds, which it also keeps.
@unsafe
func objects<Object>(
  in list: UnsafeMutablePointer<GList>?, as type: Object.Type
) -> [UnsafeMutablePointer<Object>] {
  var objects: [UnsafeMutablePointer<Object>] = unsafe []
  var rest = unsafe list
  while let link = unsafe rest {
    if let object = unsafe link.pointee.data {
      unsafe objects.append(object.assumingMemoryBound(to: type))
    }
    unsafe rest = link.pointee.next
  }
  return unsafe objects
}

/// Calls, and throws the error that the call gives.
///
/// - Throws: `ArchiveError` with `keyLocked` or `keyUnavailable`. The text of the service
///   is its subject; it has no secret.
@unsafe
func checked<Result>(
  _ call: (_ error: UnsafeMutablePointer<UnsafeMutablePointer<GError>?>) -> Result
) throws(ArchiveError) -> Result {
  var error: UnsafeMutablePointer<GError>?
  let result = unsafe call(&error)
  guard let error = unsafe error else { return result }
  defer { unsafe g_error_free(error) }
  let isLocked = unsafe g_error_matches(
    error, secret_error_get_quark(), CInt(SECRET_ERROR_IS_LOCKED.rawValue))
  guard isLocked == 0 else { throw .keyLocked() }
  unsafe g_dbus_error_strip_remote_error(error)
  throw ArchiveError(.keyUnavailable, subject: unsafe String(cString: error.pointee.message))
}
#endif
