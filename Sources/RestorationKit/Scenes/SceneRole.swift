/// What a scene is for; the host makes scenes of a role with its configurations.
public struct SceneRole: Hashable, Codable, Sendable, RawRepresentable {
  /// The name of the role, stable across launches.
  public let rawValue: String

  /// Creates a role.
  ///
  /// - Parameter rawValue: The name, stable across launches.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// A window that the user works in.
  public static let windowApplication = SceneRole(rawValue: "windowApplication")
}
