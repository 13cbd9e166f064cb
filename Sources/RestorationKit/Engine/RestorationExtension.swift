internal import Synchronization

/// Announces work of a restore that goes on after it, from any thread.
///
/// A restore has ended when ``StateKeeper/restore(into:)`` is through and every
/// ``extend()`` has its ``complete()``. If the process ends before that, the
/// restore counts as crashed; see ``StatePolicy/crashThreshold``.
public final class RestorationExtension: Sendable {
  typealias Close = @Sendable () async -> Void

  private struct State {
    /// Whether the restore itself runs.
    var isRestoring = false
    /// How many extends are not complete.
    var extendCount = 0
    /// Ends the restore when all extends are complete; nil once that has begun.
    var close: Close?
    var closingCount = 0
    var waiting: [WaitingCall] = []

    var isUnderWay: Bool { isRestoring || extendCount > 0 }

    /// The close of a restore that has ended; nil if there is none.
    mutating func takeClose() -> Close? {
      guard !isUnderWay, let close = close.take() else { return nil }
      closingCount += 1
      return close
    }
  }

  private let state = Mutex(State())

  init() {}

  /// Keeps the restore from ending until ``complete()`` is called once more.
  public func extend() {
    state.withLock { $0.extendCount += 1 }
  }

  /// Ends the work that one ``extend()`` announced; without one the call does nothing.
  public func complete() {
    let isLast = state.withLock { state in
      guard state.extendCount > 0 else { return false }
      state.extendCount -= 1
      return !state.isUnderWay
    }
    if isLast { Task { await settle() } }
  }

  /// Waits until the restore that has begun has ended; returns at once if none
  /// has begun and nothing is announced.
  ///
  /// Cancelling the task does not end the wait.
  public func ended() async {
    await settle()
    await withCheckedContinuation { continuation in
      let hasEnded = state.withLock { state in
        guard state.isUnderWay || state.closingCount > 0 || state.close != nil else { return true }
        state.waiting.append(WaitingCall(continuation))
        return false
      }
      if hasEnded { continuation.resume() }
    }
  }

  /// Whether a restore has not ended.
  var isUnderWay: Bool { state.withLock { $0.isUnderWay } }

  func beginRestore() {
    state.withLock { $0.isRestoring = true }
  }

  /// Says that the restore is through; returns when it has ended, if nothing is announced.
  func endRestore(_ close: Close?) async {
    state.withLock { state in
      // A restore that found no state has no close of its own, and the close of
      // an earlier restore stays.
      if let close { state.close = close }
      state.isRestoring = false
    }
    await settle()
  }

  /// Closes a restore that has ended, and tells the callers that wait for the end.
  private func settle() async {
    while let close = state.withLock({ $0.takeClose() }) {
      await close()
      state.withLock { $0.closingCount -= 1 }
    }
    let ended = state.withLock { state -> [WaitingCall] in
      guard !state.isUnderWay, state.closingCount == 0, state.close == nil else { return [] }
      defer { state.waiting = [] }
      return state.waiting
    }
    for call in ended { call.resume() }
  }
}
