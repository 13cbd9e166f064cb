internal import Dispatch
internal import Synchronization

/// How often many callers ask at once: most runs then show a race, if there is one.
package let roundCount = 25

/// One place, opened so often that many callers can ask at once.
func several<Subject>(_ open: () throws -> Subject) rethrows -> [Subject] {
  try (0..<8).map { _ in try open() }
}

/// Calls the body with all subjects at once, each on a thread of its own.
package func atOnce<Subject: Sendable, Answer: Sendable, Failure: Error>(
  _ subjects: [Subject], _ body: @escaping @Sendable (Subject) throws(Failure) -> Answer
) throws(Failure) -> [Answer] {
  let calls = subjects.map { subject in Call { () throws(Failure) in try body(subject) } }
  let (ready, start, end) = (DispatchGroup(), DispatchSemaphore(value: 0), DispatchGroup())
  for call in calls {
    ready.enter()
    // Each new queue has a thread of its own.
    DispatchQueue(label: "conformance").async(group: end) {
      ready.leave()
      start.wait()
      call.make()
    }
  }
  ready.wait()
  for _ in calls { start.signal() }
  end.wait()
  return try calls.compactMap(\.result).map { result throws(Failure) in try result.get() }
}

/// Calls the body with all subjects and their numbers at once, each in a task of its own.
///
/// - Returns: The answers in the order of the subjects.
package func atOnce<Subject: Sendable, Answer: Sendable>(
  _ subjects: [Subject], _ body: @escaping @Sendable (Int, Subject) async throws -> Answer
) async throws -> [Answer] {
  try await withThrowingTaskGroup(of: (Int, Answer).self) { group in
    for (number, subject) in subjects.enumerated() {
      group.addTask { (number, try await body(number, subject)) }
    }
    let answers = try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
    return subjects.indices.compactMap { answers[$0] }
  }
}

/// A call of one thread.
///
/// Nobody waits for its lock, so the thread sanitizer understands it: a test of an app
/// may run with the sanitizer.
private final class Call<Answer: Sendable, Failure: Error>: Sendable {
  private let body: @Sendable () throws(Failure) -> Answer
  private let content = Mutex<Result<Answer, Failure>?>(nil)

  init(_ body: @escaping @Sendable () throws(Failure) -> Answer) {
    self.body = body
  }

  var result: Result<Answer, Failure>? { content.withLock { $0 } }

  func make() {
    let result = Result { () throws(Failure) in try body() }
    content.withLock { $0 = result }
  }
}
