// An app with a toolkit of its own.

import RestorationKit

@MainActor
enum NotesApp {
  static func main() {}
}

@main @MainActor
struct Notes {
  // The block stands here.
}
