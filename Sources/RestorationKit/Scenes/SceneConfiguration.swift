/// How scenes of a role are made.
///
///     host.register(
///       SceneConfiguration(role: .windowApplication) { CatalogScene(catalog) })
public struct SceneConfiguration {
  /// What its scenes are for.
  public let role: SceneRole

  /// The name, stable across launches; nil for the one and only of a role.
  public let name: String?

  /// The parts of its scenes that come back at the next launch.
  public let restoration: SceneRestorationPolicy

  let makeDelegate: () async throws -> any SceneDelegate

  /// Creates a configuration.
  ///
  /// - Parameters:
  ///   - role: What its scenes are for.
  ///   - name: A name if the role has several.
  ///   - restoration: The parts of its scenes that come back at the next launch.
  ///   - makeDelegate: Makes the delegate of a new scene, another for every one;
  ///     the scene keeps it. If it throws, the scene is not connected.
  public init(
    role: SceneRole = .windowApplication, name: String? = nil,
    restoration: SceneRestorationPolicy = .always,
    makeDelegate: @escaping () async throws -> any SceneDelegate
  ) {
    self.role = role
    self.name = name
    self.restoration = restoration
    self.makeDelegate = makeDelegate
  }

  /// What of a session comes back: its own word goes before ``SceneRestorationPolicy/never``.
  func policy(for session: SceneSession) -> SceneRestorationPolicy {
    restoration == .never && session.isRestorable ? .always : restoration
  }
}

@available(*, unavailable, message: "it belongs to the actor of its host")
extension SceneConfiguration: Sendable {}
