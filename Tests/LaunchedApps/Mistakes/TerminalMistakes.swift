@preconcurrency import Foundation
import RestorationKit

/// The same mistake with each kind of stderr.
@MainActor
enum TerminalMistakes {
  static let all: [String: Mistakes.App] = [
    "inRawMode": inRawMode,
    "withALibrary": withALibrary,
    "withAClosure": withAClosure,
  ]

  private struct Keyless {
    @Restored var count = 0
    @Restored var title = ""
  }

  private static func makeMistakes() async throws {
    try await Mistakes.begin()
    let keyless = Keyless()
    keyless.count = 1
    keyless.count = 2
    keyless.title = "typed"
    print("made")
  }

  private static func inRawMode() async throws {
    var raw = termios()
    tcgetattr(STDERR_FILENO, &raw)
    cfmakeraw(&raw)
    tcsetattr(STDERR_FILENO, TCSANOW, &raw)
    try await makeMistakes()
  }

  /// Loads a library, as a test runner does.
  private static func withALibrary() async throws {
    print(dlopen(arguments[1], RTLD_NOW) == nil ? "not there" : "loaded")
    try await makeMistakes()
    await Restoration.end()
  }

  private static func withAClosure() async throws {
    Restoration.onProblem = { print("heard: \($0.prefix(9))") }
    try await makeMistakes()
    await Restoration.end()
  }
}
