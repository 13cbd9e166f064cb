import ArchiveCodec
import RestorationKit
import RestorationTesting
import Testing

@MainActor
private final class NoteScreen: @MainActor RestorableNode {
  let restorationIdentifier: String? = "note"
  var draft = ""

  func encodeRestorableState(with coder: StateEncoder) throws {
    coder.encode(draft, forKey: "draft")
  }

  func decodeRestorableState(with coder: StateDecoder) throws {
    draft = try coder.decodeIfPresent(forKey: "draft") ?? ""
  }
}

/// The example of the README, and that all of this works without XCTest.
@MainActor
struct ExampleTests {
  @Test func draftComesBack() async throws {
    let screen = NoteScreen()
    screen.draft = "Milk"
    let again = try await RestorationTester().restart(screen) { NoteScreen() }
    #expect(again.root.draft == "Milk")
  }

  @Test(arguments: StorageConformance.checks)
  func memoryKeepsItsPromises(_ check: ConformanceCheck<any ArchiveStorage>) throws {
    try check.run {
      let storage = MemoryStorage()
      return { storage }
    }
  }
}
