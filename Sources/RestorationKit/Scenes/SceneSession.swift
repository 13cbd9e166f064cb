internal import ArchiveCodec
public import RestorationFoundation

/// One window of the app, whether it is open or not.
///
/// A session outlives its scene: when the scene was disconnected, or the app has
/// ended, the session connects again to a new scene.
public final class SceneSession {
  /// The name of the session, the same in every launch, and never used again.
  public var persistentIdentifier: String { facts.identifier }

  /// What the session's scenes are for.
  public var role: SceneRole { facts.role }

  /// The name of the configuration that makes its scenes.
  public var configurationName: String? { facts.configurationName }

  /// The scene while there is one.
  public internal(set) weak var scene: RestorableScene?

  /// The title of the last stored activity, for a list of windows.
  public var title: String? { content.activity?.title ?? facts.title }

  /// When the session was stored last; nil if it never was.
  public var savedAt: Date? { facts.savedAt }

  /// The size of the stored state, in bytes.
  public var byteCount: Int { facts.byteCount }

  /// When its scene was closed; nil if it is not one of ``SceneHost/closedSessions``.
  public var closedAt: Date? { facts.closedAt }

  /// Whether the session comes back at the next launch.
  ///
  /// Set it to false for a window that should leave nothing behind: the next
  /// save removes its stored state, and the next launch discards the session. It
  /// has the value of ``SceneConfiguration/isRestorable`` from the start.
  public var isRestorable: Bool {
    get { facts.isRestorable }
    set { facts.isRestorable = newValue }
  }

  /// Why the stored state of the session could not be read; nil if it could.
  ///
  /// Its scene starts afresh, and the next save sets the stored state aside.
  /// While the key is locked, saves change nothing.
  public internal(set) var failure: RestorationError?

  /// The facts in the list of sessions, with the version of the file that was read or written
  /// last.
  ///
  /// The title and the change that the list has hold until the file is read.
  var facts: SceneList.Entry
  var content: SceneContent
  /// What was set and is not in the file.
  var changes: Set<SceneContent.Part> = []
  /// The values of the last scene, which somebody may go on to set.
  var leftValues: ValueStore?

  /// A session that was stored, before its file is read.
  init(_ entry: SceneList.Entry) {
    facts = entry
    content = SceneContent(entry.role, configurationName: entry.configurationName)
  }

  /// A session that is stored and not in the list.
  convenience init(
    _ identifier: String, _ content: SceneContent, _ part: StateFile.HostPart?, at now: Date
  ) {
    self.init(
      SceneList.Entry(
        identifier: identifier, role: content.role, configurationName: content.configurationName))
    take(content, part, at: now)
  }

  /// A new session.
  convenience init(_ configuration: SceneConfiguration) {
    self.init(
      SceneList.Entry(
        identifier: UUID().uuidString.lowercased(), role: configuration.role,
        configurationName: configuration.name, isRestorable: configuration.isRestorable))
  }

  /// Takes what the report of a save says of what is stored now.
  func noteSave(_ report: PreservationReport, at now: Date) {
    // Without a version, another save has stored the scene meanwhile, and noted it.
    guard report.version != nil else { return }
    failure = nil
    facts.savedAt = now
    facts.byteCount = report.byteCount
    facts.version = report.version
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
      facts.title = nil
    }
  }

  /// Small values of the session, which stay as long as it does.
  ///
  /// They are independent of the activity.
  public var userInfo: [String: PropertyListValue] {
    get { content.userInfo }
    set { change(.userInfo) { $0.userInfo = newValue } }
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
    guard let listed = facts.change else { return }
    takeParts(of: listed)
    forgetListed()
  }

  /// Takes what the list of another machine says was set after the same file.
  ///
  /// What was set here stays, and a scene here has values of its own.
  func take(_ change: SceneList.Change) {
    guard scene == nil, facts.change == nil, change.version == facts.version else { return }
    takeParts(of: change)
    facts.title = nil
  }

  private func takeParts(of change: SceneList.Change) {
    content.take(change.parts.subtracting(changes), from: change.content)
    changes.formUnion(change.parts)
  }

  private func forgetListed() { (facts.change, facts.title) = (nil, nil) }

  /// Leaves out an activity that has expired.
  func dropActivity(expiredAt now: Date) {
    guard let date = content.activity?.expirationDate, date <= now else { return }
    content.activity = nil
    facts.title = nil
  }

  /// Drops all that was stored.
  func startAfresh() {
    content = SceneContent(role, configurationName: configurationName)
    changes = []
    forgetListed()
  }

  /// Takes what the file says, but for what was set since; nil for no file.
  func take(_ stored: SceneContent?, version: ArchiveVersion?) {
    takeLeftValues()
    leftValues = nil
    // Values that were set after another file, or without knowing one, are not newer than this one.
    // Where no file is left, they are all that there is.
    if version == nil || facts.change?.version == version { takeListed() }
    forgetListed()
    let own = content
    content = stored ?? SceneContent(role, configurationName: configurationName)
    content.take(changes, from: own)
    facts.version = version
  }

  /// Takes all that the file says beside the nodes; nil for no file.
  func take(_ stored: SceneContent?, _ part: StateFile.HostPart?, at now: Date) {
    take(stored, version: part?.version)
    facts.savedAt = part?.savedAt ?? savedAt
    facts.byteCount = part?.byteCount ?? byteCount
    dropActivity(expiredAt: now)
  }

  private static let longestListedTitle = 256

  /// What the list says of one that is discarded: which file that was.
  var discardedEntry: SceneList.Entry {
    var entry = entry
    entry.version = facts.version
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
    var entry = facts
    (entry.title, entry.change, entry.version) = (nil, nil, nil)
    guard isRestorable else { return entry }
    // Titles of any length must not make the list of all windows too large.
    entry.title = title.map { String($0.prefix(Self.longestListedTitle)) }
    let listed = facts.change
    guard !changes.isEmpty || listed != nil else { return entry }
    var changed = listed?.content ?? SceneContent(role, configurationName: configurationName)
    changed.take(changes, from: content)
    _ = changed.leaveOutUnstorable()
    entry.change = SceneList.Change(
      content: changed, parts: changes.union(listed?.parts ?? []),
      version: listed.map { $0.version } ?? facts.version)
    return entry
  }
}

extension SceneSession {
  /// The value that the session shows.
  ///
  /// - Parameter type: Its type.
  /// - Returns: The last value that was set; nil if there is none, or if it does
  ///   not decode as this type any more.
  public func windowValue<Value: Codable>(_ type: Value.Type = Value.self) -> Value? {
    // A value of another type is as good as none here, and stays stored.
    content.windowValue.flatMap { try? $0.decode(type) }
  }

  /// Replaces the value that the session shows; it is stored with the next save.
  ///
  /// - Parameter value: The new value.
  /// - Throws: ``RestorationError`` with `unsupportedValue` if it cannot be
  ///   encoded; nothing is changed then.
  public func setWindowValue(_ value: some Codable) throws(RestorationError) {
    do {
      let stored = try ValueContent(value)
      change(.windowValue) { $0.windowValue = stored }
      scene?.needsSave = true
    } catch {
      throw RestorationError(.unsupportedValue, "The value cannot be stored: \(error.reason)")
    }
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
