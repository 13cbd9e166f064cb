internal import ArchiveCodec
internal import Synchronization

/// The storage of a state that keeps what it replaces.
///
/// An archive is kept when the new one is written, and before that one takes its place. So the new
/// one replaces nothing if the old one cannot be kept, whoever has asked for it: a compaction runs
/// by itself.
final class KeptStorage: ArchiveStorage {
  struct State {
    fileprivate var reason: Moment.Reason? = .replaced
    /// Whether nothing may replace the archive by itself: a compaction would keep it.
    var isHeld = false
    /// The last moment that another archive has replaced, if not one that is shorter.
    fileprivate var kept: Moment?
    var conditions: StateFile.Conditions
  }

  let base: any ArchiveStorage
  private let moments: any MomentStore
  let state: Mutex<State>

  init(_ moments: any MomentStore, _ conditions: StateFile.Conditions) {
    (base, self.moments) = (moments.main, moments)
    state = Mutex(State(conditions: conditions))
  }

  /// Keeps the stored archive as it is now.
  func keep(_ reason: Moment.Reason) throws(ArchiveError) -> Moment? {
    defer { removeExcess() }
    return try moments.keep(reason, at: state.withLock(\.conditions.now))
  }

  /// The last moment that another archive has replaced since the last call, if not one that is shorter.
  func takeKept() -> Moment? { state.withLock { $0.kept.take() } }

  /// Removes the moments that are over the bound.
  ///
  /// A failure is no reason to fail a save: the next moment brings another try.
  private func removeExcess() {
    let (policy, now) = state.withLock(\.conditions)
    do throws(ArchiveError) {
      try moments.remove(policy.historyBound.excess(of: try moments.all(), at: now))
    } catch {}
  }

  /// Lets a body replace the archive, also one that is held.
  ///
  /// - Parameters:
  ///   - reason: Why the archive is kept; nil if no trace of it is to stay.
  ///   - body: Replaces it.
  /// - Returns: The result of the body.
  /// - Throws: The errors of the body.
  func replacing<Result>(
    keeping reason: Moment.Reason?, _ body: () throws(ArchiveError) -> Result
  ) throws(ArchiveError) -> Result {
    let isHeld = state.withLock(\.isHeld)
    state.withLock { ($0.reason, $0.isHeld) = (reason, false) }
    defer { state.withLock { ($0.reason, $0.isHeld) = (.replaced, isHeld) } }
    return try body()
  }

  /// Replaces the stored archive, and keeps it.
  func replace(_ body: (any ArchiveSink) throws(ArchiveError) -> Void) throws(ArchiveError) {
    let (reason, isHeld) = state.withLock { ($0.reason, $0.isHeld) }
    if isHeld { throw ArchiveError(.inputOutput) }
    var kept: Moment?
    try base.replace { sink throws(ArchiveError) in
      try body(sink)
      if let reason { kept = try moments.keep(reason, at: state.withLock(\.conditions.now)) }
      if reason != .replaced, let kept { state.withLock { $0.kept = kept } }
    }
    if kept != nil { removeExcess() }
  }

  /// Puts the bytes of another file in the place of the archive.
  func put(_ file: any ArchiveFile, keeping reason: Moment.Reason?) throws(ArchiveError) {
    try replacing(keeping: reason) { () throws(ArchiveError) in
      try replace { sink throws(ArchiveError) in try sink.write(file) }
    }
  }

  // MARK: Calls that are passed on

  var location: String { base.location }
  func open() throws(ArchiveError) -> (any ArchiveFile)? { try base.open() }
  func openForAppending() throws(ArchiveError) -> (any AppendableArchiveFile)? {
    try base.openForAppending()
  }
  func lock() throws(ArchiveError) -> any ArchiveLock { try base.lock() }
  func isLocked() throws(ArchiveError) -> Bool { try base.isLocked() }
  func remove() throws(ArchiveError) { try base.remove() }
  func setAside() throws(ArchiveError) -> String? { try base.setAside() }
}
