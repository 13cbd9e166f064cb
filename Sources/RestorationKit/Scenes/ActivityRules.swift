/// Which activities are stored, and of which size one is named in a report.
struct ActivityRules {
  /// Any other type is a problem in the report.
  var declaredTypes: Set<String> = []
  /// The bytes over which an activity is reported as large.
  var byteLimit = 1 << 16

  /// The content of an activity that is to be stored, with what is wrong with it; nil if it
  /// cannot be.
  func checked(
    _ activity: UserActivity, _ problems: inout [ReportNote]
  ) -> UserActivity.Content? {
    guard activity.isValid else {
      problems.append(.invalidActivity(activity.activityType))
      return nil
    }
    guard declaredTypes.contains(activity.activityType) else {
      problems.append(.undeclaredActivityType(activity.activityType))
      return nil
    }
    let missing = activity.requiredUserInfoKeys.subtracting(activity.userInfo.keys)
    if !missing.isEmpty { problems.append(.requiredKeysMissing(missing.sorted())) }
    let content = activity.content.reducedToRequiredKeys
    do throws(RestorationError) {
      let byteCount = try StoredValue(checking: content).byteCount
      if byteCount > byteLimit {
        problems.append(.largeActivity(byteCount: byteCount, limit: byteLimit))
      }
    } catch {
      problems.append(.activityEncodingFailed(activity.activityType, error.description))
      return nil
    }
    return content
  }
}
