import ArchiveCodec
import RestorationKit
import RestorationTesting
import Testing

@MainActor
private final class NoteScreen: @MainActor StatefulNode {
  struct State: Codable {
    var draft = ""
  }

  let restorationIdentifier = "note"
  var restorableState = State()
}

// The test in the README.
@MainActor @Test func theDraftComesBack() async throws {
  let screen = NoteScreen()
  screen.restorableState.draft = "Milk"
  let again = try await RestorationTester().restart(screen) { NoteScreen() }
  #expect(again.root.restorableState.draft == "Milk")
}

/// All of this works without XCTest.
@MainActor
struct ExampleTests {
  @Test(arguments: StorageConformance.checks)
  func memoryKeepsItsPromises(_ check: ConformanceCheck<any ArchiveStorage>) throws {
    try check.run {
      let storage = MemoryStorage()
      return { storage }
    }
  }
}
