/// A selection of secrets of a state; see ``Sensitivity/secret``.
public enum SecretSelection: Hashable, Sendable {
  /// All secrets.
  case all

  /// The secrets of the node, view or object with this path, and of all below it; for
  /// the empty path all secrets, with those of the application.
  case below(RestorationPath)

  /// The secret of one key, or all secrets in the container with this key, of the node,
  /// view or object with this path; the empty path is that of the application.
  case value(forKey: String, at: RestorationPath)
}

extension SecretSelection {
  func contains(_ value: ValueID) -> Bool {
    switch self {
    case .all: return true
    case .value(let key, let path): return value.element.path == path && value.keys.first == key
    case .below(let top):
      var path = value.element.path
      while path.count > top.count, let parent = path.parent { path = parent }
      return path == top
    }
  }
}
