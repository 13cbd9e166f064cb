internal import ArchiveCodec
internal import RestorationFoundation

/// What is stored of a scene beside its nodes, in its own file.
struct SceneContent: Hashable, Codable, Sendable {
  /// What may be set while no scene is connected.
  enum Part: String, Codable, CaseIterable {
    case activity, userInfo, storage, windowValue
  }

  var role: SceneRole
  var configurationName: String?
  var activity: UserActivity.Content?
  var userInfo: [String: PropertyListValue] = [:]
  var storage: [String: ValueContent] = [:]
  var windowValue: ValueContent?
  /// When its scene was closed, if it can be opened again: a list that is lost must not
  /// bring back what was closed.
  var closedAt: Date?

  init(_ role: SceneRole, configurationName: String?) {
    self.role = role
    self.configurationName = configurationName
  }

  mutating func take(_ parts: Set<Part>, from other: SceneContent) {
    if parts.contains(.activity) { activity = other.activity }
    if parts.contains(.userInfo) { userInfo = other.userInfo }
    if parts.contains(.storage) { storage = other.storage }
    if parts.contains(.windowValue) { windowValue = other.windowValue }
  }
}

extension SceneContent {
  private static let key = "scene"

  /// What a launch reads of a file; nil if nobody has written it in the name of a scene.
  init?(reading part: StateFile.HostPart) throws(ArchiveError) {
    try self.init(reading: part.values, part.contents)
  }

  /// The same of a state that is restored.
  init?(reading tree: StoredTree) throws(ArchiveError) {
    try self.init(reading: tree.host, ValueStore.contents(in: tree))
  }

  /// - Parameters:
  ///   - values: The part of the scene's host.
  ///   - contents: The values that are nodes of the scene; an earlier version has stored them in
  ///     the part of the host.
  /// - Throws: `ArchiveError` if the part is not that of a scene.
  private init?(
    reading values: KeyedDecoder?, _ contents: [String: ValueContent]
  ) throws(ArchiveError) {
    do {
      guard let content = try values?.decodeIfPresent(Self.self, forKey: Self.key) else {
        return nil
      }
      self = content
    } catch {
      throw .content(error)
    }
    for (key, content) in contents { storage[key] = content }
  }

  func encode(with encoder: KeyedEncoder) throws {
    try encoder.encode(self, forKey: Self.key)
  }
}

/// One value that cannot be stored must not keep the rest from it, nor other scenes.
extension SceneContent {
  /// The user info that cannot be stored, in the order of its keys.
  var unstorableUserInfo: [(key: String, reason: String)] {
    userInfo.sorted { $0.key < $1.key }.compactMap { key, value in
      do throws(RestorationError) {
        _ = try ValueContent(checking: [key: value], in: [value])
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
      if let activity { _ = try ValueContent(checking: activity) }
    } catch {
      activity = nil
      problems.append("The activity cannot be stored: \(error.description)")
    }
    return problems
  }
}

extension ValueContent {
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
