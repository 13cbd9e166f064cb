#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What stays of one window of the app, whether it is open or not.
///
/// A session outlives its scene: when the scene is disconnected, or the app
/// ends, the session connects again to a new one.
public final class SceneSession {
  /// The name of the session, the same in every launch, and never used again.
  public let persistentIdentifier: String

  /// What the session's scenes are for.
  public let role: SceneRole

  /// The name of the configuration that makes its scenes.
  public let configurationName: String?

  /// The scene while there is one.
  public internal(set) weak var scene: Scene?

  /// What a list of windows shows; the title of the last stored activity.
  public internal(set) var title: String?

  /// When the session was stored last; nil if it never was.
  public internal(set) var savedAt: Date?

  /// The size of what is stored, in bytes.
  public internal(set) var byteCount = 0

  /// Which activities from outside the session's scene takes.
  public var activationConditions: SceneActivationConditions

  /// Nil while the key is not available, or the file cannot be read.
  var content: SceneContent?
  /// What the scene was opened for.
  var windowValue: StoredValue?
  /// What the report of the next save says of the session's stored state.
  var readingFailure: String?
  /// Whether something was set that is not stored.
  var isChanged = false

  init(_ entry: SceneEntry, content: SceneContent? = nil) {
    persistentIdentifier = entry.identifier
    role = entry.role
    configurationName = entry.configurationName
    title = entry.title
    savedAt = entry.savedAt
    byteCount = entry.byteCount
    activationConditions = entry.conditions
    windowValue = entry.windowValue
    self.content = entry.pending ?? content
    isChanged = entry.pending != nil
  }

  /// What was stored last of what the user was doing.
  ///
  /// It is a copy each time, in both directions. Nil if nothing was, if it has
  /// expired, and as long as the key is not available. It may be set at any time,
  /// also while no scene is connected; ``SceneHost/saveSessions()`` stores it.
  public var stateRestorationActivity: UserActivity? {
    get { content?.activity.map { UserActivity($0) } }
    set {
      change { $0.activity = newValue?.content }
      title = newValue?.title
    }
  }

  /// Small values of the session, which stay as long as it does.
  ///
  /// They are independent of the activity.
  public var userInfo: [String: PropertyListValue] {
    get { content?.userInfo ?? [:] }
    set { change { $0.userInfo = newValue } }
  }

  func change(_ body: (inout SceneContent) -> Void) {
    var changed = content ?? SceneContent()
    body(&changed)
    guard changed != content else { return }
    content = changed
    isChanged = true
  }

  var entry: SceneEntry {
    SceneEntry(
      identifier: persistentIdentifier, role: role, configurationName: configurationName,
      title: title, savedAt: savedAt, byteCount: byteCount, conditions: activationConditions,
      windowValue: windowValue, pending: isChanged ? content : nil)
  }
}

extension SceneSession: Hashable {
  /// Compares the identifiers.
  public static func == (left: SceneSession, right: SceneSession) -> Bool {
    left.persistentIdentifier == right.persistentIdentifier
  }

  /// Hashes the identifier.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(persistentIdentifier)
  }
}

@available(*, unavailable, message: "a session belongs to the actor of its host")
extension SceneSession: Sendable {}
