import Foundation

/// Looks again and again until something is so, and throws when that takes too long.
///
/// The usual limit is less than the 25 seconds that a call over D-Bus waits for an answer, so that an
/// app that waits for such a call is noticed.
package func waitFor(
  _ what: @autoclosure () throws -> String, seconds: Double = 20, until isSo: () throws -> Bool
) throws {
  let deadline = Date(timeIntervalSinceNow: seconds)
  while try !isSo() {
    guard Date() < deadline else { throw TookTooLong(what: try what(), seconds: seconds) }
    Thread.sleep(forTimeInterval: 0.02)
  }
}

/// Waits until something has stayed the same for some time.
///
/// - Returns: What it is then.
@discardableResult
package func waitUntilStill<Value: Equatable>(
  _ what: String, for span: Double, _ value: () throws -> Value
) throws -> Value {
  var last = try value()
  var since = Date()
  try waitFor("\(what) to stand still") {
    let now = try value()
    if now != last { (last, since) = (now, Date()) }
    return Date().timeIntervalSince(since) > span
  }
  return last
}

private struct TookTooLong: Error, CustomStringConvertible {
  let what: String
  let seconds: Double

  var description: String { "Waited \(seconds) seconds for \(what)." }
}
