internal import Synchronization

/// Announces work of a restore that goes on after it, from any thread.
///
/// A restore has ended when ``StateKeeper/restore(into:)`` is through and every
/// ``extend()`` has its ``complete()``. If the process ends before that, the
/// restore counts as crashed; see ``StateKeeper/crashThreshold``.
public actor RestorationExtension {
  typealias Close = @Sendable () async -> Void

  /// Twice the number of extends without complete, and 1 more while the restore
  /// itself runs.
  private nonisolated let open = Atomic<UInt64>(0)
  private static let restore: UInt64 = 1
  private static let extend: UInt64 = 2

  /// Ends the restore when all extends are complete; nil once that has begun.
  private var close: Close?
  private var closingCount = 0
  private var waiting: [CheckedContinuation<Void, Never>] = []

  init() {}

  /// Keeps the restore from ending until ``complete()`` is called once more.
  public nonisolated func extend() {
    open.wrappingAdd(Self.extend, ordering: .acquiringAndReleasing)
  }

  /// Ends the work that one ``extend()`` announced; without one the call does nothing.
  public nonisolated func complete() {
    var seen = open.load(ordering: .acquiring)
    while seen >= Self.extend {
      let (isDone, found) = open.weakCompareExchange(
        expected: seen, desired: seen - Self.extend, ordering: .acquiringAndReleasing)
      guard !isDone else {
        if seen == Self.extend { Task { await settle() } }
        return
      }
      seen = found
    }
  }

  /// Waits until the restore that has begun has ended; returns at once if none
  /// has begun and nothing is announced.
  ///
  /// Cancelling the task does not end the wait.
  public func ended() async {
    await settle()
    guard isUnderWay || closingCount > 0 else { return }
    await withCheckedContinuation { waiting.append($0) }
  }

  /// Whether a restore has not ended.
  nonisolated var isUnderWay: Bool {
    open.load(ordering: .acquiring) > 0
  }

  nonisolated func beginRestore() {
    open.bitwiseOr(Self.restore, ordering: .acquiringAndReleasing)
  }

  /// Says that the restore is through; returns when it has ended, if nothing is announced.
  func endRestore(_ close: Close?) async {
    // A restore that found no state has no close of its own, and the close of
    // an earlier restore stays.
    if let close { self.close = close }
    open.bitwiseAnd(~Self.restore, ordering: .acquiringAndReleasing)
    await settle()
  }

  /// Closes a restore that has ended, and tells the callers that wait for the end.
  private func settle() async {
    while !isUnderWay, let close = close.take() {
      closingCount += 1
      await close()
      closingCount -= 1
    }
    guard !isUnderWay, closingCount == 0 else { return }
    let ended = waiting
    waiting = []
    for continuation in ended { continuation.resume() }
  }
}
