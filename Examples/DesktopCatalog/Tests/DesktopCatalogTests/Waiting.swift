import Foundation

/// Looks again and again until something is so, and throws when that takes too long.
func wait(
  for what: @autoclosure () throws -> String, seconds: Double = 30, until isSo: () throws -> Bool
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
func waitUntilStill<Value: Equatable>(
  _ what: String, for span: Double, _ value: () throws -> Value
) throws -> Value {
  var last = try value()
  var since = Date()
  try wait(for: "\(what) to stand still") {
    let now = try value()
    if now != last { (last, since) = (now, Date()) }
    return Date().timeIntervalSince(since) > span
  }
  return last
}

struct TookTooLong: Error, CustomStringConvertible {
  let what: String
  let seconds: Double

  var description: String { "Waited \(seconds) seconds for \(what)." }
}
