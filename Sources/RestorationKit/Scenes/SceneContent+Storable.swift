internal import ArchiveCodec

/// One value that cannot be stored must not keep the rest from it, nor other scenes.
extension SceneContent {
  /// The user info that cannot be stored, in the order of its keys.
  var unstorableUserInfo: [(key: String, reason: String)] {
    userInfo.sorted { $0.key < $1.key }.compactMap { key, value in
      do throws(RestorationError) {
        _ = try StoredValue(checking: [key: value], in: [value])
        return nil
      } catch {
        return (key, error.description)
      }
    }
  }

  /// Takes out what cannot be stored.
  ///
  /// - Returns: What that is and why, in a sentence for each.
  mutating func leaveOutUnstorable() -> [String] {
    var problems: [String] = []
    for (key, reason) in unstorableUserInfo {
      userInfo[key] = nil
      problems.append("The user info “\(key)” cannot be stored: \(reason)")
    }
    do throws(RestorationError) {
      if let activity { _ = try StoredValue(checking: activity) }
    } catch {
      activity = nil
      problems.append("The activity cannot be stored: \(error.description)")
    }
    return problems
  }
}

extension StoredValue {
  /// - Throws: ``RestorationError`` with `unsupportedValue` if it cannot be stored.
  init(checking activity: UserActivity.Content) throws(RestorationError) {
    try self.init(checking: activity, in: activity.userInfo.values)
  }

  /// - Parameters:
  ///   - value: What is to be stored, also where it is deeper in a record than here.
  ///   - values: The values in it that may be nested.
  /// - Throws: As for an activity.
  fileprivate init(
    checking value: some Encodable, in values: some Sequence<PropertyListValue>
  ) throws(RestorationError) {
    guard !values.contains(where: { $0.isNested(deeperThan: PropertyListValue.deepestNesting) })
    else { throw PropertyListValue.tooDeep }
    do {
      try self.init(value)
    } catch {
      throw RestorationError(.unsupportedValue, error.reason)
    }
  }
}
