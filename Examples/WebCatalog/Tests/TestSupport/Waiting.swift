import Foundation
import Synchronization

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

/// Waits for something asynchronous, so that no test is.
///
/// A server ends with the thread that has started it, and those of async tests end when they have
/// nothing to do for some seconds.
package func result<Value: Sendable>(
  within seconds: Double = 60, of body: @escaping @Sendable () async throws -> Value
) throws -> Value {
  let (found, isDone) = (Found<Value>(), DispatchSemaphore(value: 0))
  Task.detached {
    let result: Result<Value, any Error>
    do {
      result = .success(try await body())
    } catch {
      result = .failure(error)
    }
    found.result.withLock { $0 = result }
    isDone.signal()
  }
  guard isDone.wait(timeout: .now() + seconds) == .success,
    let result = found.result.withLock({ $0 })
  else { throw TookTooLong(what: "an asynchronous call", seconds: seconds) }
  return try result.get()
}

private final class Found<Value: Sendable>: Sendable {
  let result = Mutex<Result<Value, any Error>?>(nil)
}
