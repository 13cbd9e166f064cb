import ArchiveCodec
import Foundation
import RestorationKit

/// A screen with all that the tool must show or hide.
@MainActor
final class NotesScreen: @MainActor RestorableNode {
  static let value = "VALUE-OF-A-NOTE"
  static let secret = "VALUE-OF-A-SECRET"
  static let passing = "VALUE-THAT-ENDS"

  let restorationIdentifier: String?
  var restorationChildren: [any RestorableNode] = []
  var text = NotesScreen.value
  var hasSecrets = false
  /// Another screen that it refers to.
  var target: NotesScreen?

  init(_ identifier: String, children: [NotesScreen] = []) {
    restorationIdentifier = identifier
    restorationChildren = children
  }

  func encodeRestorableState(with coder: StateEncoder) throws {
    coder.encode(text, forKey: "text")
    coder.encode([1, 2, 3], forKey: "numbers")
    coder.encode(Double.infinity, forKey: "zoom")
    coder.encode(Date(timeIntervalSince1970: 1_800_000_000), forKey: "date")
    if let target { coder.encode(target, forKey: "target") }
    guard hasSecrets else { return }
    coder.encode(Self.secret, forKey: "pin", sensitivity: .secret)
    coder.encode(
      Self.passing, forKey: "search", sensitivity: .expiring(after: .seconds(1_000_000_000)))
  }

  func decodeRestorableState(with coder: StateDecoder) throws {}
}

/// A window of the app, without nodes.
@MainActor
final class NotesScene: @MainActor SceneDelegate {}

/// The app whose states the tool looks at.
@MainActor
struct NotesApp {
  let sandbox: Sandbox

  func keeper(version: String = "7") throws -> StateKeeper {
    try StateKeeper(
      application: Sandbox.application, directory: FileStateDirectory(path: sandbox.states),
      keys: FileKeyProvider(path: sandbox.keyFile),
      environment: ApplicationEnvironment(applicationVersion: version))
  }

  static func tree() -> NotesScreen {
    let editor = NotesScreen("editor")
    editor.hasSecrets = true
    return NotesScreen("window", children: [NotesScreen("list"), editor])
  }

  /// Saves a state, as a launch of the app that then ends.
  func save(_ tree: NotesScreen = NotesApp.tree(), version: String = "7") async throws {
    let keeper = try keeper(version: version)
    _ = try await keeper.restore(into: [tree])
    _ = try await keeper.save([tree])
    await keeper.close()
  }
}
