/// What an entry of a report is about.
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
