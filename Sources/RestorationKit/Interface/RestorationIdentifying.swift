/// The type of a ``RestorableNode/restorationIdentifier``: a `String`, or a `String?` that may be
/// nil.
///
/// A type of your own can be one as well, such as an enumeration of screens:
///
///     enum ScreenName: String, RestorationIdentifying {
///       case note, settings
///
///       var restorationName: String? { rawValue }
///     }
public protocol RestorationIdentifying {
  /// The name itself; nil for none.
  var restorationName: String? { get }
}

extension String: RestorationIdentifying {
  /// The text itself.
  public var restorationName: String? { self }
}

extension Optional: RestorationIdentifying where Wrapped == String {
  /// The text, if there is one.
  public var restorationName: String? { self }
}

/// The identifier of a ``StatefulNode`` that declares none: the name of its class.
public struct ClassNameIdentifier: RestorationIdentifying, Hashable, Sendable {
  /// The name of the class, without its module.
  public let className: String

  /// The name of the class.
  public var restorationName: String? { className }
}

extension StatefulNode {
  /// The name of the class of the node, `String(describing: type(of: self))`.
  ///
  /// A node that was restored keeps the identifier that it was restored under. Declare an
  /// identifier where a parent has several nodes of one class, and where the class may get
  /// another name.
  public var restorationIdentifier: ClassNameIdentifier {
    ClassNameIdentifier(className: String(nameOf: type(of: self)))
  }
}
