/// A view with state of its own, which belongs to a node.
///
/// A view is preserved if it has an identifier and its node is preserved, under the
/// node's path. A restore never makes a view: the view must be there when its node's
/// ``RestorableNode/loadViewIfNeeded()`` has returned.
public protocol RestorableView: StateRestoring {
  /// The type of the identifier: `String`, `String?`, or one of your own.
  associatedtype RestorationIdentifier: RestorationIdentifying = String?

  /// The name of the view among all views of its node, stable across launches.
  ///
  /// A view whose identifier is nil or an empty string is left out, but not the views in it.
  var restorationIdentifier: RestorationIdentifier { get }

  /// The views in this view; none by default.
  ///
  /// Views of child nodes may appear here; they are saved with the child.
  var restorationSubviews: [any RestorableView] { get }
}

extension RestorableView {
  /// The ``restorationIdentifier`` as text; nil if the view has none.
  public var restorationName: String? { restorationIdentifier.restorationName }

  /// None.
  public var restorationSubviews: [any RestorableView] { [] }
}
