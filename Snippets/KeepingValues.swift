// A value that comes back, and is saved by itself from then on.

import RestorationKit

@main @MainActor
struct Notes {
  @Restored("draft") static var draft = ""
  @Restored("cursor") static var cursor = 0

  static func main() async throws {
    try await Restoration.begin("org.example.notes")
    print("Draft: \(draft)")

    // Setting it is all there is to do: it is on disk, encrypted, a quarter of a second later.
    draft += "One more line. "
    cursor = draft.count

    // Stores what is left. Without it a crash loses what was set in the last quarter of a second.
    await Restoration.end()
  }
}
