// The windows of an earlier launch, to go back to.

import RestorationKit

final class NoteWindow: @MainActor SceneDelegate {
  let note = Note()
  func restorationRoots(for scene: RestorableScene) -> [any RestorableNode] { [note] }
}

final class Note: RestorableScreen {
  @Restored var text = ""
}

// snippet.sessions
let keeper = try await Restoration.begin(
  "org.example.going-back", prepare: { $0.policy.sessions = .last(10) })
let host = SceneHost(keeper)
try await host.start(SceneConfiguration { NoteWindow() })
if host.connectedScenes.isEmpty { try await host.open() }

// The first one is what this launch has found.
let sessions = try await host.savedSessions()
for (number, session) in sessions.enumerated() {
  let titles = session.windows.map { $0.title ?? "untitled" }.joined(separator: ", ")
  print("\(number): \(session.date), \(titles)")
}
if let last = sessions.last {
  let scenes = try await host.putBack(last)
  print("\(scenes.count) windows are open again.")
}
// snippet.end

try await host.terminate()
