/// The kind of an element, or of an entry in a report.
public enum ElementKind: String, Hashable, Codable, Sendable {
  /// The application's own values.
  case application

  /// A scene's activity and values.
  case scene

  /// A ``RestorableNode``.
  case node

  /// A ``RestorableView``.
  case view

  /// A registered ``RestorableObject``.
  case object
}
