package import ArchiveCodec
package import RestorationFoundation

/// A window, as the tree has it: what is stored of its session is its body, and its roots are below it.
final class SceneNode: RestorableNode {
  static let stateTracking = StateTracking.invalidated

  let identifier: String
  /// What is stored of the session.
  var content: SceneContent {
    didSet {
      if oldValue.isRestorable { mayHaveTrace = true }
      if content != oldValue, !isPrepared { invalidateRestorableState() }
    }
  }
  /// Whether a save prepares the window, which it asks anyway.
  var isPrepared = false
  /// Whether anything may be stored of the window besides what is stored of one that is not restorable.
  var mayHaveTrace: Bool
  /// What is wrong with the activity that the delegate has given last.
  var activityProblem: ReportNote?
  /// Takes part in saving and restoring what is below the window.
  weak var delegate: (any StateDelegate)?
  /// Gives the roots of the window; nil while it is not connected, and what is below it stays as it is stored.
  var roots: (() -> [any RestorableNode])?
  /// The roots that a restore goes on with: each restore asks for them once.
  var restoredRoots: [any RestorableNode]?

  var restorationIdentifier: String { identifier }
  var restorationChildren: [any RestorableNode] {
    content.isRestorable ? restoredRoots ?? roots?() ?? [] : []
  }

  init(_ identifier: String, _ content: SceneContent) {
    (self.identifier, self.content, mayHaveTrace) = (identifier, content, content.isRestorable)
  }

  /// Writes the session; what cannot be stored of it keeps nothing else from that.
  func encodeRestorableState(with coder: StateEncoder) throws {
    var stored = content
    if !content.isRestorable {
      stored = SceneContent(role: content.role, configurationName: content.configurationName)
      stored.isRestorable = false
    }
    if let activityProblem { coder.note(activityProblem) }
    if coder.flaw(ofScene: stored, stored.propertyLists) != nil {
      if let activity = stored.activity,
        let flaw = coder.flaw(ofScene: activity, activity.userInfo.values)
      {
        stored.activity = nil
        coder.note(.activityNotStored(activity.activityType, flaw))
      }
      for key in stored.userInfo.keys.sorted() {
        guard let value = stored.userInfo[key],
          let flaw = coder.flaw(ofScene: [key: value], [value])
        else { continue }
        stored.userInfo[key] = nil
        coder.note(.userInfoNotStored(key: key, flaw))
      }
      try coder.encode(stored, forKey: SceneContent.key)
    }
    try delegate?.willEncodeRestorableState(with: coder)
  }

  /// Reads nothing: the launch has, and the app may have changed the session since.
  func decodeRestorableState(with coder: StateDecoder) { _ = coder.contains(SceneContent.key) }

  func restoreStateAfterLayout(with coder: StateDecoder) throws {
    try delegate?.didDecodeRestorableState(with: coder)
  }
}

extension StateEncoder {
  /// Writes a value in the place of the session, and says why if that cannot be stored.
  fileprivate func flaw(
    ofScene value: some Encodable, _ lists: some Sequence<PropertyListValue>
  ) -> String? {
    if lists.contains(where: { $0.isNested(deeperThan: PropertyListValue.deepestNesting) }) {
      return PropertyListValue.tooDeep.description
    }
    do { try encode(value, forKey: SceneContent.key) } catch { return error.reason }
    return nil
  }
}

/// What is stored of a session.
package struct SceneContent: Hashable, Codable, Sendable {
  package static let key = "@scene"

  package let role: String
  package var configurationName: String?
  package var activity: UserActivity.Content?
  var userInfo: [String: PropertyListValue] = .init()
  /// The larger one was at the front later.
  package var turn = 0
  /// When the window was closed; nil for one that is open.
  package var closedAt: Date?
  var isRestorable = true
  /// What the window shows, if the app has said it.
  var windowValue: ValueContent?

  fileprivate var propertyLists: [PropertyListValue] {
    Array(userInfo.values) + (activity.map { Array($0.userInfo.values) } ?? [])
  }

  mutating func dropActivity(expiredAt now: Date) {
    if let date = activity?.expirationDate, date <= now { activity = nil }
  }
}

extension SceneContent {
  /// Reads a session without Codable, which takes three times as long (benchmark: start of a host).
  package init(_ stored: KeyedDecoder) throws {
    (role, turn) = (try stored.decode(forKey: "role"), try stored.decode(forKey: "turn"))
    configurationName = try stored.decodeIfPresent(forKey: "configurationName")
    activity = try stored.decodeIfPresent(forKey: "activity")
    closedAt = try stored.decodeIfPresent(forKey: "closedAt")
    isRestorable = try stored.decode(forKey: "isRestorable")
    windowValue = try stored.decodeIfPresent(forKey: "windowValue")
    let own = try stored.container(forKey: "userInfo") ?? .empty
    for key in try own.dictionaryKeys {
      let text = try own.container(forKey: key)?.container(forKey: "string")
      userInfo[key] =
        try text.map { .string(try $0.decode(forKey: "_0")) } ?? own.decode(forKey: key)
    }
  }
}
