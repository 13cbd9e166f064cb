#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// What is stored of a scene beside its nodes.
struct SceneContent: Hashable, Codable, Sendable {
  var activity: UserActivity.Content?
  var userInfo: [String: PropertyListValue] = [:]
  var storage: [String: StoredValue] = [:]
}

/// What is known of a scene without opening its file.
struct SceneEntry: Hashable, Codable, Sendable {
  let identifier: String
  let role: SceneRole
  let configurationName: String?
  var title: String?
  var savedAt: Date?
  var byteCount = 0
  var conditions = SceneActivationConditions()
  var windowValue: StoredValue?
  /// What was set while no scene was connected; it is newer than the file.
  var pending: SceneContent?
}

/// All scenes of an application, most recently used first.
struct SceneIndex: Hashable, Codable, Sendable {
  var scenes: [SceneEntry] = []
  /// Discarded while the app did not run, and not yet told to it.
  var discarded: [SceneEntry] = []
  /// Whether the app said that it was about to end.
  var endedCleanly = true
}
