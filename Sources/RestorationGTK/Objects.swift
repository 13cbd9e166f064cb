#if GTK
internal import CGTK4

/// An object of GTK, whatever its type in C is.
public typealias ObjectPointer = UnsafeMutableRawPointer

extension ObjectPointer {
  /// The pointer with the type that a function of GTK wants.
  ///
  /// GTK checks the type of every object that it is given.
  public func of<Object>(_ type: Object.Type = Object.self) -> UnsafeMutablePointer<Object> {
    assumingMemoryBound(to: type)
  }

  /// Takes an object that a function of GTK has given.
  ///
  /// Many of these functions could give none as far as their types say, and never do: without
  /// memory GTK ends the process itself.
  ///
  /// - Parameter object: The object.
  public init<Object>(made object: UnsafeMutablePointer<Object>?) {
    guard let object else { preconditionFailure("GTK has given no object.") }
    self = UnsafeMutableRawPointer(object)
  }

  /// Takes an object of a type that GTK keeps to itself.
  ///
  /// - Parameter object: The object.
  public init(made object: OpaquePointer?) {
    guard let object else { preconditionFailure("GTK has given no object.") }
    self = UnsafeMutableRawPointer(object)
  }

  /// The pointer to a type that GTK keeps to itself.
  public var opaque: OpaquePointer { OpaquePointer(self) }
}

/// What is done when a signal comes.
@MainActor
final class SignalHandler {
  /// Is called for sources of the main loop; such a source stays if it answers true.
  static let call: GSourceFunc = { data in
    guard let data else { return 0 }
    let handler = Unmanaged<SignalHandler>.fromOpaque(data).takeUnretainedValue()
    return MainActor.assumeIsolated { handler.body(nil) } ? 1 : 0
  }

  static let release: GDestroyNotify = { data in
    if let data { Unmanaged<SignalHandler>.fromOpaque(data).release() }
  }

  let body: @MainActor (ObjectPointer?) -> Bool

  init(_ body: @escaping @MainActor (ObjectPointer?) -> Bool) {
    self.body = body
  }
}

/// Does something whenever an object sends a signal, until the object is gone.
///
/// - Parameters:
///   - object: The object; it keeps the closure alive.
///   - signal: The name, as `clicked` or `notify::position`.
///   - isLast: Whether all other handlers, and that of GTK, come before.
///   - body: Is given the first argument of the signal, or the object if there is none, and
///     answers signals that ask for a Bool.
@MainActor
public func connect(
  _ object: ObjectPointer, _ signal: String, afterOthers isLast: Bool = false,
  answering body: @escaping @MainActor (ObjectPointer?) -> Bool
) {
  // A swapped handler gets its data first, so that one function fits signals with any arguments.
  let call: @convention(c) (ObjectPointer?, ObjectPointer?) -> gboolean = { data, argument in
    guard let data else { return 0 }
    let handler = Unmanaged<SignalHandler>.fromOpaque(data).takeUnretainedValue()
    nonisolated(unsafe) let argument = argument
    return MainActor.assumeIsolated { handler.body(argument) } ? 1 : 0
  }
  g_signal_connect_data(
    object, signal, unsafeBitCast(call, to: GCallback.self),
    Unmanaged.passRetained(SignalHandler(body)).toOpaque(),
    { data, _ in if let data { Unmanaged<SignalHandler>.fromOpaque(data).release() } },
    GConnectFlags(G_CONNECT_SWAPPED.rawValue | (isLast ? G_CONNECT_AFTER.rawValue : 0)))
}

/// Does something whenever an object sends a signal, until the object is gone.
///
/// - Parameters:
///   - object: The object; it keeps the closure alive.
///   - signal: The name.
///   - isLast: Whether all other handlers, and that of GTK, come before.
///   - body: What is done.
@MainActor
public func connect(
  _ object: ObjectPointer, _ signal: String, afterOthers isLast: Bool = false,
  _ body: @escaping @MainActor () -> Void
) {
  connect(object, signal, afterOthers: isLast) { _ in
    body()
    return false
  }
}
#endif
