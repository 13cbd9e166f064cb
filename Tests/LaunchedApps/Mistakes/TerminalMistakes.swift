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

  /// Goes back to the usual mode after a line, and ends with the input.
  private static func inRawMode() async throws {
    var usual = termios()
    tcgetattr(STDERR_FILENO, &usual)
    var raw = usual
    cfmakeraw(&raw)
    tcsetattr(STDERR_FILENO, TCSANOW, &raw)
    try await makeMistakes()
    guard await nextLine() != nil else { return }
    tcsetattr(STDERR_FILENO, TCSANOW, &usual)
    _ = await nextLine()
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
