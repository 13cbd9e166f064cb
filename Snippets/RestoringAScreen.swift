// The state of a screen, saved and brought back.

import Foundation
import RestorationKit

@MainActor
final class NoteScreen: @MainActor RestorableNode {
  let restorationIdentifier: String? = "note"
  var note: UUID?
  var draft = ""
  var cursor = 0

  func encodeRestorableState(with coder: StateEncoder) throws {
    coder.encode(note, forKey: "note")
    coder.encode(draft, forKey: "draft")
    coder.encode(cursor, forKey: "cursor")
  }

  func decodeRestorableState(with coder: StateDecoder) throws {
    note = try coder.decodeIfPresent(forKey: "note")
    draft = try coder.decodeIfPresent(forKey: "draft") ?? ""
    cursor = min(try coder.decodeIfPresent(forKey: "cursor") ?? 0, draft.count)
  }
}

let screen = NoteScreen()
let keeper = try StateKeeper(application: "org.example.notes")

// At launch, before the first save. What cannot be read must not end the app;
// the next save sets it aside.
do {
  print(try await keeper.restore(into: [screen]))
} catch {
  print("Starting afresh. \(error)")
}
print("Draft:", screen.draft)

// Whenever something has changed: it is on disk, encrypted, when this returns.
screen.draft += "One more line. "
screen.cursor = screen.draft.count
do {
  print(try await keeper.save([screen]))
} catch {
  print("Not saved. \(error)")
}
