package import ArchiveCodec
internal import RestorationLibc
internal import Synchronization
package import RestorationFoundation

/// The stored state of a keeper with all its windows: one archive, one lock, one mark of the launch
/// and one history.
///
/// All calls wait for the disk, and none may be made while another one is under way: a queue stands
/// before them. A keeper that never restores or saves claims nothing.
package final class StateFile {
  package struct Source: Sendable {
    package let name: String
    package let application: String
    package let directory: any StateDirectory
    package let keys: any KeyProvider
    package let environment: ApplicationEnvironment
    package let limits: ArchiveLimits
    package let holding = Holding()
    /// Waits for another instance that has the state, and may be about to end; false ends the waiting.
    package var pause: @Sendable (_ tries: Int, _ policy: InstancePolicy) -> Bool = {
      tries, policy in
      // A write takes a few milliseconds.
      _ = usleep(5000)
      return !Task.isCancelled && tries < (policy == .single ? 200 : 20)
    }

    package init(
      name: String, application: String, directory: any StateDirectory, keys: any KeyProvider,
      environment: ApplicationEnvironment, limits: ArchiveLimits = .standard
    ) {
      (self.name, self.application, self.directory) = (name, application, directory)
      (self.keys, self.environment, self.limits) = (keys, environment, limits)
    }
  }

  /// What a keeper keeps and leaves out, and the time of its clock, as of the call that is under way.
  package typealias Conditions = (policy: StatePolicy, now: Date)

  package let source: Source
  package var conditions: Conditions = (StatePolicy(), Date()) {
    didSet { claimed?.state.withLock { $0.conditions = conditions } }
  }
  var claimed: Claim? {
    didSet { source.holding.now = (claimed?.name, claimed?.others ?? []) }
  }
  /// The name that was taken last, since an instance never goes on under the name of another one, and whether a wait
  /// for the instance that has the state was in vain.
  private var last: (name: String?, hasWaited: Bool) = (nil, false)
  /// Why what is stored becomes a moment before the next write; nil if it was read whole.
  var keeps: Moment.Reason? = .unread
  var writer: ArchiveWriter?
  /// The key with which the writer was made.
  var writerKey: ArchiveKey?
  /// The restored state, if it is not the one that is stored.
  var standIn: (any ArchiveFile)?
  /// A state that this instance has had, from which the next change goes on if it is still the stored one,
  /// and why that one becomes a moment then.
  var former: (version: ArchiveVersion, keeps: Moment.Reason?)?
  /// Whether the last append has come to its own change: what is done before may not last, either.
  package internal(set) var hasBegunChange = false
  /// How often the names may have got other numbers, and with them the fingerprints of all records.
  package internal(set) var numbering = 0
  /// The mark of the last restore of this launch; nil before the first one.
  var mark: LaunchMark? {
    didSet { oldValue?.letGo() }
  }

  package init(_ source: Source) { self.source = source }

  /// The process goes on, so a restore that did not end is no crash.
  deinit {
    mark?.end()
    mark?.letGo()
  }

  /// The name of the state that this instance has, or else of the one that was asked for.
  package var name: String { claimed?.name ?? source.name }

  /// Whether something is to leave no trace, and its records are still in the file.
  var isCompactionDue: Bool {
    get { claimed?.state.withLock(\.isHeld) ?? false }
    set { claimed?.state.withLock { $0.isHeld = newValue } }
  }

  /// Takes the state, or the one that is taken already.
  ///
  /// - Parameter policy: What becomes of a second instance; the policy of the keeper if nil.
  /// - Returns: The state that this instance has.
  /// - Throws: `locked` with the other instance as its subject if the state is in use.
  func claim(_ policy: InstancePolicy? = nil) throws(ArchiveError) -> Claim {
    // Without its file a lock keeps nobody out any more.
    if let claimed, try claimed.isHeld { return claimed }
    source.holding.now = (nil, [])
    var others: [OtherInstance] = []
    var (tries, refusal) = (1, ArchiveError(.locked))
    let policy = policy ?? conditions.policy.instances
    var names = InstanceName.all(source.name, last: last.name, policy).makeIterator()
    var next = names.next()
    while let name = next {
      do throws(ArchiveError) {
        let moments = source.directory.moments(of: name)
        let state = Claim.State(isHeld: isCompactionDue, conditions: conditions)
        let taken = Claim(name, moments, try moments.main.lock(), source, state, besides: others)
        (claimed, last.name) = (taken, name)
        return taken
      } catch {
        guard error.code == .locked else { throw error }
        refusal = error
      }
      // Only the first name is waited for, and once.
      if others.isEmpty, last.name == nil, !last.hasWaited {
        last.hasWaited = !source.pause(tries, conditions.policy.instances)
        tries += 1
      } else {
        others.append(OtherInstance(stateName: name, process: refusal.subject))
        next = names.next()
      }
    }
    throw refusal
  }

  /// The state, or one that can only be read where nothing can be locked.
  func claimToRead() throws(ArchiveError) -> Claim {
    do throws(ArchiveError) { return try claim() } catch {
      guard error.code != .locked else { throw error }
      let moments = source.directory.moments(of: source.name)
      return Claim(
        source.name, moments, Nowhere(error), source, Claim.State(conditions: conditions))
    }
  }

  /// Forgets what was read of the stored state.
  func forgetStored(keeping reason: Moment.Reason? = .unread) {
    (writer, standIn, former, keeps) = (nil, nil, nil, reason)
  }

  /// - Throws: Why there is no key.
  func key(creating: Bool = false) throws(ArchiveError) -> ArchiveKey {
    guard let key = try source.keys.key(creating: creating) else {
      throw ArchiveError(.keyMissing, location: source.keys.location)
    }
    return key
  }

  /// Lets saves go on from what is stored; nil, and no change, if that is not the version.
  @discardableResult
  func goOn(
    _ claim: Claim, _ key: ArchiveKey, _ file: (any AppendableArchiveFile)? = nil,
    from version: ArchiveVersion? = nil
  ) throws(ArchiveError) -> ArchiveWriter? {
    let writer = try ArchiveWriter(
      claim, with: .key(key), context: claim.context, file: file, limits: source.limits)
    guard version == nil || version == writer.version else { return nil }
    goOn(with: writer, key)
    return writer
  }

  private func goOn(with writer: ArchiveWriter, _ key: ArchiveKey) {
    forgetStored(keeping: nil)
    (self.writer, writerKey) = (writer, key)
  }

  /// Writes a state of its own in the place of the stored one.
  func begin(
    _ records: RecordBatch, _ claim: Claim, _ key: ArchiveKey, schema: UInt32 = 0,
    keeping reason: Moment.Reason?
  ) throws(ArchiveError) -> Int {
    let writer = try ArchiveWriter(
      claim, with: .key(key), context: claim.context, limits: source.limits, isBeginning: true)
    // The file is in its place also where the error says that it is not durable.
    defer { if writer.version != nil { goOn(with: writer, key) } }
    hasBegunChange = true
    let isKept = reason != .unread || !isDiscarded(claim, key)
    return try claim.replacing(keeping: isKept ? reason : nil) { () throws(ArchiveError) in
      try writer.begin(records, schema: schema)
    }.byteCount
  }
}

/// The state that an instance has, for those who do not wait for its file.
package final class Holding: Sendable {
  private let state = Mutex<(name: String?, others: [OtherInstance])>((nil, []))

  /// The name of the state, nil while the instance has none, and those who have the ones before.
  package internal(set) var now: (name: String?, others: [OtherInstance]) {
    get { state.withLock(\.self) }
    set { state.withLock { $0 = newValue } }
  }
}

/// The lock and the record of launches of a state where neither can be.
final class Nowhere: ArchiveLock, LaunchPlace {
  private let reason: ArchiveError

  init(_ reason: ArchiveError) { self.reason = reason }

  func isHeld() throws(ArchiveError) -> Bool { false }
  func read() throws(ArchiveError) -> [UInt8]? { throw reason }
  func write(_ record: [UInt8], note: [UInt8]) throws(ArchiveError) { throw reason }
  func write(note: [UInt8]) throws(ArchiveError) { throw reason }
  func clear() throws(ArchiveError) { throw reason }
}
