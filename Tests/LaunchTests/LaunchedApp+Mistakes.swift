import TestSupport
import XCTest

extension LaunchedApp {
  /// Runs one of the mistakes until its end.
  ///
  /// - Returns: What it has printed, and what the library says on stderr.
  static func run(
    _ mistake: String, in home: TemporaryDirectory, ending: Ending? = .exited(0),
    variables: [String: String?] = [:], through command: [String] = [], line: UInt = #line
  ) throws -> (output: [String], lines: [String]) {
    let app = try LaunchedApp(
      "Mistakes", mistake, home: home, variables: variables, through: command)
    try app.endInput()
    let lines = try app.errorLines().filter { $0.hasPrefix(said) }
    let output = try app.rest()
    let end = app.ending()
    if let ending { XCTAssertEqual(end, ending, mistake, line: line) }
    return (output, lines.map { String($0.dropFirst(said.count)) })
  }

  static let said = "RestorationKit: "
}
