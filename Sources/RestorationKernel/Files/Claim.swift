internal import ArchiveCodec
internal import Synchronization

/// A state that this instance has: a storage that keeps what it replaces.
///
/// An archive is kept when the new one is written, and before that one takes its place. So the new
/// one replaces nothing if the old one cannot be kept, whoever has asked for it: a compaction runs
/// by itself.
final class Claim: ArchiveStorage {
  struct State {
    var reason: Moment.Reason? = .replaced
    /// Whether nothing may replace the archive by itself: a compaction would keep it.
    var isHeld = false
    /// The last moment that another archive has replaced, if not one that is shorter.
    var kept: Moment?
    var conditions: StateFile.Conditions
  }

  let name: String
  /// The instances that have the names before this one.
  let others: [OtherInstance]
  let context: ArchiveContext
  private let held: any ArchiveLock
  /// The record of launches.
  let launch: any LaunchPlace
  let moments: MomentStore
  private let base: any ArchiveStorage
  let state: Mutex<State>

  /// Whether no other instance can have the state.
  var isHeld: Bool { get throws(ArchiveError) { try held.isHeld() } }

  /// Takes a name whose lock is held.
  init(
    _ name: String, _ moments: MomentStore, _ lock: any ArchiveLock, _ source: StateFile.Source,
    _ state: State, besides others: [OtherInstance] = []
  ) {
    (self.name, self.moments, base, held, self.others) = (name, moments, moments.main, lock, others)
    // To ask a type whether it has a protocol takes a launch a tenth of a millisecond or two
    // (benchmark: launch of a process).
    let beside: (any LaunchPlace)? = OpenLockFile.of(lock) ?? (lock as? Nowhere)
    launch = beside ?? StoredLaunch(source.directory.storage(named: "\(name).launch"))
    context = ArchiveContext([source.application, name])
    self.state = Mutex(state)
  }

  /// Keeps the stored archive as it is now.
  func keep(_ reason: Moment.Reason) throws(ArchiveError) -> Moment? {
    defer { removeExcess() }
    return try moments.keep(reason, at: state.withLock(\.conditions.now))
  }

  /// The last moment that another archive has replaced since the last call, if not one that is shorter.
  func takeKept() -> Moment? { state.withLock { $0.kept.take() } }

  /// The moments that a restore may take, the oldest first.
  func restorable() throws(ArchiveError) -> [Moment] {
    try moments.all().filter(\.reason.isRestorable)
  }

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

  // MARK: The record of launches

  private var launchContext: ArchiveContext { ArchiveContext(context.fields + ["launch"]) }

  /// Reads the record of launches, with its note.
  func launchRecord(_ key: ArchiveKey) throws(ArchiveError) -> LaunchRecord? {
    try launch.read().flatMap { (bytes) throws(ArchiveError) in
      try LaunchRecord.open(bytes, key, launchContext)
    }
  }

  /// Writes the record of launches, with its note; over the same record the note alone is written.
  func write(
    _ record: LaunchRecord, _ note: LaunchNote, over known: LaunchRecord? = nil, _ key: ArchiveKey
  ) throws(ArchiveError) {
    if record == known { return try launch.write(note: note.bytes(record.tag)) }
    try launch.write(try record.sealed(key, launchContext), note: note.bytes(record.tag))
  }

  // MARK: Calls that are passed on

  var location: String { base.location }
  func open() throws(ArchiveError) -> (any ArchiveFile)? { try base.open() }
  func openForAppending() throws(ArchiveError) -> (any AppendableArchiveFile)? {
    try base.openForAppending()
  }
  func lock() throws(ArchiveError) -> any ArchiveLock { held }
  func isLocked() throws(ArchiveError) -> Bool { try base.isLocked() }
  func remove() throws(ArchiveError) { try base.remove() }
  func setAside() throws(ArchiveError) -> String? { try base.setAside() }
}
