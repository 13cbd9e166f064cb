#if GTK
internal import CGTK4
public import RestorationKit

/// How far a scrolled window is scrolled.
///
/// A content has no size before GTK has laid it out, which it does when it draws the next
/// frame. Until then the offset that was restored waits; the user or the app may scroll
/// elsewhere meanwhile, and that counts.
@MainActor
public final class ScrolledPlace: @MainActor RestorableView, @MainActor RestorableScrolling {
  /// The name of the view.
  public let restorationIdentifier: String?

  /// A `GtkScrolledWindow`.
  private let scrolled: ObjectPointer
  private let horizontal: Scroller
  private let vertical: Scroller

  /// Creates a view for a scrolled window.
  ///
  /// - Parameters:
  ///   - scrolled: A `GtkScrolledWindow`.
  ///   - identifier: The name of the view in its node.
  ///   - changed: Is called when it was scrolled.
  public init(
    _ scrolled: ObjectPointer, restorationIdentifier identifier: String,
    changed: @escaping @MainActor () -> Void
  ) {
    self.scrolled = scrolled
    restorationIdentifier = identifier
    horizontal = Scroller(
      ObjectPointer(made: gtk_scrolled_window_get_hadjustment(scrolled.opaque)), changed: changed)
    vertical = Scroller(
      ObjectPointer(made: gtk_scrolled_window_get_vadjustment(scrolled.opaque)), changed: changed)
  }

  /// The offset in the next frame, in pixels.
  public var contentOffset: (x: Double, y: Double) {
    get {
      layOutNow(scrolled)
      return (horizontal.value, vertical.value)
    }
    set { (horizontal.value, vertical.value) = (newValue.x, newValue.y) }
  }

  /// No bound: an offset that is too far is cut when the content is laid out.
  public var maximumContentOffset: (x: Double, y: Double) { (.infinity, .infinity) }
}

/// One direction of a scrolled window.
@MainActor
final class Scroller {
  /// A `GtkAdjustment`.
  private let adjustment: ObjectPointer
  /// Where the content is to be as soon as it is that long.
  private var waiting: Double?
  private var isSetting = false

  init(
    _ adjustment: ObjectPointer, changed: @escaping @MainActor () -> Void
  ) {
    self.adjustment = adjustment
    connect(adjustment, "changed") { [weak self] in self?.laidOut() }
    connect(adjustment, "value-changed") { [weak self] in
      guard let self, !isSetting else { return }
      // Somebody has scrolled.
      if isLaidOut { waiting = nil }
      changed()
    }
  }

  /// How long the content is.
  var length: Double { gtk_adjustment_get_upper(adjustment.of()) }

  private var largest: Double { max(0, length - gtk_adjustment_get_page_size(adjustment.of())) }

  var value: Double {
    get { waiting ?? gtk_adjustment_get_value(adjustment.of()) }
    set {
      waiting = newValue
      laidOut()
    }
  }

  /// Whether anything was laid out yet.
  var isLaidOut: Bool { gtk_adjustment_get_page_size(adjustment.of()) > 0 }

  /// Scrolls to where the content is to be when the layout is over that has just told its size:
  /// a list would not notice it in the midst of that.
  private func laidOut() {
    guard waiting != nil, isLaidOut else { return }
    MainLoop.afterLayout { [weak self] in self?.scroll() }
  }

  private func scroll() {
    guard let value = waiting, isLaidOut else { return }
    isSetting = true
    gtk_adjustment_set_value(adjustment.of(), min(value, largest))
    isSetting = false
    // A long text is laid out in parts.
    if value <= largest { waiting = nil }
  }
}

