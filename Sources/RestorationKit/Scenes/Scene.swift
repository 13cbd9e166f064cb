/// One window of the app while it is open.
///
/// ``SceneHost`` makes it and lets it go; its ``SceneSession`` is what stays.
public final class Scene {
  /// How far the scene is from the user.
  public enum ActivationState: String, Hashable, Sendable {
    /// It is not connected yet, or not any more.
    case unattached
    /// It is connected and not seen.
    case background
    /// It is seen and takes no input.
    case foregroundInactive
    /// It is seen and takes input.
    case foregroundActive
  }

  /// What stays of the scene.
  public let session: SceneSession

  /// How far the scene is from the user.
  public internal(set) var activationState: ActivationState = .unattached

  /// Follows the scene; kept alive until it disconnects.
  public internal(set) var delegate: (any SceneDelegate)?

  /// Who adds to which activity.
  let responders = ActivityResponders()

  /// Whether something was changed that is not saved.
  ///
  /// A value of ``SceneStorage`` sets it, and so does a change of what
  /// ``track(_:)`` reads; set it yourself for anything else. A save clears it.
  public var needsSave: Bool {
    get { changes.isSet }
    set { changes.isSet = newValue }
  }

  let changes = ChangeFlag()
  /// What is tracked, to be watched again after a save.
  var tracked: [() -> Void] = []

  let values: SceneValues

  init(_ session: SceneSession, storage: [String: StoredValue]) {
    self.session = session
    values = SceneValues(storage)
    values.changed = { [changes] in changes.isSet = true }
  }

  /// Lets a part of the interface add to an activity whenever the scene is saved.
  ///
  /// The user info of an activity that has responders is emptied before they are
  /// asked. All of one activity add to the same.
  ///
  /// - Parameters:
  ///   - activity: The activity; nil takes the responder away. An activity
  ///     whose last responder is taken away is invalidated.
  ///   - responder: Who adds; not kept alive.
  public func setActivity(_ activity: UserActivity?, of responder: any UserActivityResponder) {
    responders.set(activity, of: responder)
  }
}

@available(*, unavailable, message: "a scene belongs to the actor of its host")
extension Scene: Sendable {}

/// A part of an interface that adds to the activity of its scene.
public protocol UserActivityResponder: AnyObject {
  /// Adds what this part knows to the activity.
  ///
  /// - Parameter activity: The activity, with what others added before.
  func updateUserActivityState(_ activity: UserActivity)
}

/// Who adds to which activity, in the order in which they were set.
final class ActivityResponders {
  private struct Entry {
    weak var responder: (any UserActivityResponder)?
    let activity: UserActivity
  }

  private var entries: [Entry] = []

  func set(_ activity: UserActivity?, of responder: any UserActivityResponder) {
    let place = entries.firstIndex { $0.responder === responder }
    let old = place.map { entries.remove(at: $0).activity }
    if let activity {
      entries.insert(
        Entry(responder: responder, activity: activity), at: place ?? entries.count)
    }
    if let old, old !== activity, !entries.contains(where: { $0.activity === old }) {
      old.invalidate()
    }
  }

  func responders(of activity: UserActivity) -> [any UserActivityResponder] {
    entries.filter { $0.activity === activity }.compactMap(\.responder)
  }
}
