@preconcurrency import Foundation

/// Programs of the kind that the README shows, each in a file of its own.
///
/// The main is `async`: its main queue runs on a worker thread once it has waited. The first argument
/// chooses the program.
@main
enum LaunchedApps {
  @MainActor private static var programs: [String: @MainActor () async throws -> Void] {
    [
      "Busy": Busy.main,
      "Counting": Counting.main,
      "Descriptors": Descriptors.main,
      "Drive": Drive.main,
      "EndingElsewhere": EndingElsewhere.main,
      "Forking": Forking.main,
      "Mistakes": Mistakes.main,
      "ReadmeWindows": ReadmeWindows.main,
      "Refusing": Refusing.main,
      "Signals": Signals.main,
      "SlowRestore": SlowRestore.main,
      "TwoVersions": TwoVersions.main,
      "WithoutPermission": WithoutPermission.main,
    ]
  }

  @MainActor static func main() async throws {
    setvbuf(stdout, nil, _IOLBF, 0)
    guard let name = CommandLine.arguments.dropFirst().first, let program = programs[name]
    else { fatalError("The first argument is one of the programs.") }
    try await program()
  }
}

/// The arguments after the name of the program.
var arguments: [String] { Array(CommandLine.arguments.dropFirst(2)) }

/// Waits until the test sends a line, off the main actor; nil at the end of the input.
@concurrent func nextLine() async -> String? { readLine() }
