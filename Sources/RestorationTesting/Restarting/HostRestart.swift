public import RestorationKit

/// The result of a restart of all windows.
public struct HostRestart {
  /// The new host, with its windows connected.
  public let host: SceneHost

  /// The reports of the saves, by the identifiers of the sessions.
  public let saved: [String: PreservationReport]

  /// The reports of the restores, by the identifiers of the sessions.
  ///
  /// A window that could not be read has no report here; see
  /// ``/RestorationKit/SceneHost/unreadSessions``.
  public var restored: [String: RestorationReport] {
    var reports: [String: RestorationReport] = [:]
    for scene in host.connectedScenes {
      reports[scene.session.persistentIdentifier] = scene.restoration
    }
    return reports
  }

  /// Finds the window that a window of the old host has become.
  ///
  /// - Parameter old: A window that was there before the restart.
  /// - Returns: The window of the same session; nil if there is none.
  public func scene(for old: RestorableScene) -> RestorableScene? {
    let identifier = old.session.persistentIdentifier
    return host.connectedScenes.first { $0.session.persistentIdentifier == identifier }
  }
}

@available(*, unavailable, message: "windows belong to the actor of their host")
extension HostRestart: Sendable {}
