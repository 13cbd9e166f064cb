// The windows of an earlier launch, to go back to.

import RestorationKit

final class NoteWindow: @MainActor SceneDelegate {
  let note = Note()
  func restorationRoots(for scene: RestorableScene) -> [any RestorableNode] { [note] }
}

final class Note: RestorableScreen {
  @Restored var text = ""
}

// snippet.history
let keeper = try await Restoration.begin(
  "org.example.going-back", prepare: { $0.policy.historyCounts[.session] = 10 })
let host = SceneHost(keeper)
try await host.start(SceneConfiguration { NoteWindow() })

// The oldest moment comes first.
let moments = try await keeper.history()
for moment in moments { print("\(moment.date): \(moment.reason)") }
if let earlier = moments.last(where: { $0.reason == .session }) {
  try await host.putBack(earlier)
  // The windows are not connected yet.
  await host.restoreScenes()
  print("\(host.connectedScenes.count) windows are open again.")
}
// snippet.end

for scene in host.connectedScenes {
  (scene.delegate as? NoteWindow)?.note.text += "One more line. "
}
try await host.terminate()
