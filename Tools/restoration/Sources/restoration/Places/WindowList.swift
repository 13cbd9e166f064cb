import ArchiveCodec
import Foundation
import RestorationInspection

/// What the list of an app's windows says, and the state of a window says itself.
///
/// The list is no node, so the library that reads records does not read it.
struct WindowList: Decodable {
  struct Entry: Decodable {
    let identifier: String
    var role: String?
    var configurationName: String?
    var title: String?
    var savedAt: Date?
    var closedAt: Date?
    /// What was set on the window and is in the list alone.
    var change: Change?
  }

  struct Change: Decodable {
    let content: Content
  }

  /// What is stored in a window's own file.
  struct Content: Decodable {
    struct Activity: Decodable {
      var title: String?
    }

    var role: String?
    var configurationName: String?
    var activity: Activity?
    var closedAt: Date?
  }

  let scenes: [Entry]
  var closed: [Entry]?
  /// Removed by the next launch.
  var discarded: [Entry]

  /// Reads the list; nil if none is stored.
  static func read(at place: StatePlace, with credential: ArchiveCredential) throws -> WindowList? {
    try read(WindowList.self, forKey: "scenes", at: place, credential)
  }

  /// Reads what a window's file says of it; nil if that is nothing.
  static func content(
    at place: StatePlace, with credential: ArchiveCredential
  ) throws -> Content? {
    try read(Content.self, forKey: "scene", at: place, credential)
  }

  private static func read<Value: Decodable>(
    _ type: Value.Type, forKey key: String, at place: StatePlace, _ credential: ArchiveCredential
  ) throws -> Value? {
    guard try place.storage.open() != nil else { return nil }
    let state = try place.open(credential)
    return try state.values(ofRecord: StoredState.applicationRecord)?.host?
      .decodeIfPresent(type, forKey: key)
  }
}

/// A window as a person knows it.
struct WindowLine {
  /// Whether it is open, closed and can be opened again, or about to be removed.
  enum Standing: String {
    case open, closed, discarded
    /// It is not in the list, and the next launch opens it from its state.
    case unlisted
  }

  let place: StatePlace
  let standing: Standing
  var title: String?
  var role: String?
  var configurationName: String?
  var savedAt: Date?
  var byteCount = 0
  var error: ArchiveError?

  static let names = [
    "window", "what", "role", "configuration", "saved", "bytes", "state", "wrong",
  ]
  static let widths = [24, 9, 18, 14, 24, -10]

  func write(_ output: Output) throws {
    try output.columns(
      [
        output.style.strong((title ?? "").escaped), standing.rawValue, (role ?? "").escaped,
        (configurationName ?? "").escaped, savedAt?.text ?? "", "\(byteCount)",
        place.name.escaped, error.map { output.style.bad($0.phrase) } ?? "",
      ], widths: Self.widths)
  }

  func write(_ json: JSONWriter) throws {
    try json.object {
      try json.field("title", title)
      try json.field("standing", standing.rawValue)
      try json.field("role", role)
      try json.field("configuration", configurationName)
      try json.field("savedAt", savedAt)
      try json.field("fileBytes", byteCount)
      try json.field("state", place.name)
      guard let error else { return }
      try json.key("error")
      try json.error(error)
    }
  }
}
