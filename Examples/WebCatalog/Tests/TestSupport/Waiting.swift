import Foundation

/// Looks again and again until something is so, and throws when that takes too long.
package func wait(
  for what: @autoclosure () throws -> String, seconds: Double = 30, until isSo: () throws -> Bool
) throws {
  let deadline = Date(timeIntervalSinceNow: seconds)
  while try !isSo() {
    guard Date() < deadline else { throw TookTooLong(what: try what(), seconds: seconds) }
    Thread.sleep(forTimeInterval: 0.02)
  }
}

package struct TookTooLong: Error, CustomStringConvertible {
  let what: String
  let seconds: Double

  package var description: String { "Waited \(seconds) seconds for \(what)." }
}
