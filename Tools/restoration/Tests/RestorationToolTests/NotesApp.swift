import ArchiveCodec
import Foundation
import RestorationKit

/// A screen with all that the tool must show.
@MainActor
class NotesScreen: @MainActor RestorableNode {
  static let value = "VALUE-OF-A-NOTE"

  let restorationIdentifier: String?
  var restorationChildren: [any RestorableNode] = []
  var text = NotesScreen.value
  /// Whether encoding throws, with the text in its error.
  var fails = false

  private struct Failure: Error, CustomStringConvertible {
    let description: String
  }
  /// The text that a restore has brought back.
  var restored = ""
  /// Called while it is decoded.
  var onDecode: () throws -> Void = {}
  /// Another screen that it refers to.
  var target: NotesScreen?

  init(_ identifier: String, children: [NotesScreen] = []) {
    restorationIdentifier = identifier
    restorationChildren = children
  }

  func encodeRestorableState(with coder: StateEncoder) throws {
    if fails { throw Failure(description: text) }
    coder.encode(text, forKey: "text")
    coder.encode([1, 2, 3], forKey: "numbers")
    coder.encode(Double.infinity, forKey: "zoom")
    coder.encode(Date(timeIntervalSince1970: 1_800_000_000), forKey: "date")
    if let target { coder.encode(target, forKey: "target") }
  }

  func decodeRestorableState(with coder: StateDecoder) throws {
    restored = try coder.decodeIfPresent(forKey: "text") ?? ""
    try onDecode()
  }
}

/// A window of the app, without nodes.
@MainActor
final class NotesScene: @MainActor SceneDelegate {
  var title: String?

  func stateRestorationActivity(for scene: RestorableScene) -> UserActivity? {
    guard let title else { return nil }
    let activity = UserActivity(activityType: "note")
    activity.title = title
    return activity
  }
}

/// The app whose states the tool looks at.
@MainActor
struct NotesApp {
  let sandbox: Sandbox

  func keeper(version: String = "7") throws -> StateKeeper {
    try StateKeeper(
      application: Sandbox.application, directory: FileStateDirectory(path: sandbox.states),
      keys: KeyFile(path: sandbox.keyFile),
      environment: ApplicationEnvironment(applicationVersion: version))
  }

  /// A launch with windows, which come back by the body.
  ///
  /// - Returns: The identifiers of the windows that are open at the end, by their titles.
  @discardableResult
  func launchWindows(_ body: (SceneHost) async throws -> Void) async throws -> [String: String] {
    let keeper = try keeper()
    keeper.policy.historyCounts[.session] = 10
    let host = SceneHost(keeper)
    host.declaredActivityTypes = ["note"]
    host.register(SceneConfiguration { NotesScene() })
    try await host.launch()
    _ = await host.restoreScenes()
    try await body(host)
    var titles: [String: String] = [:]
    for scene in host.connectedScenes {
      titles[(scene.delegate as? NotesScene)?.title ?? ""] = scene.session.persistentIdentifier
    }
    try await host.terminate()
    await host.close()
    return titles
  }

  static func tree() -> NotesScreen {
    NotesScreen("window", children: [NotesScreen("list"), NotesScreen("editor")])
  }

  /// Saves a state, as a launch of the app that then ends.
  func save(_ tree: NotesScreen = NotesApp.tree(), version: String = "7") async throws {
    let keeper = try keeper(version: version)
    _ = try await keeper.restore(into: [tree])
    _ = try await keeper.save([tree])
    await keeper.close()
  }
}