/// The selection of a text view, and the text itself, which nobody else stores yet.
@MainActor
public final class EditedText:
  @MainActor RestorableView, @MainActor StatefulRestoring, @MainActor RestorableTextSelection
{
  /// The name of the view.
  public let restorationIdentifier: String?

  private let view: ObjectPointer
  private let buffer: ObjectPointer

  /// Creates a view for a text view.
  ///
  /// - Parameters:
  ///   - view: A `GtkTextView`.
  ///   - identifier: The name of the view in its node.
  ///   - changed: Is called when the text or the selection has changed.
  public init(
    _ view: ObjectPointer, restorationIdentifier identifier: String,
    changed: @escaping @MainActor () -> Void
  ) {
    self.view = view
    restorationIdentifier = identifier
    buffer = ObjectPointer(made: gtk_text_view_get_buffer(view.of()))
    connect(buffer, "changed", changed)
    connect(buffer, "notify::cursor-position", changed)
    connect(buffer, "notify::has-selection", changed)
  }

  /// The whole text.
  public var restorableState: String {
    get {
      var (start, end) = (GtkTextIter(), GtkTextIter())
      gtk_text_buffer_get_bounds(buffer.of(), &start, &end)
      guard let text = gtk_text_buffer_get_text(buffer.of(), &start, &end, 1) else { return "" }
      defer { g_free(text) }
      return String(cString: text)
    }
    set {
      // What was typed before the launch is not there to be undone.
      gtk_text_buffer_begin_irreversible_action(buffer.of())
      gtk_text_buffer_set_text(buffer.of(), newValue, -1)
      gtk_text_buffer_end_irreversible_action(buffer.of())
    }
  }

  /// The selected part, or the place of the cursor, in Unicode scalars.
  public var selectedTextRange: Range<Int>? {
    get {
      var (start, end) = (GtkTextIter(), GtkTextIter())
      gtk_text_buffer_get_selection_bounds(buffer.of(), &start, &end)
      return Int(gtk_text_iter_get_offset(&start))..<Int(gtk_text_iter_get_offset(&end))
    }
    set {
      guard let newValue else { return }
      var (start, end) = (GtkTextIter(), GtkTextIter())
      gtk_text_buffer_get_iter_at_offset(buffer.of(), &start, Int32(newValue.lowerBound))
      gtk_text_buffer_get_iter_at_offset(buffer.of(), &end, Int32(newValue.upperBound))
      gtk_text_buffer_select_range(buffer.of(), &end, &start)
    }
  }

  /// In Unicode scalars.
  public var textLength: Int { Int(gtk_text_buffer_get_char_count(buffer.of())) }
}

/// The text of an entry, and what is selected in it.
@MainActor
public final class EditedLine:
  @MainActor RestorableView, @MainActor StatefulRestoring, @MainActor RestorableTextSelection
{
  /// The name of the view.
  public let restorationIdentifier: String?

  private let editable: ObjectPointer

  /// Creates a view for an entry.
  ///
  /// - Parameters:
  ///   - editable: A `GtkEditable`, such as an entry or a search entry.
  ///   - identifier: The name of the view in its node.
  ///   - changed: Is called when the text or the selection has changed.
  public init(
    _ editable: ObjectPointer, restorationIdentifier identifier: String,
    changed: @escaping @MainActor () -> Void
  ) {
    self.editable = editable
    restorationIdentifier = identifier
    for signal in ["changed", "notify::cursor-position", "notify::selection-bound"] {
      connect(editable, signal, changed)
    }
  }

  /// The text.
  public var restorableState: String {
    get { String(cString: gtk_editable_get_text(editable.opaque)) }
    set { gtk_editable_set_text(editable.opaque, newValue) }
  }

  /// The selected part, or the place of the cursor, in Unicode scalars.
  public var selectedTextRange: Range<Int>? {
    get {
      var (start, end): (Int32, Int32) = (0, 0)
      gtk_editable_get_selection_bounds(editable.opaque, &start, &end)
      return Int(min(start, end))..<Int(max(start, end))
    }
    set {
      guard let newValue else { return }
      gtk_editable_select_region(
        editable.opaque, Int32(newValue.lowerBound), Int32(newValue.upperBound))
    }
  }

  /// In Unicode scalars.
  public var textLength: Int { restorableState.unicodeScalars.count }
}
#endif
