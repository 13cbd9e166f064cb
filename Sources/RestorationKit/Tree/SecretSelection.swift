/// Which secrets of a state are meant; see ``Sensitivity/secret``.
public enum SecretSelection: Hashable, Sendable {
  /// All of them.
  case all

  /// Those of the node, view or object with this path, and of all below it; for the empty
  /// path all, with those of the application.
  case below(RestorationPath)

  /// That of one key, or of all in the container that has this key, of the node, view or
  /// object with this path; the empty path is that of the application.
  case value(forKey: String, at: RestorationPath)
}

extension SecretSelection {
  func contains(_ place: ValuePlace) -> Bool {
    switch self {
    case .all: return true
    case .value(let key, let path): return place.path == path && place.keys.first == key
    case .below(let top):
      var path = place.path
      while path.count > top.count, let parent = path.parent { path = parent }
      return path == top
    }
  }
}
