internal import RestorationFoundation

extension UserActivity {
  /// The stored form of an activity.
  package struct Content: Equatable, Codable, Sendable {
    let activityType: String
    package var title: String?
    var userInfo: [String: PropertyListValue]
    var requiredUserInfoKeys: Set<String>
    var persistentIdentifier: String?
    var expirationDate: Date?
  }

  var content: Content {
    Content(
      activityType: activityType, title: title, userInfo: userInfo,
      requiredUserInfoKeys: requiredUserInfoKeys, persistentIdentifier: persistentIdentifier,
      expirationDate: expirationDate)
  }

  convenience init(_ content: Content) {
    self.init(activityType: content.activityType)
    (title, userInfo) = (content.title, content.userInfo)
    requiredUserInfoKeys = content.requiredUserInfoKeys
    persistentIdentifier = content.persistentIdentifier
    expirationDate = content.expirationDate
  }
}

extension UserActivity.Content {
  /// The content with only the required keys of the user info, if the activity names any.
  var reducedToRequiredKeys: UserActivity.Content {
    guard !requiredUserInfoKeys.isEmpty else { return self }
    var reduced = self
    reduced.userInfo = userInfo.filter { requiredUserInfoKeys.contains($0.key) }
    return reduced
  }
}
