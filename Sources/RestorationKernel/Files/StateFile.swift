package import ArchiveCodec
internal import RestorationLibc
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
    /// Waits for another instance that has the state, and may be about to end; false ends the waiting.
    package var pause: @Sendable (_ tries: Int, _ policy: InstancePolicy) -> Bool = Self.waitALittle

    package init(
      name: String, application: String, directory: any StateDirectory, keys: any KeyProvider,
      environment: ApplicationEnvironment, limits: ArchiveLimits = .standard
    ) {
      (self.name, self.application, self.directory) = (name, application, directory)
      (self.keys, self.environment, self.limits) = (keys, environment, limits)
    }

    @Sendable private static func waitALittle(_ tries: Int, _ policy: InstancePolicy) -> Bool {
      // A write takes a few milliseconds.
      _ = usleep(5000)
      return !Task.isCancelled && tries < (policy == .single ? 200 : 20)
    }
  }

  /// What a keeper keeps and leaves out, and the time of its clock, as of the call that is under way.
  package typealias Conditions = (policy: StatePolicy, now: Date)

  package let source: Source
  package var conditions: Conditions = (StatePolicy(), Date())
  package internal(set) var claimed: Claim?
  /// The name that was taken last, since an instance never goes on under the name of another one, and whether a wait
  /// for the instance that has the state was in vain.
  private var last: (name: String?, hasWaited: Bool) = (nil, false)
  /// Why the stored archive becomes a moment when another one replaces it; nil where no trace of it is to stay.
  ///
  /// One that was read whole becomes a moment that it has `replaced`, any other one before the next change, too.
  var keeps: Moment.Reason? = .unread
  /// Whether something is to leave no trace, and its records are still in the file.
  var isCompactionDue = false
  /// The last moment that another archive has replaced and nobody was told of, rather one that is not shorter.
  var kept: Moment?
  /// What writes the state, and the key with which it was made.
  var writing: (writer: ArchiveWriter, key: ArchiveKey)?
  /// The restored state, if it is not the one that is stored.
  var standIn: (any ArchiveFile)?
  /// A state that this instance has had, from which the next change goes on if it is still the stored one,
  /// and why that one becomes a moment then.
  var former: (version: ArchiveVersion, keeps: Moment.Reason?)?
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

  var writer: ArchiveWriter? { writing?.writer }

  /// Takes the state, or the one that is taken already.
  ///
  /// - Parameter policy: What becomes of a second instance; the policy of the keeper if nil.
  /// - Returns: The state that this instance has.
  /// - Throws: `locked` with the other instance as its subject if the state is in use.
  func claim(_ policy: InstancePolicy? = nil) throws(ArchiveError) -> Claim {
    // Without its file a lock keeps nobody out any more.
    if let claimed, try claimed.lock.get().isHeld() { return claimed }
    claimed = nil
    let policy = policy ?? conditions.policy.instances
    let first = policy == .numbered ? last.name ?? source.name : source.name
    do throws(ArchiveError) { return try take(first) } catch {
      guard error.code == .locked else { throw error }
      return try takeAnother(policy, error)
    }
  }

  private func take(
    _ name: String, besides others: [OtherInstance] = []
  ) throws(ArchiveError) -> Claim {
    let taken = try Claim(name, source, besides: others)
    (claimed, last.name) = (taken, name)
    return taken
  }

  /// Takes the first name that is free, after the error of the one that comes first.
  private func takeAnother(
    _ policy: InstancePolicy, _ error: ArchiveError
  ) throws(ArchiveError) -> Claim {
    var (tries, refusal, others) = (1, error, [] as [OtherInstance])
    var names = policy.names(source.name, last: last.name).makeIterator()
    var next = names.next()
    while let name = next {
      // Only the first name is waited for, and once.
      if others.isEmpty, last.name == nil, !last.hasWaited {
        last.hasWaited = !source.pause(tries, conditions.policy.instances)
        tries += 1
      } else {
        others.append(OtherInstance(stateName: name, process: refusal.subject))
        next = names.next()
      }
      guard let name = next else { break }
      do throws(ArchiveError) { return try take(name, besides: others) } catch {
        guard error.code == .locked else { throw error }
        refusal = error
      }
    }
    throw refusal
  }

  /// The state, or one that can only be read where nothing can be locked.
  func claimToRead() throws(ArchiveError) -> Claim {
    do throws(ArchiveError) { return try claim() } catch {
      guard error.code != .locked else { throw error }
      return try Claim(source.name, source, unlockedFor: error)
    }
  }

  /// Forgets what was read of the stored state, and goes on with a writer if there is one.
  func forgetStored(
    keeping reason: Moment.Reason = .unread,
    writing: (writer: ArchiveWriter, key: ArchiveKey)? = nil
  ) {
    (self.writing, standIn, former, keeps) = (writing, nil, nil, reason)
  }

  /// - Throws: Why there is no key.
  func key(creating: Bool = false) throws(ArchiveError) -> ArchiveKey {
    do throws(ArchiveError) {
      if let key = try source.keys.key(creating: creating) { return key }
    } catch {
      throw error.beforeAChange
    }
    throw ArchiveError(.keyMissing, location: source.keys.location)
  }

  /// Lets saves go on from what is stored; nil, and no change, if that is not the version.
  @discardableResult
  func goOn(
    _ claim: Claim, _ key: ArchiveKey, _ file: (any AppendableArchiveFile)? = nil,
    from version: ArchiveVersion? = nil
  ) throws(ArchiveError) -> ArchiveWriter? {
    let writer = try makeWriter(claim, key, file)
    guard version == nil || version == writer.version else { return nil }
    forgetStored(keeping: .replaced, writing: (writer, key))
    isCompactionDue = try writer.archive?.record(TreeRecord.compactionDue) != nil
    return writer
  }

  /// Makes a writer of the state, which keeps each archive that it replaces.
  private func makeWriter(
    _ claim: Claim, _ key: ArchiveKey, _ file: (any AppendableArchiveFile)? = nil,
    isBeginning: Bool = false
  ) throws(ArchiveError) -> ArchiveWriter {
    // Nobody but this file lets the writer write, so the two are in one queue.
    nonisolated(unsafe) weak let owner = self
    return try ArchiveWriter(
      claim.main, with: .key(key), context: claim.context, lock: try claim.lock.get(), file: file,
      limits: source.limits, isBeginning: isBeginning
    ) { () throws(ArchiveError) in
      try unsafe owner?.keepReplaced(owner?.keeps)
    }
  }

  /// Writes a state of its own in the place of the stored one.
  func begin(
    _ records: RecordBatch, _ claim: Claim, _ key: ArchiveKey, schema: UInt32 = 0,
    keeping reason: Moment.Reason?
  ) throws(ArchiveError) -> Int {
    let (before, writer) = (keeps, try makeWriter(claim, key, isBeginning: true))
    keeps = reason == .unread && isDiscarded(claim, key) ? nil : reason
    defer {
      keeps = before
      // The file is in its place also where the error says that it is not durable.
      if writer.version != nil { forgetStored(keeping: .replaced, writing: (writer, key)) }
    }
    return try writer.begin(records, schema: schema).byteCount
  }
}

