// The state of a screen, saved and brought back.

import Foundation
import RestorationKit

@MainActor
final class NoteScreen: @MainActor StatefulNode {
  struct State: Codable {
    var note: UUID?
    var draft = ""
    var cursor = 0
  }

  let restorationIdentifier = "note"
  var restorableState = State()
}

let screen = NoteScreen()
let keeper = try StateKeeper(application: "org.example.notes")

// At launch, before the first save. What cannot be read must not end the app;
// the next save sets it aside.
do {
  print(try await keeper.restore(into: [screen]))
} catch {
  print(error)
}
print("Draft:", screen.restorableState.draft)

// Whenever something has changed: it is on disk, encrypted, when this returns.
screen.restorableState.draft += "One more line. "
do {
  print(try await keeper.save([screen]))
} catch {
  print("Not saved. \(error)")
}
