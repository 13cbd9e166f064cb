internal import Synchronization

/// The status of the copy, and its listeners.
extension RemoteCopy {
  /// The last status with the newer state, and the listeners.
  struct Told {
    var status = RemoteStatus.unknown
    var newer: Newer?
    var listeners: [UInt64: AsyncStream<RemoteStatus>.Continuation] = [:]
    var listenerCount: UInt64 = 0
    var wake: (@Sendable () async -> Void)?
    var sending: Task<RemoteStatus, Never>?
    var isRetrying = false
  }

  /// Sets the work that is done when the lease is due, or the store may have changed.
  func onWake(_ body: @escaping @Sendable () async -> Void) {
    told.withLock { $0.wake = body }
  }

  /// Does the work that ``onWake(_:)`` has set.
  func wake() async {
    let body = told.withLock { $0.wake }
    await body?()
  }

  /// What is sent to the store, while the answer is awaited: one thing at a time.
  var sending: Task<RemoteStatus, Never>? {
    get { told.withLock { $0.sending } }
    set { told.withLock { $0.sending = newValue } }
  }

  /// A newer state of the store; nil if it was removed.
  struct Newer: Sendable {
    let state: RemoteState?
  }

  var status: RemoteStatus { told.withLock { $0.status } }

  /// The state that the next restore takes instead of the local one.
  var newer: Newer? { told.withLock { $0.newer } }

  /// Notes a status, and tells the listeners if it has changed.
  func tell(_ status: RemoteStatus, newer: Newer? = nil) {
    let listeners = told.withLock { told -> [AsyncStream<RemoteStatus>.Continuation] in
      told.newer = newer
      guard told.status != status else { return [] }
      told.status = status
      return Array(told.listeners.values)
    }
    for listener in listeners { listener.yield(status) }
  }

  /// The status now, and each later one.
  var statusChanges: AsyncStream<RemoteStatus> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: RemoteStatus.self, bufferingPolicy: .bufferingNewest(1))
    let number = told.withLock { told in
      told.listenerCount += 1
      told.listeners[told.listenerCount] = continuation
      continuation.yield(told.status)
      return told.listenerCount
    }
    continuation.onTermination = { [weak self] _ in
      self?.told.withLock { _ = $0.listeners.removeValue(forKey: number) }
    }
    return stream
  }
}
