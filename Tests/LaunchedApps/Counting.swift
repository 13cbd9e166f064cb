import RestorationKit

/// Says the count, adds one for each line, and ends with the input.
@MainActor
enum Counting {
  @Restored("count") static var count = 0

  static func main() async throws {
    try await Restoration.begin("org.example.notes")
    print("count \(count)")
    while await nextLine() != nil {
      count += 1
      print("count \(count)")
    }
  }
}
