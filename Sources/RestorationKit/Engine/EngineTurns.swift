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
