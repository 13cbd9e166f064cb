#if GTK
internal import CGTK4
internal import Dispatch
internal import Glibc

/// Lets the main actor run on the main loop of GLib.
///
/// Swift puts what the main actor is to do on the main queue of Dispatch. That queue has a file
/// descriptor that can be read when there is something to do; Foundation's run loop waits for
/// it in the same way.
@MainActor
public enum MainLoop {
  private static var isAttached = false

  /// Lets tasks of the main actor run whenever GLib's main loop runs.
  public static func attachMainActor() {
    guard !isAttached else { return }
    isAttached = true
    g_unix_fd_add(
      mainQueueHandle(), G_IO_IN,
      { descriptor, _, _ in
        // Without this it can be read for ever.
        var count: UInt64 = 0
        _ = read(descriptor, &count, MemoryLayout.size(ofValue: count))
        runMainQueue(nil)
        return 1
      }, nil)
  }

  /// Runs the loop until something has ended, at most for some time.
  ///
  /// For handlers that GTK expects an answer from, such as that of the end of a session. A task
  /// of the main actor awaits instead: in one, nothing that is waited for here goes on.
  ///
  /// - Parameters:
  ///   - limit: In seconds.
  ///   - work: What is waited for.
  public static func wait(
    atMost limit: Double = 2, for work: @escaping @MainActor () async -> Void
  ) {
    let wait = Wait()
    Task {
      await work()
      wait.isOver = true
    }
    // It does nothing but wake the loop up.
    let timer = g_timeout_add(50, { _ in 1 }, nil)
    defer { g_source_remove(timer) }
    let end = g_get_monotonic_time() + gint64(limit * 1_000_000)
    while !wait.isOver, g_get_monotonic_time() < end { g_main_context_iteration(nil, 1) }
  }

  /// Handles what the user has done so far, also if GTK has not heard of it yet.
  ///
  /// - Parameter limit: How long that may take, in seconds.
  static func handleInput(atMost limit: Double) {
    if let display = gdk_display_get_default() { gdk_display_sync(display) }
    let end = g_get_monotonic_time() + gint64(limit * 1_000_000)
    while g_main_context_pending(nil) != 0, g_get_monotonic_time() < end {
      g_main_context_iteration(nil, 0)
    }
  }

  /// Does something when the layout is over that is under way, before the next frame is drawn.
  static func afterLayout(_ body: @escaping @MainActor () -> Void) {
    let handler = SignalHandler { _ in
      body()
      return false
    }
    g_idle_add_full(
      G_PRIORITY_HIGH_IDLE, SignalHandler.call, Unmanaged.passRetained(handler).toOpaque(),
      SignalHandler.release)
  }

  /// Does something whenever the process gets a signal, in the loop and not in the midst of
  /// other code.
  static func onSignal(_ number: Int32, _ body: @escaping @MainActor () -> Void) {
    let handler = SignalHandler { _ in
      body()
      return true
    }
    g_unix_signal_add_full(
      G_PRIORITY_DEFAULT, number, SignalHandler.call, Unmanaged.passRetained(handler).toOpaque(),
      SignalHandler.release)
  }

  private final class Wait {
    var isOver = false
  }
}

@_silgen_name("_dispatch_get_main_queue_handle_4CF")
private func mainQueueHandle() -> Int32

@_silgen_name("_dispatch_main_queue_callback_4CF")
private func runMainQueue(_: UnsafeMutableRawPointer?)
#endif
