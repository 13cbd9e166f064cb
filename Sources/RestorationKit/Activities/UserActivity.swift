public import RestorationFoundation

/// What the user is doing, in a form that a scene can be brought back from.
///
/// A scene's delegate returns one in
/// ``SceneDelegate/stateRestorationActivity(for:)``; a copy of it is stored with
/// the scene and given to the scene when it connects again.
///
///     let activity = UserActivity(activityType: "org.example.catalog.product")
///     activity.title = "Lamp"
///     activity.addUserInfoEntries(from: ["product": .uuid(product.id)])
public final class UserActivity: Codable {
  /// The kind of activity, as `org.example.catalog.product`.
  ///
  /// The type must be among the types that the ``SceneHost`` declares. If not, the
  /// report of a save has a problem.
  public let activityType: String

  /// The title for a list of windows; nil if it has none.
  public var title: String?

  /// What the activity is about: identifiers rather than content.
  public var userInfo: [String: PropertyListValue] = .init()

  /// The keys of ``userInfo`` that the activity cannot do without.
  ///
  /// A save stores only these keys, if there are any.
  public var requiredUserInfoKeys: Set<String> = []

  /// A name by which activities that are stored can be deleted.
  ///
  /// See ``SceneHost/deleteSavedUserActivities(withPersistentIdentifiers:)``.
  public var persistentIdentifier: String?

  /// When the activity stops being worth a restore; never if nil.
  public var expirationDate: Date?

  /// Whether ``userInfo`` is out of date.
  ///
  /// Set it after a change. A save clears it when it has asked the delegate and the
  /// responders.
  public var needsSave = false {
    didSet { if needsSave { needsSaveChanged?() } }
  }

  /// Called when the activity needs saving, so that an autosave hears of that at once.
  var needsSaveChanged: (() -> Void)?

  /// Asked before the activity is saved; not kept alive.
  public weak var delegate: (any UserActivityDelegate)?

  /// Whether the activity goes on; a save leaves out one that was ended.
  public private(set) var isValid = true

  /// Creates an activity of a type.
  ///
  /// - Parameter activityType: The type; declare it with the ``SceneHost``.
  public init(activityType: String) {
    self.activityType = activityType
  }

  /// Reads an activity that ``encode(to:)`` wrote.
  public convenience init(from decoder: any Decoder) throws {
    self.init(try Content(from: decoder))
  }

  /// Writes all that a scene stores of an activity.
  ///
  /// The delegate, ``isValid`` and ``needsSave`` are not written.
  public func encode(to encoder: any Encoder) throws {
    try content.encode(to: encoder)
  }

  /// Adds values to the user info; of equal keys the new one counts.
  ///
  /// - Parameter entries: The values.
  public func addUserInfoEntries(from entries: [String: PropertyListValue]) {
    userInfo.merge(entries) { $1 }
  }

  /// Replaces the user info by values of any type.
  ///
  /// - Parameter values: Values that ``PropertyListValue/init(_:)`` takes.
  /// - Throws: ``RestorationError`` with `unsupportedValue`; nothing is changed then.
  public func setUserInfo(_ values: [String: Any]) throws(RestorationError) {
    userInfo = try PropertyListValue.entries(values)
  }

  /// Ends the activity: later saves leave the activity out.
  public func invalidate() {
    isValid = false
  }

  /// A new activity with the same values and the same delegate.
  ///
  /// - Returns: The copy; later changes of one do not show in the other.
  public func copy() -> UserActivity {
    let copy = UserActivity(content)
    copy.delegate = delegate
    return copy
  }
}

/// Takes part in saving a ``UserActivity``.
public protocol UserActivityDelegate: AnyObject {
  /// Brings the activity up to date; called before its user info is collected.
  ///
  /// - Parameter activity: The activity that is about to be saved.
  func userActivityWillSave(_ activity: UserActivity)
}

@available(*, unavailable, message: "an activity belongs to the actor of its scene")
extension UserActivity: Sendable {}
