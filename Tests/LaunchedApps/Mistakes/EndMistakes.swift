@preconcurrency import Foundation
import RestorationKit

/// Mistakes at the end of an app, and with a main actor that is busy.
@MainActor
enum EndMistakes {
  static let all: [String: Mistakes.App] = [
    "exits": { try await end { exit(0) } },
    "returns": { try await end {} },
    "throws": { try await end { throw Failure() } },
    "dies": { try await end { _exit(3) } },
    "traps": { try await end { fatalError("a trap of the app") } },
    "busyShortly": { try await end { Thread.sleep(forTimeInterval: 0.3) } },
    "busy": busy,
    "setAfterEnd": setAfterEnd,
  ]

  private struct Failure: Error {}

  private static func end(by end: @MainActor () throws -> Void) async throws {
    try await Mistakes.begin()
    let count = RestoredValue("count", default: 0)
    count.value += 1
    print(count.value)
    try end()
  }

  /// Waits for the user on the main actor, as many a first program does.
  private static func busy() async throws {
    try await end { _ = readLine() }
  }

  private static func setAfterEnd() async throws {
    try await Mistakes.begin()
    let count = RestoredValue("count", default: 0)
    await Restoration.end()
    count.value += 1
    let draft = RestoredValue("draft", default: "")
    draft.value = "typed"
    draft.value = "typed again"
  }
}
