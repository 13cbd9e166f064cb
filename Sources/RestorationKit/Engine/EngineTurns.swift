internal import ArchiveCodec

/// The work that runs in an engine, and in which order it was called.
struct EngineTurns {
  /// Counts the calls that change the stored state, so that an older call never changes what a
  /// newer one has left.
  private(set) var callCount: UInt64 = 0
  /// Set while a restore runs; saves wait for its end.
  var restore: UnderWay?
  /// The save that was called last, while it runs; the next one waits for its end.
  var save: UnderWay?
  /// A save that has begun to walk and is not written, for which a restore waits.
  var write: UnderWay?
  /// How many calls save and then let the objects go; until then they ask the objects
  /// whether they have changed.
  var leavingCount = 0

  /// Whether something is under way between whose parts a poll must not come.
  var isBusy: Bool { restore != nil || save != nil || write != nil }

  /// Gives out the number of a call that changes the stored state.
  mutating func newNumber() -> UInt64 {
    callCount += 1
    return callCount
  }
}

/// The findings of the restores of one launch.
struct RestoreFindings {
  /// The fingerprints of the states that the app could not decode, until another state has taken
  /// the place of the stored one.
  var undecoded: Set<RecordFingerprint> = []
  /// Whether a restore of the stored state was tried, or the state was discarded.
  var hasTriedToRestore = false
  var lastStatus = RestorationStatus.notRestoredYet
  /// Whether the key was locked.
  var isLocked = false

  /// Another state has taken the place of the one that was found, and nobody has asked for it yet.
  mutating func beginAnew() {
    (undecoded, hasTriedToRestore, lastStatus) = ([], false, .notRestoredYet)
  }
}

/// A call that is under way, for other calls that wait for its end.
///
/// The object belongs to the keeper's actor, as all code does that uses it.
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
