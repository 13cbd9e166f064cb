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

// At launch: nothing is stored the first time, and that is no error.
let restored = try await keeper.restore(into: [screen])
print(restored)

// Whenever something has changed: it is on disk, encrypted, when this returns.
screen.draft += "One more line. "
screen.cursor = screen.draft.count
let saved = try await keeper.save([screen])
print(saved)
