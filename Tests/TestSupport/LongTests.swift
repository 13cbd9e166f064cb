import Foundation
import XCTest

/// Histories, exhaustive kills, every bit, millions of values: `LONG_TESTS=1 swift test` runs them whole.
///
/// Without the variable a part of each is run where a part says something, and the others are skipped.
package enum LongTests {
  package static let areOn = environment["LONG_TESTS"] == "1"

  private static let environment = ProcessInfo.processInfo.environment

  /// Begins a test that takes long and has no part that says something.
  package static func skipUnlessOn() throws {
    guard areOn else { throw XCTSkip("LONG_TESTS=1 runs it.") }
  }

  /// How many random histories, steps or runs a test makes.
  ///
  /// - Parameters:
  ///   - whole: The number with the long tests; a fifth of it without.
  ///   - variable: Another number, from the environment.
  /// - Returns: The number; at least 1 for 1 or more.
  package static func count(_ whole: Int, or variable: String? = nil) -> Int {
    variable.flatMap(given) ?? (areOn ? whole : (whole + 4) / 5)
  }

  /// The number that the environment has for a variable; nil unless it is at least 1.
  package static func given(_ variable: String) -> Int? {
    environment[variable].flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
  }

  /// All elements with the long tests; without, a tenth of them, and at least one, another one each day.
  package static func some<Element>(of elements: some Collection<Element>) -> [Element] {
    guard !areOn else { return Array(elements) }
    let day = Int(Date().timeIntervalSince1970 / 86_400)
    let step = min(10, elements.count)
    return elements.enumerated().filter { $0.offset % step == day % step }.map(\.element)
  }
}
