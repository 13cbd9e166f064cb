// Counts on after each kill.

import RestorationKit

@main @MainActor
struct Notes {
  @Restored("count") static var count = 0

  static func main() async throws {
    try await Restoration.begin("org.example.notes")
    while true {
      count += 1
      print(count)
      try await Task.sleep(for: .seconds(1))
    }
  }
}
