internal import ArchiveCodec
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// One window of the app, whether it is open or not.
///
/// A session outlives its scene: when the scene was disconnected, or the app has
/// ended, the session connects again to a new scene.
public final class SceneSession {
  /// The name of the session, the same in every launch, and never used again.
  public let persistentIdentifier: String

  /// What the session's scenes are for.
  public let role: SceneRole

  /// The name of the configuration that makes its scenes.
  public internal(set) var configurationName: String?

  /// The scene while there is one.
  public internal(set) weak var scene: RestorableScene?

  /// The title of the last stored activity, for a list of windows.
  public internal(set) var title: String?

  /// When the session was stored last; nil if it never was.
  public internal(set) var savedAt: Date?

  /// The size of the stored state, in bytes.
  public internal(set) var byteCount: Int

  /// When its scene was closed; nil if it is not one of ``SceneHost/closedSessions``.
  public internal(set) var closedAt: Date?

  /// Whether the session comes back at the next launch.
  ///
  /// Set it to false for a window that should leave nothing behind: the next
  /// save removes its stored state, and the next launch discards the session. It
  /// is false from the start if its configuration restores it for no reason; set
  /// it to true to let such a session come back for every reason.
  public var isRestorable: Bool

  /// Why the stored state of the session could not be read; nil if it could.
  ///
  /// Its scene starts afresh, and the next save sets the stored state aside.
  /// While the key is locked, saves change nothing.
  public internal(set) var failure: RestorationError?

  var content: SceneContent
  /// What was set and is not in the file.
  var changes: Set<SceneContent.Part> = []
  /// The file that was read or written last.
  var version: ArchiveVersion?
  /// The values of the last scene, which somebody may go on to set.
  var leftValues: ValueStore?
  /// What the list says was set after the file, until that is read.
  private var listed: SceneList.Change?

  /// A session that was stored, before its file is read.
  init(_ entry: SceneList.Entry) {
    persistentIdentifier = entry.identifier
    role = entry.role
    configurationName = entry.configurationName
    title = entry.title
    savedAt = entry.savedAt
    byteCount = entry.byteCount
    isRestorable = entry.isRestorable
    closedAt = entry.closedAt
    content = SceneContent(entry.role, configurationName: entry.configurationName)
    listed = entry.change
    version = entry.version
  }

  /// A new session.
  init(_ configuration: SceneConfiguration) {
    persistentIdentifier = UUID().uuidString.lowercased()
    role = configuration.role
    configurationName = configuration.name
    byteCount = 0
    isRestorable = configuration.restoration != .never
    content = SceneContent(configuration.role, configurationName: configuration.name)
  }

  /// Takes what the report of a save says of what is stored now.
  func noteSave(_ report: PreservationReport, at now: Date) {
    failure = nil
    savedAt = now
    byteCount = report.byteCount
    version = report.version
  }

  /// The activity that was stored last: what the user was doing.
  ///
  /// Reading and setting it makes a copy. It is nil if no activity was stored, if it
  /// has expired, and as long as the key is locked. It may be set at any time,
  /// also while no scene is connected; ``SceneHost/saveSessions()`` stores it.
  public var stateRestorationActivity: UserActivity? {
    get { content.activity.map { UserActivity($0) } }
    set {
      change(.activity) { $0.activity = newValue?.content }
      title = newValue?.title
    }
  }

  /// Small values of the session, which stay as long as it does.
  ///
  /// They are independent of the activity.
  public var userInfo: [String: PropertyListValue] {
    get { content.userInfo }
    set { change(.userInfo) { $0.userInfo = newValue } }
  }

  /// Which activities from outside the session's scene takes.
  public var activationConditions: SceneActivationConditions {
    get { content.activationConditions }
    set { change(.activationConditions) { $0.activationConditions = newValue } }
  }

  /// Whether the key was locked when the session was to be read.
  var isLocked: Bool { failure?.archive?.code == .keyLocked }

