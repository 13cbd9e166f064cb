internal import Synchronization

/// Announces work of a restore that goes on after it, from any thread.
///
/// A restore has ended when ``StateKeeper/restore(into:)`` is through and every
/// ``extend()`` has its ``complete()``. If the process ends before that, the
/// restore counts as crashed; see ``StateKeeper/crashThreshold``.
public final class RestorationExtension: Sendable {
  private struct State {
    var count: UInt64 = 0
    /// Whether the restore itself runs.
    var isRestoring = false
    /// What to do when a restore has ended; nil when that was begun.
    var close: Close?
    var closingCount = 0
    var waiting: [CheckedContinuation<Void, Never>] = []

    var isOver: Bool { !isRestoring && count == 0 }

    mutating func takeClose() -> Close? {
      guard isOver, let close = close.take() else { return nil }
      closingCount += 1
      return close
    }

    mutating func takeWaiting() -> [CheckedContinuation<Void, Never>] {
      guard isOver, closingCount == 0 else { return [] }
      defer { waiting = [] }
      return waiting
    }
  }

  typealias Close = @Sendable () async -> Void

  private let state = Mutex(State())

  init() {}

  /// Keeps the restore from ending until ``complete()`` is called once more.
  public func extend() {
    state.withLock { $0.count += 1 }
  }

  /// Ends what one ``extend()`` announced; without one it does nothing.
  public func complete() {
    let close = state.withLock { state in
      if state.count > 0 { state.count -= 1 }
      return state.takeClose()
    }
    if let close {
      Task { await run(close) }
    } else {
      resumeWaiting()
    }
  }

  /// Waits until the restore that has begun has ended; returns at once if none
  /// has begun and nothing is announced.
  ///
  /// Cancelling the task does not end the wait.
  public func ended() async {
    await withCheckedContinuation { continuation in
      state.withLock { $0.waiting.append(continuation) }
      resumeWaiting()
    }
  }

  /// Whether a restore has not ended.
  var isUnderWay: Bool {
    state.withLock { !$0.isOver }
  }

  func beginRestore() {
    state.withLock { $0.isRestoring = true }
  }

  /// The restore is through; returns when it has ended, if nothing is announced.
  func endRestore(_ close: Close?) async {
    let close = state.withLock { state in
      state.isRestoring = false
      // One that failed leaves alone what an earlier one is to close.
      if let close { state.close = close }
      return state.takeClose()
    }
    if let close { await run(close) } else { resumeWaiting() }
  }

  private func run(_ close: Close) async {
    await close()
    state.withLock { $0.closingCount -= 1 }
    resumeWaiting()
  }

  private func resumeWaiting() {
    for continuation in state.withLock({ $0.takeWaiting() }) { continuation.resume() }
  }
}
