#if PostgreSQL
internal import RestorationFoundation
internal import RestorationSharing
internal import Synchronization

/// Sends appends of different states together while others are under way.
///
/// Each statement costs the server about as much as what it does for a row, and a commit waits
/// for the disk. So those that come while a few statements are under way wait for the end of
/// one, and go as one. One that comes alone waits for nobody.
final class AppendBatches: Sendable {
  struct Append: Sendable {
    let name: String
    let expected: UUID
    let version: UUID
    let bytes: [UInt8]
  }

  private struct Pending {
    let append: Append
    let answer: Answer
    let beginning = ContinuousClock.now
  }

  private struct Content {
    var waiting: [Pending] = []
    var statementCount = 0
  }

  private let pool: ConnectionPool
  private let content = Mutex(Content())

  /// With more statements at once there is less in each.
  private static let largestStatementCount = 2
  /// What waits for one statement is lost to its callers if that gets no answer.
  private static let largestBatch = 64
  private static let largestByteCount = 1 << 20

  init(_ pool: ConnectionPool) {
    self.pool = pool
  }

  /// Appends; false if the state has another version.
  func run(_ append: Append) async throws -> Bool {
    let answer = Answer()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        answer.begin(continuation)
        let begins = content.withLock { content in
          content.waiting.append(Pending(append: append, answer: answer))
          guard content.statementCount < Self.largestStatementCount else { return false }
          content.statementCount += 1
          return true
        }
        if begins { Task { await runAll() } }
      }
    } onCancel: {
      answer.finish(.failure(CancellationError()))
    }
  }

  private func runAll() async {
    while let batch = next() {
      do {
        let changed = try await run(batch.map(\.append))
        for pending in batch {
          pending.answer.finish(.success(changed.contains(pending.append.version)))
        }
      } catch {
        fail(batch, error)
      }
    }
  }

  /// Tells those of a statement that it has failed.
  ///
  /// One that the server refused has changed nothing. What is wrong with one state is no matter
  /// of the others, so each is asked for alone then.
  private func fail(_ batch: [Pending], _ error: any Error) {
    let code = (error as? RemoteStoreError)?.code ?? .unavailable
    // Or somebody held up one of them.
    if code != .unavailable || error is UndoneAppends, batch.count > 1 {
      for pending in batch where !pending.answer.isFinished {
        Task {
          do {
            let changed = try await run([pending.append])
            pending.answer.finish(.success(!changed.isEmpty))
          } catch {
            pending.answer.finish(.failure(error))
          }
        }
      }
      return
    }
    for pending in batch + takeLate() { pending.answer.finish(.failure(error)) }
  }

  /// Those that wait for a server which does not answer have waited for long enough.
  private func takeLate() -> [Pending] {
    let latest = ContinuousClock.now - pool.options.waitingTimeout
    return content.withLock { content in
      let late = content.waiting.filter { $0.beginning <= latest }
      content.waiting.removeAll { $0.beginning <= latest }
      return late
    }
  }

  /// What goes next, with each state once at most; nil if nothing waits.
  private func next() -> [Pending]? {
    content.withLock { content in
      var batch: [Pending] = []
      var names: Set<[UInt8]> = []
      var byteCount = 0
      var rest: [Pending] = []
      for (place, pending) in content.waiting.enumerated() {
        guard !pending.answer.isFinished else { continue }
        byteCount += pending.append.bytes.count
        guard batch.count < Self.largestBatch, batch.isEmpty || byteCount <= Self.largestByteCount
        else {
          rest += content.waiting[place...]
          break
        }
        if names.insert(Array(pending.append.name.utf8)).inserted {
          batch.append(pending)
        } else {
          rest.append(pending)
        }
      }
      content.waiting = rest
      if batch.isEmpty { content.statementCount -= 1 }
      return batch.isEmpty ? nil : batch
    }
  }

  /// The versions of those that took place.
  private func run(_ appends: [Append]) async throws -> Set<UUID> {
    guard appends.count > 1 else {
      let append = appends[0]
      let rows = try await pool.run(
        .append,
        [Array(append.name.utf8), append.expected.bytes, append.version.bytes, append.bytes])
      return rows.rowCount == 1 ? [append.version] : []
    }
    let rows = try await pool.run(
      .appendMany,
      [
        BinaryArray.bytes(of: .text, appends.map { Array($0.name.utf8) }),
        BinaryArray.bytes(of: .uuid, appends.map(\.expected.bytes)),
        BinaryArray.bytes(of: .uuid, appends.map(\.version.bytes)),
        BinaryArray.bytes(of: .bytes, appends.map(\.bytes)),
      ])
    return Set((0..<rows.rowCount).compactMap { rows.uuid($0, 0) })
  }

  /// Whoever waits for the answer, until it is there or its task is cancelled.
  private final class Answer: Sendable {
    private struct Content {
      var result: Result<Bool, any Error>?
      var continuation: CheckedContinuation<Bool, any Error>?
    }

    private let content = Mutex(Content())

    var isFinished: Bool { content.withLock { $0.result != nil } }

    func begin(_ continuation: CheckedContinuation<Bool, any Error>) {
      let result = content.withLock { content in
        if content.result == nil { content.continuation = continuation }
        return content.result
      }
      if let result { continuation.resume(with: result) }
    }

    func finish(_ result: Result<Bool, any Error>) {
      let continuation = content.withLock { content in
        if content.result == nil { content.result = result }
        return content.continuation.take()
      }
      continuation?.resume(with: result)
    }
  }
}

/// A list of values as PostgreSQL sends and takes it.
enum BinaryArray {
  static func bytes(of type: ParameterType, _ values: [[UInt8]]) -> [UInt8] {
    var bytes: [UInt8] = []
    func append(_ number: UInt32) {
      unsafe withUnsafeBytes(of: number.bigEndian) { unsafe bytes.append(contentsOf: $0) }
    }
    bytes.reserveCapacity(20 + values.reduce(0) { $0 + 4 + $1.count })
    // One dimension, no nulls, the type, how many, and the number of the first.
    append(1)
    append(0)
    append(type.rawValue)
    append(UInt32(values.count))
    append(1)
    for value in values {
      append(UInt32(value.count))
      bytes += value
    }
    return bytes
  }
}

/// Many appends of which none took place, since one of them waited for too long.
struct UndoneAppends: Error {
  let error: RemoteStoreError
}
#endif
