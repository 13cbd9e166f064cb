/// Something about a scene that the developer should mend.
public enum SceneProblem: Hashable, Codable, Sendable {
  /// An activity has a type that the host does not declare, so it is not stored.
  case undeclaredActivityType(String)

  /// An activity was ended before it could be stored.
  case invalidActivity(String)

  /// An activity could not be encoded, so it is not stored.
  case activityEncodingFailed(String, String)

  /// A value of a session's user info could not be encoded, so it was removed.
  case userInfoEncodingFailed(key: String, String)

  /// The user info of an activity lacks keys that it says it needs.
  case requiredKeysMissing([String])

  /// An activity takes more bytes than activities should.
  case largeActivity(byteCount: Int, limit: Int)

  /// A stored value has another type than was asked for.
  case storageTypeMismatch(key: String, String)

  /// A value could not be encoded.
  case storageEncodingFailed(key: String, String)

  /// What is stored of a session cannot be read; the error is given.
  case unreadable(String)

  /// The host's delegate is gone, so nobody answered for it.
  case hostDelegateGone
}

extension SceneProblem: CustomStringConvertible {
  /// What is wrong and how to mend it.
  public var description: String {
    switch self {
    case .undeclaredActivityType(let type):
      "The activity type “\(type)” is not declared, so the activity is not stored."
        + " Add it to the host's declaredActivityTypes."
    case .invalidActivity(let type):
      "The activity “\(type)” was invalidated, so it is not stored. Return one that is valid."
    case .activityEncodingFailed(let type, let error):
      "The activity “\(type)” cannot be encoded, so it is not stored: \(error)"
    case .userInfoEncodingFailed(let key, let error):
      "The value of “\(key)” in the session's user info cannot be encoded, so it was removed:"
        + " \(error)"
    case .requiredKeysMissing(let keys):
      "The activity's user info lacks \(keys.joined(separator: ", ")), which it requires."
    case .largeActivity(let byteCount, let limit):
      "The activity takes \(byteCount) bytes, more than \(limit). Store identifiers, not content."
    case .storageTypeMismatch(let key, let error):
      "The value of “\(key)” is not of the type that was asked for, so its default was used:"
        + " \(error)"
    case .storageEncodingFailed(let key, let error):
      "The value of “\(key)” cannot be encoded, so the stored one stays: \(error)"
    case .unreadable(let error):
      "What is stored of the session was not restored: \(error)"
    case .hostDelegateGone:
      "The host's delegate is gone. Keep it alive, or set it to nil to go on without one."
    }
  }
}

/// What a save of a scene did.
public struct SceneReport: Hashable, Codable, Sendable {
  /// What became of the scene's nodes, and of the file as a whole.
  public internal(set) var nodes: PreservationReport

  /// What the developer should mend, beside what ``nodes`` says.
  public internal(set) var problems: [SceneProblem] = []

  init(nodes: PreservationReport) {
    self.nodes = nodes
  }
}

extension SceneReport: CustomStringConvertible {
  /// What was saved, and then a line for every problem.
  public var description: String {
    ([nodes.description] + problems.map(\.description)).joined(separator: "\n")
  }
}
