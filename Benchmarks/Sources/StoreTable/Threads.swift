internal import Dispatch
internal import Foundation
internal import Synchronization

/// A thread whose end can be waited for.
final class WorkerThread: Sendable {
  private let group = DispatchGroup()
  private let body: @Sendable () -> Void

  init(_ body: @escaping @Sendable () -> Void) {
    self.body = body
  }

  func start() {
    group.enter()
    Thread.detachNewThread { [self] in
      body()
      group.leave()
    }
  }

  func wait() { group.wait() }
}

/// What went wrong on other threads, and what they leave open.
final class Failures: Sendable {
  private let errors = Mutex<[any Error]>([])
  private let kept = Mutex<[Database]>([])

  var first: (any Error)? { errors.withLock { $0.first } }

  func note(_ error: any Error) { errors.withLock { $0.append(error) } }

  /// Keeps a connection open until this is let go.
  func keep(_ database: Database) {
    kept.withLock { $0.append(database) }
  }
}

final class Times: Sendable {
  private let times = Mutex<[Double]>([])

  var all: [Double] { times.withLock { $0 } }

  func add(_ time: Double) { times.withLock { $0.append(time) } }
}

/// Connections that each have a thread.
final class DatabasePool: Sendable {
  private let free: Mutex<[Database]>
  private let queue = DispatchQueue(label: "peer", attributes: .concurrent)
  private let count: DispatchSemaphore

  init(_ string: String, count: Int) throws {
    free = Mutex(try (0..<count).map { _ in try Database(string) })
    self.count = DispatchSemaphore(value: count)
  }

  func run(_ body: @escaping @Sendable (Database) throws -> Void) async throws {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { [self] in
        count.wait()
        let database = free.withLock { $0.removeLast() }
        let result = Result { try body(database) }
        free.withLock { $0.append(database) }
        count.signal()
        continuation.resume(with: result)
      }
    }
  }
}
