#if GTK
internal import CGTK4
public import RestorationKit

/// The pages of a stack, of which one is shown, as a node with a node for each page.
@MainActor
public final class RestorablePages: @MainActor RestorableTabs {
  /// The name of the node.
  public let restorationIdentifier: String?

  /// The pages.
  public let pages: [Page]

  /// A `GtkStack`.
  private let stack: ObjectPointer

  /// A page, with the views that are in it.
  @MainActor
  public final class Page: @MainActor RestorableNode {
    /// The name of the page in the stack.
    public let restorationIdentifier: String?

    /// The views of the page that are restored.
    public let restorationViews: [any RestorableView]

    /// Creates a page.
    ///
    /// - Parameters:
    ///   - name: The name of the page in the stack.
    ///   - views: The views that are in it.
    public init(_ name: String, views: [any RestorableView]) {
      restorationIdentifier = name
      restorationViews = views
    }
  }

  /// Creates a node for a stack.
  ///
  /// - Parameters:
  ///   - stack: A `GtkStack`.
  ///   - identifier: The name of the node.
  ///   - pages: Its pages.
  ///   - changed: Is called when another page is shown.
  public init(
    _ stack: ObjectPointer, restorationIdentifier identifier: String, pages: [Page],
    changed: @escaping @MainActor () -> Void
  ) {
    self.stack = stack
    self.pages = pages
    restorationIdentifier = identifier
    connect(stack, "notify::visible-child-name", changed)
  }

  /// The pages.
  public var restorationChildren: [any RestorableNode] { pages }

  /// The page that is shown.
  public var selectedTab: (any RestorableNode)? {
    get {
      guard let name = gtk_stack_get_visible_child_name(stack.opaque) else { return nil }
      let shown = String(cString: name)
      return pages.first { $0.restorationIdentifier == shown }
    }
    set {
      guard let name = newValue?.restorationName else { return }
      gtk_stack_set_visible_child_name(stack.opaque, name)
    }
  }
}
#endif
