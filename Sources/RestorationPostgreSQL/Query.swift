#if PostgreSQL
/// A statement that a task has asked for, and the task that waits for its answer.
///
/// It is `@unchecked Sendable` because what changes is used on the pool's queue only.
final class Query: @unchecked Sendable {
  let statement: Statement
  let parameters: [[UInt8]]

  /// When it has waited for a connection for too long.
  var latestStart = ContinuousClock.now

  /// The connection that does it.
  var connection: Int?

  /// How often it was given back to those that wait.
  var returnCount = 0

  private(set) var isFinished = false
  private var continuation: CheckedContinuation<QueryResult, any Error>?

  init(_ statement: Statement, _ parameters: [[UInt8]]) {
    self.statement = statement
    self.parameters = parameters
  }

  func begin(_ continuation: CheckedContinuation<QueryResult, any Error>) {
    if isFinished {
      continuation.resume(throwing: CancellationError())
    } else {
      self.continuation = continuation
    }
  }

  func finish(_ result: Result<QueryResult, any Error>) {
    guard !isFinished else { return }
    isFinished = true
    continuation?.resume(with: result)
    continuation = nil
  }
}
#endif
