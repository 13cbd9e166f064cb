// A test of the app.

import RestorationKit
import RestorationTesting
import Testing
import XCTest

@testable import Notes

@MainActor
func frame(
  screen: NoteScreen, root: NoteScreen, tester: RestorationTester, golden: GoldenStates,
  folder: String
) async throws {
  // The block stands here.
}
