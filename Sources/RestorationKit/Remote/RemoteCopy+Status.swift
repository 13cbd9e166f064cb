internal import Synchronization

/// Who wants to know how the copy stands to the store.
extension RemoteCopy {
  /// The last status with what is newer, and those who are told.
  struct Told {
    var status = RemoteStatus.unknown
    var newer: Newer?
    var listeners: [UInt64: AsyncStream<RemoteStatus>.Continuation] = [:]
    var listenerCount: UInt64 = 0
    var wake: (@Sendable () async -> Void)?
  }

  /// Says what looks after the copy when its lease is due, or the store may have changed.
  func onWake(_ body: @escaping @Sendable () async -> Void) {
    told.withLock { $0.wake = body }
  }

  /// Looks after the copy.
  func wake() async {
    let body = told.withLock { $0.wake }
    await body?()
  }

  /// What the store has; nil if it was removed.
  struct Newer: Sendable {
    let state: RemoteState?
  }

  var status: RemoteStatus { told.withLock { $0.status } }

  /// What a restore takes in place of what is here.
  var newer: Newer? { told.withLock { $0.newer } }

  /// Notes a status, and tells it if it is another one.
  func tell(_ status: RemoteStatus, newer: Newer? = nil) {
    let listeners = told.withLock { told -> [AsyncStream<RemoteStatus>.Continuation] in
      told.newer = newer
      guard told.status != status else { return [] }
      told.status = status
      return Array(told.listeners.values)
    }
    for listener in listeners { listener.yield(status) }
  }

  /// The status now, and each one after it.
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
