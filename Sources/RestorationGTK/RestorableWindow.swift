#if GTK
internal import CGTK4
public import RestorationKit

/// The size of a window, as a view of the node that stands for the window.
///
/// GTK 4 has no positions; those are the compositor's.
@MainActor
public final class WindowSize: @MainActor RestorableView, @MainActor StatefulRestoring {
  /// What is stored of a window.
  public struct State: Codable {
    /// The size without what the compositor adds, also while the window is maximized.
    public var width: Int32
    /// Its height.
    public var height: Int32
    /// Whether the window fills its screen.
    public var isMaximized: Bool
    /// Whether the window covers its screen.
    public var isFullscreen: Bool
  }

  /// The name of the view.
  public let restorationIdentifier: String? = "window"

  private static let smallest: Int32 = 100

  private let window: ObjectPointer

  /// Creates a view for a window.
  ///
  /// - Parameters:
  ///   - window: A `GtkWindow`.
  ///   - changed: Is called when the size is another one.
  public init(_ window: ObjectPointer, changed: @escaping @MainActor () -> Void) {
    self.window = window
    for property in ["default-width", "default-height", "maximized", "fullscreened"] {
      connect(window, "notify::\(property)", changed)
    }
  }

  /// The size.
  ///
  /// One that nobody could use, or that no screen has room for, is cut to one that fits.
  public var restorableState: State {
    get {
      var (width, height): (Int32, Int32) = (0, 0)
      gtk_window_get_default_size(window.of(), &width, &height)
      return State(
        width: width, height: height, isMaximized: gtk_window_is_maximized(window.of()) != 0,
        isFullscreen: gtk_window_is_fullscreen(window.of()) != 0)
    }
    set {
      let largest = Self.largestMonitor()
      if newValue.width > 0, newValue.height > 0 {
        gtk_window_set_default_size(
          window.of(), min(max(newValue.width, Self.smallest), largest.width),
          min(max(newValue.height, Self.smallest), largest.height))
      }
      if newValue.isMaximized { gtk_window_maximize(window.of()) }
      if newValue.isFullscreen { gtk_window_fullscreen(window.of()) }
    }
  }

  /// The room that the largest screens have, in each direction.
  private static func largestMonitor() -> (width: Int32, height: Int32) {
    var largest: (width: Int32, height: Int32) = (smallest, smallest)
    guard let display = gdk_display_get_default(), let monitors = gdk_display_get_monitors(display)
    else { return largest }
    for number in 0..<g_list_model_get_n_items(monitors) {
      guard let monitor = g_list_model_get_item(monitors, number) else { continue }
      var area = GdkRectangle()
      gdk_monitor_get_geometry(monitor.opaque, &area)
      g_object_unref(monitor)
      largest = (max(largest.width, area.width), max(largest.height, area.height))
    }
    return largest
  }
}

/// Where the user has put the handle between two panes.
@MainActor
public final class PanedPosition: @MainActor RestorableView, @MainActor StatefulRestoring {
  /// The name of the view.
  public let restorationIdentifier: String?

  private let paned: ObjectPointer

  /// Creates a view for two panes.
  ///
  /// - Parameters:
  ///   - paned: A `GtkPaned`.
  ///   - identifier: The name of the view in its node.
  ///   - changed: Is called when the handle was moved.
  public init(
    _ paned: ObjectPointer, restorationIdentifier identifier: String,
    changed: @escaping @MainActor () -> Void
  ) {
    self.paned = paned
    restorationIdentifier = identifier
    connect(paned, "notify::position", changed)
  }

  /// The position.
  ///
  /// GTK moves one that is too far to the end of the panes.
  public var restorableState: Int32 {
    get { gtk_paned_get_position(paned.opaque) }
    set { gtk_paned_set_position(paned.opaque, max(0, newValue)) }
  }
}

/// Which widget of a window has the keyboard.
@MainActor
public final class KeyboardFocus: @MainActor RestorableView, @MainActor StatefulRestoring {
  /// What is stored of the keyboard.
  public struct State: Codable {
    /// The way from the window to the widget; nil if no widget has the keyboard.
    public var way: [Step]?
    /// Whether the window shows which widget that is.
    public var isVisible: Bool

    /// One widget on the way.
    public struct Step: Codable, Equatable {
      /// The name of its type.
      public var type: String
      /// How many widgets are before it, in the widget around it.
      public var place: Int
    }
  }

  /// The name of the view.
  public let restorationIdentifier: String? = "focus"

  private let window: ObjectPointer
  /// GTK shows no focus in a window that is not active yet.
  private var isVisibleWhenShown: Bool?

  /// Creates a view for a window.
  ///
  /// - Parameters:
  ///   - window: A `GtkWindow`.
  ///   - changed: Is called when another widget has the keyboard.
  public init(in window: ObjectPointer, changed: @escaping @MainActor () -> Void) {
    self.window = window
    for property in ["focus-widget", "focus-visible"] {
      connect(window, "notify::\(property)", changed)
    }
    connect(window, "notify::is-active") { [weak self] in
      guard let isVisible = self?.isVisibleWhenShown.take(), isVisible else { return }
      gtk_window_set_focus_visible(window.of(), 1)
    }
  }

  /// The widget that has the keyboard.
  ///
  /// One that is not there any more gets none.
  public var restorableState: State {
    get {
      State(
        way: gtk_window_get_focus(window.of()).map { way(to: $0) },
        isVisible: isVisibleWhenShown ?? (gtk_window_get_focus_visible(window.of()) != 0))
    }
    set {
      isVisibleWhenShown = newValue.isVisible
      guard let way = newValue.way else { return gtk_window_set_focus(window.of(), nil) }
      guard let widget = widget(at: way) else { return }
      let isText = g_type_check_instance_is_a(
        UnsafeMutableRawPointer(widget).of(), gtk_text_get_type())
      // A text selects itself when it is given the keyboard in the usual way.
      if isText != 0 {
        gtk_text_grab_focus_without_selecting(UnsafeMutableRawPointer(widget).of())
      } else {
        gtk_widget_grab_focus(widget)
      }
    }
  }

  private func way(to widget: UnsafeMutablePointer<GtkWidget>) -> [State.Step] {
    var way: [State.Step] = []
    var widget = widget
    while widget != window.of(), let parent = gtk_widget_get_parent(widget) {
      var place = 0
      var sibling = gtk_widget_get_prev_sibling(widget)
      while let before = sibling {
        place += 1
        sibling = gtk_widget_get_prev_sibling(before)
      }
      way.append(State.Step(type: typeName(of: widget), place: place))
      widget = parent
    }
    return way.reversed()
  }

  private func widget(at way: [State.Step]) -> UnsafeMutablePointer<GtkWidget>? {
    var widget: UnsafeMutablePointer<GtkWidget> = window.of()
    for step in way {
      var child = gtk_widget_get_first_child(widget)
      var place = 0
      while place < step.place, let before = child {
        child = gtk_widget_get_next_sibling(before)
        place += 1
      }
      guard let child, typeName(of: child) == step.type else { return nil }
      widget = child
    }
    return widget
  }

  private func typeName(of widget: UnsafeMutablePointer<GtkWidget>) -> String {
    g_type_name_from_instance(UnsafeMutableRawPointer(widget).of()).map { String(cString: $0) }
      ?? ""
  }
}
#endif
