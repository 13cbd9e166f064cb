internal import Foundation
internal import Synchronization

/// Says something between tasks and threads.
package final class Flag: Sendable {
  private let value = Mutex(false)

  package init() {}

  package var isSet: Bool {
    get { value.withLock { $0 } }
    set { value.withLock { $0 = newValue } }
  }
}

/// Holds up those who pass it.
package final class Gate: Sendable {
  private let lock = NSLock()
  private let waiting = Mutex(0)

  package init() {}

  /// Whether somebody has come to it while it was closed.
  package var isWaitedFor: Bool { waiting.withLock { $0 > 0 } }

  package func holdUp() { lock.lock() }
  package func goOn() { lock.unlock() }

  package func pass() {
    waiting.withLock { $0 += 1 }
    lock.lock()
    lock.unlock()
    waiting.withLock { $0 -= 1 }
  }
}