/// A state that this instance has, or one that can only be read.
package struct Claim {
  package let name: String
  /// The instances that have the names before this one.
  package let others: [OtherInstance]
  let context: ArchiveContext
  /// The storage of the state.
  let main: any ArchiveStorage
  private let directory: any StateDirectory
  /// Keeps all others out; an error where the state can only be read, since nothing can be locked.
  let lock: Result<any ArchiveLock, ArchiveError>
  /// The record of launches.
  let launch: Result<any LaunchPlace, ArchiveError>

  /// Takes a name, if there is no reason why it cannot be locked.
  init(
    _ name: String, _ source: StateFile.Source, besides others: [OtherInstance] = [],
    unlockedFor reason: ArchiveError? = nil
  ) throws(ArchiveError) {
    (self.name, self.others) = (name, others)
    context = ArchiveContext([source.application, name])
    directory = source.directory
    main = directory.storage(named: name)
    lock = if let reason { .failure(reason) } else { .success(try main.lock()) }
    launch = lock.map { [directory] lock -> any LaunchPlace in
      OpenLockFile.of(lock) ?? StoredLaunch(directory.storage(named: "\(name).launch"))
    }
  }

  /// The older states.
  var moments: MomentStore { directory.moments(of: name) }

  /// The moments that a restore may take, the oldest first.
  func restorable() throws(ArchiveError) -> [Moment] {
    try moments.all().filter(\.reason.isRestorable)
  }

  // MARK: The record of launches

  private var launchContext: ArchiveContext { ArchiveContext(context.fields + ["launch"]) }

  /// Reads the record of launches, with its note.
  func launchRecord(_ key: ArchiveKey) throws(ArchiveError) -> LaunchRecord? {
    try launch.get().read().flatMap { (bytes) throws(ArchiveError) in
      try LaunchRecord.open(bytes, key, launchContext)
    }
  }

  /// Writes the record of launches, with its note; returns its place.
  @discardableResult
  func write(
    _ record: LaunchRecord, _ note: LaunchNote, _ key: ArchiveKey
  ) throws(ArchiveError) -> any LaunchPlace {
    let launch = try launch.get()
    try launch.write(try record.sealed(key, launchContext), note: note.bytes(record.tag))
    return launch
  }
}
