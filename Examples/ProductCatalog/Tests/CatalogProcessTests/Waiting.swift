import Foundation
import XCTest

extension XCTestCase {
  /// Looks again and again until something is so, and fails when it takes too long.
  func wait(for what: String, seconds: Double = 20, until isSo: () throws -> Bool) throws {
    let deadline = Date(timeIntervalSinceNow: seconds)
    while try !isSo() {
      guard Date() < deadline else { throw TookTooLong(what: what, seconds: seconds) }
      Thread.sleep(forTimeInterval: 0.01)
    }
  }

  /// Waits until something has stayed the same for longer than saves are apart.
  func waitUntilStill<Value: Equatable>(_ what: String, _ value: () throws -> Value) throws {
    var last = try value()
    var since = Date()
    try wait(for: "\(what) to stand still") {
      let now = try value()
      if now != last { (last, since) = (now, Date()) }
      return Date().timeIntervalSince(since) > 0.6
    }
  }
}

struct TookTooLong: Error {
  let what: String
  let seconds: Double
}
