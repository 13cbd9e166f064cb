internal import Dispatch
internal import Synchronization

/// Does something with each element, two at a time, and gives the results in the order of the
/// elements.
///
/// Two, because a test waits for the disk or for another process part of the time, and more would
/// make the times of tests say less.
///
/// - Throws: What the body has thrown, in the end.
package func inPairs<Element: Sendable, Result: Sendable>(
  _ elements: [Element], _ body: @Sendable (Element) throws -> Result
) throws -> [Result] {
  let next = Mutex(0)
  let results = Mutex<[Int: Swift.Result<Result, any Error>]>([:])
  DispatchQueue.concurrentPerform(iterations: 2) { _ in
    while true {
      let index = next.withLock { next in
        defer { next += 1 }
        return next
      }
      guard index < elements.count else { return }
      let result = Swift.Result { try body(elements[index]) }
      results.withLock { $0[index] = result }
    }
  }
  return try results.withLock { results in
    try results.sorted { $0.key < $1.key }.map { try $0.value.get() }
  }
}
