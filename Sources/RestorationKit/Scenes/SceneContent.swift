internal import ArchiveCodec
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// What is stored of a scene beside its nodes, in its own file.
struct SceneContent: Hashable, Codable, Sendable {
  /// What may be set while no scene is connected.
  enum Part: String, Codable, CaseIterable {
    case activity, userInfo, storage, windowValue, activationConditions
  }

  var role: SceneRole
  var configurationName: String?
  var activity: UserActivity.Content?
  var userInfo: [String: PropertyListValue] = [:]
  var storage: [String: StoredValue] = [:]
  var windowValue: StoredValue?
  var activationConditions = SceneActivationConditions()
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
    if parts.contains(.activationConditions) { activationConditions = other.activationConditions }
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
    try self.init(reading: tree.host, ValueStore.plainContents(in: tree))
  }

  /// - Parameters:
  ///   - values: The part of the scene's host.
  ///   - contents: The values that are nodes of the scene; an earlier version has stored them in
  ///     the part of the host.
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
    for (key, content) in contents { storage[key] = StoredValue(content) }
  }

  func encode(with encoder: KeyedEncoder) throws {
    try encoder.encode(self, forKey: Self.key)
  }
}
