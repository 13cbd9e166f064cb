import Foundation
import RestorationKit

/// A screen that has changed over the versions of an app, as its stored states
/// show.
@MainActor
final class GoldenScreen: @MainActor RestorableNode {
  static let version = 3

  static let migrations: [Int: (MigratingState) throws -> Void] = [
    1: { state in
      try state.rename("name", to: "title")
      let size = try state.decodeIfPresent([Int].self, forKey: "size") ?? [0, 0]
      state.remove("size")
      try state.changeContainer(forKey: "frame") { frame in
        try frame.encode(size[0], forKey: "width")
        try frame.encode(size[1], forKey: "height")
      }
    },
    2: { state in
      let tag = try state.decodeIfPresent(String.self, forKey: "tag")
      state.remove("tag")
      try state.encode(Filter(tags: [tag].compactMap(\.self)), forKey: "filter")
      try state.changeContainer(forKey: "frame") { try $0.rename("width", to: "breadth") }
    },
  ]

  struct Filter: Codable, Hashable {
    var tags: [String]
    var isStrict = false
  }

  let restorationIdentifier: String?
  var restorationChildren: [any RestorableNode] = []
  /// The version of the app that the screen plays; only the last one decodes.
  var playedVersion = GoldenScreen.version
  var title = ""
  var breadth = 0
  var height = 0
  var filter = Filter(tags: [])
  var since: Date?
  weak var sibling: GoldenScreen?

  init(_ identifier: String) { restorationIdentifier = identifier }

  func encodeRestorableState(with coder: StateEncoder) throws {
    coder.encode(title, forKey: playedVersion == 1 ? "name" : "title")
    coder.encode(since, forKey: "since")
    coder.encode(sibling, forKey: "sibling")
    if playedVersion == 1 {
      coder.encode([breadth, height], forKey: "size")
    } else {
      coder.encodeContainer(forKey: "frame") { coder in
        coder.encode(breadth, forKey: playedVersion == 2 ? "width" : "breadth")
        coder.encode(height, forKey: "height")
      }
    }
    if playedVersion < 3 {
      coder.encode(filter.tags.first, forKey: "tag")
    } else {
      try coder.encode(filter, forKey: "filter")
    }
  }

  func decodeRestorableState(with coder: StateDecoder) throws {
    title = try coder.decode(forKey: "title")
    since = try coder.decodeIfPresent(forKey: "since")
    sibling = try coder.decodeObject(forKey: "sibling")
    let frame = try coder.container(forKey: "frame")
    breadth = try frame?.decode(forKey: "breadth") ?? 0
    height = try frame?.decode(forKey: "height") ?? 0
    filter = try coder.decode(Filter.self, forKey: "filter")
  }
}
