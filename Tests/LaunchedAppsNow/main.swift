@preconcurrency import Foundation

// Programs with a synchronous main, as toolkits have; the first argument chooses one.

let programs: [String: @MainActor () throws -> Void] = [
  "CountingNow": CountingNow.main,
  "DescriptorsNow": DescriptorsNow.main,
]

setvbuf(stdout, nil, _IOLBF, 0)
guard let name = CommandLine.arguments.dropFirst().first, let program = programs[name] else {
  fatalError("The first argument is one of the programs.")
}
try program()

/// The arguments after the name of the program.
var arguments: [String] { Array(CommandLine.arguments.dropFirst(2)) }
