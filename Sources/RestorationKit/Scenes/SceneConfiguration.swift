/// How scenes of a role are made.
///
///     host.register(
///       SceneConfiguration(role: "panel") { CatalogScene(catalog) })
public struct SceneConfiguration {
  /// The role of a window that the user works in.
  public static let windowApplication = "windowApplication"

  /// What its scenes are for, by a name that is stable across launches.
  public let role: String

  /// The name, stable across launches; nil for the one and only of a role.
  public let name: String?

  /// Whether its scenes come back at the next launch, unless a session says otherwise.
  ///
  /// It is the first value of ``SceneSession/isRestorable``.
  public let isRestorable: Bool

  let makeDelegate: () async throws -> any SceneDelegate

  /// Creates a configuration.
  ///
  /// - Parameters:
  ///   - role: What its scenes are for.
  ///   - name: A name if the role has several.
  ///   - isRestorable: Whether its scenes come back at the next launch.
  ///   - makeDelegate: Makes the delegate of a new scene, another for every one;
  ///     the scene keeps it. If it throws, the scene is not connected.
  public init(
    role: String = Self.windowApplication, name: String? = nil,
    isRestorable: Bool = true,
    makeDelegate: @escaping () async throws -> any SceneDelegate
  ) {
    (self.role, self.name, self.isRestorable) = (role, name, isRestorable)
    self.makeDelegate = makeDelegate
  }
}

@available(*, unavailable, message: "it belongs to the actor of its host")
extension SceneConfiguration: Sendable {}
