internal import Synchronization

/// The status of the copy, and its listeners.
extension RemoteCopy {
  /// The last status with the newer state, and what is under way.
  struct Told {
    var status = RemoteStatus.unknown
    /// The newer state of the store; the inner nil is a removal.
    var newer: RemoteState??
    var wake: (@Sendable () async -> Void)?
    var sending: Task<RemoteStatus, Never>?
    var isRetrying = false
  }

  /// Does what is to be done when the lease is due, or the store may have changed.
  func wake() async { await told.withLock { $0.wake }?() }

  /// What is sent to the store, while the answer is awaited: one thing at a time.
  var sending: Task<RemoteStatus, Never>? {
    get { told.withLock { $0.sending } }
    set { told.withLock { $0.sending = newValue } }
  }

  var status: RemoteStatus { told.withLock { $0.status } }

  /// The state that the next restore takes instead of the local one.
  var newer: RemoteState?? { told.withLock { $0.newer } }

  /// Notes a status, and tells the listeners if it has changed.
  func tell(_ status: RemoteStatus, newer: RemoteState?? = nil) {
    told.withLock { told in
      told.newer = newer
      guard told.status != status else { return }
      told.status = status
      listeners.tell(status)
    }
  }

  /// The status now, and each later one.
  var statusChanges: AsyncStream<RemoteStatus> {
    told.withLock { listeners.stream(from: $0.status, .bufferingNewest(1)) }
  }
}