  func change(_ part: SceneContent.Part, _ body: (inout SceneContent) -> Void) {
    let old = content
    body(&content)
    if content != old { changes.insert(part) }
  }

  /// Takes the values of a scene that is gone, if some of them are not in its file.
  func takeLeftValues() {
    guard scene == nil, let leftValues, leftValues.takeHasChanged() else { return }
    keepValues(leftValues)
  }

  /// Lets the list have values that are not in the file.
  func keepValues(_ values: ValueStore) {
    content.storage = values.encoded
    changes.insert(.storage)
  }

  /// Takes what the list says was set, where there is no file to say more.
  func takeListed() {
    takeLeftValues()
    guard let listed else { return }
    content.take(listed.parts.subtracting(changes), from: listed.content)
    changes.formUnion(listed.parts)
    self.listed = nil
    title = content.activity?.title
  }

  /// Takes what the list of another machine says was set after the same file.
  ///
  /// What was set here stays, and a scene here has values of its own.
  func take(_ change: SceneList.Change) {
    guard scene == nil, listed == nil, change.version == version else { return }
    content.take(change.parts.subtracting(changes), from: change.content)
    changes.formUnion(change.parts)
    title = content.activity?.title
  }

  /// Leaves out an activity that is stored and does not come back.
  func dropActivity(where isOut: (UserActivity.Content) -> Bool) {
    guard let activity = content.activity, isOut(activity) else { return }
    content.activity = nil
    title = nil
  }

  /// Drops all that was stored.
  func startAfresh() {
    content = SceneContent(role, configurationName: configurationName)
    changes = []
    listed = nil
    title = nil
  }

  /// Takes what the file says, but for what was set since; nil for no file.
  func take(_ stored: SceneContent?, version: ArchiveVersion?) {
    takeLeftValues()
    leftValues = nil
    // What was set after another file, or without knowing one, is not newer than this one.
    if listed?.version == version { takeListed() }
    listed = nil
    let own = content
    content = stored ?? SceneContent(role, configurationName: configurationName)
    content.take(changes, from: own)
    title = content.activity?.title
    self.version = version
  }

  /// Takes all that the file says beside the nodes; nil for no file.
  func take(_ stored: SceneContent?, _ part: StateFile.HostPart?, at now: Date) {
    take(stored, version: part?.version)
    savedAt = part?.savedAt ?? savedAt
    byteCount = part?.byteCount ?? byteCount
    dropActivity { $0.isExpired(at: now) }
  }

  private static let longestListedTitle = 256

  /// What the list says of one that is discarded: which file that was.
  var discardedEntry: SceneList.Entry {
    var entry = entry
    entry.version = version
    return entry
  }

  /// What was set, is not in the file and cannot be stored, in a sentence; nil if all can be.
  var unstorable: String? {
    takeLeftValues()
    guard isRestorable, !changes.isEmpty else { return nil }
    var changed = content
    return changed.leaveOutUnstorable().first
  }

  /// What the list says of it, without values that cannot be stored.
  var entry: SceneList.Entry {
    takeLeftValues()
    var entry = SceneList.Entry(
      identifier: persistentIdentifier, role: role, configurationName: configurationName,
      isRestorable: isRestorable, savedAt: savedAt, byteCount: byteCount, closedAt: closedAt)
    guard isRestorable else { return entry }
    // Titles of any length must not make the list of all windows too large.
    entry.title = title.map { String($0.prefix(Self.longestListedTitle)) }
    guard !changes.isEmpty || listed != nil else { return entry }
    var changed = listed?.content ?? SceneContent(role, configurationName: configurationName)
    changed.take(changes, from: content)
    _ = changed.leaveOutUnstorable()
    entry.change = SceneList.Change(
      content: changed, parts: changes.union(listed?.parts ?? []),
      version: listed.map { $0.version } ?? version)
    return entry
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
