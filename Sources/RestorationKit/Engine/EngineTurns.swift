internal import ArchiveCodec

/// What runs in an engine, and in which order it was called.
struct EngineTurns {
  /// Counts the calls that change what is stored, so that an older one never changes
  /// what a newer one has left.
  private(set) var callCount: UInt64 = 0
  /// Set while a restore runs; saves wait for its end.
  var restore: UnderWay?
  /// The save that was called last, while it runs; the next one waits for its end.
  var save: UnderWay?
  /// A save that has begun to walk and is not written, for which a restore waits.
  var write: UnderWay?
  /// How many calls let the objects go after their saves, and ask them until then whether they
  /// have changed.
  var leavingCount = 0

  /// Whether something is under way between whose parts a poll must not come.
  var isBusy: Bool { restore != nil || save != nil || write != nil }

  /// The number of a call that changes what is stored.
  mutating func newNumber() -> UInt64 {
    callCount += 1
    return callCount
  }
}

/// What the restores of one launch have found.
struct RestoreFindings {
  /// Tells what of the state the app could not decode, until another state has taken its place.
  var undecoded: Set<RecordFingerprint> = []
  /// Whether it was tried to restore what is stored, or that was discarded.
  var hasTriedToRestore = false
  var lastStatus = RestorationStatus.notRestoredYet
  /// Whether the key was locked.
  var isLocked = false

  /// Another state has taken the place of the one that was found, and nobody has asked for it yet.
  mutating func beginAnew() {
    (undecoded, hasTriedToRestore, lastStatus) = ([], false, .notRestoredYet)
  }
}

/// Something that has begun, for those who wait for its end.
///
/// It belongs to the keeper's actor, as all that uses it does.
final class UnderWay {
  private var waiting: [CheckedContinuation<Void, Never>] = []
  private var isFinished = false

  func end() async {
    guard !isFinished else { return }
    await withCheckedContinuation { waiting.append($0) }
  }

  func finish() {
    isFinished = true
    for continuation in waiting { continuation.resume() }
    waiting = []
  }
}
