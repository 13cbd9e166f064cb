package import ArchiveCodec
package import RestorationFoundation
internal import RestorationLibc

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
    package var pause: @Sendable (_ tries: Int, _ isSingle: Bool) -> Bool = {
      tries, isSingle in
      // A write takes a few milliseconds.
      _ = usleep(5000)
      return !Task.isCancelled && tries < (isSingle ? 200 : 20)
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

  /// The archive that saves go on from; nil before the first one and after another file has taken its place.
  package var stored: Archive? { writing?.writer.archive }

  /// The name of the state that this instance has, or else of the one that was asked for.
  package var name: String { claimed?.name ?? source.name }

  /// Takes the state, or the one that is taken already.
  ///
  /// - Parameter isSingle: Whether the instance takes no other state, whatever the policy says.
  /// - Returns: The state that this instance has.
  /// - Throws: `locked` with the other instance as its subject if the state is in use.
  package func claim(isSingle: Bool = false) throws(ArchiveError) -> Claim {
    // Without its file a lock keeps nobody out any more.
    if let claimed, try claimed.lock.get().isHeld() { return claimed }
    claimed = nil
    let isSingle = isSingle || conditions.policy.isSingleInstance
    let own = isSingle ? nil : last.name
    do throws(ArchiveError) { return try take(own ?? source.name) } catch {
      guard error.code == .locked else { throw error }
      return try takeAnother(isSingle, error)
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
  private func takeAnother(_ isSingle: Bool, _ error: ArchiveError) throws(ArchiveError) -> Claim {
    var (tries, refusal, others) = (1, error, [] as [OtherInstance])
    var names = Self.names(source.name, last: last.name, isSingle: isSingle).makeIterator()
    var next = names.next()
    while let name = next {
      // Only the first name is waited for, and once.
      if others.isEmpty, last.name == nil, !last.hasWaited {
        last.hasWaited = !source.pause(tries, conditions.policy.isSingleInstance)
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

  /// More instances than anybody runs; beyond that all states count as in use.
  package static let largestNumber = 1000

  /// All names that an instance tries, the first one first; who has a name is who has its lock.
  ///
  /// - Parameters:
  ///   - name: The name that was asked for.
  ///   - last: The name that the instance had last: an instance never goes on under the name of
  ///     another one, as long as its own is free.
  ///   - isSingle: Whether the instance tries no other name.
  /// - Returns: The names, each made when it is asked for.
  package static func names(
    _ name: String, last: String?, isSingle: Bool
  ) -> some Sequence<String> {
    (0...(isSingle ? 1 : largestNumber)).lazy.compactMap { number in
      switch number {
      case 0: isSingle ? nil : last
      case 1: name
      default: "\(name)~\(number)"
      }
    }
  }

  /// The state, or one that can only be read where nothing can be locked.
  package func claimToRead() throws(ArchiveError) -> Claim {
    do throws(ArchiveError) { return try claim() } catch {
      guard error.code != .locked else { throw error }
      return try Claim(source.name, source, unlockedFor: error)
    }
  }

  /// Forgets what was read of the stored state, and goes on with a writer if there is one.
  package func forgetStored(
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
    throw noKey
  }

  var noKey: ArchiveError { ArchiveError(.keyMissing, location: source.keys.location) }

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
package final class Claim {
  package let name: String
  /// The instances that have the names before this one.
  package let others: [OtherInstance]
  package let context: ArchiveContext
  /// The storage of the state.
  let main: any ArchiveStorage
  private let directory: any StateDirectory
  /// Keeps all others out; an error where the state can only be read, since nothing can be locked.
  let lock: Result<any ArchiveLock, ArchiveError>
  /// Whether a launch before has left a state, and has not said that it ends.
  var followsCrash = false
  /// The record of launches.
  let launch: Result<any LaunchPlace, ArchiveError>

  /// Takes a name, if there is no reason why it cannot be locked.
  init(
    _ name: String, _ source: StateFile.Source, besides others: [OtherInstance] = [],
    unlockedFor reason: ArchiveError? = nil
  ) throws(ArchiveError) {
    (self.name, self.others) = (name, others)
    (context, directory) = (ArchiveContext([source.application, name]), source.directory)
    main = directory.storage(named: name)
    lock = if let reason { .failure(reason) } else { .success(try main.lock()) }
    launch = lock.map { [directory] lock -> any LaunchPlace in
      OpenLockFile.of(lock) ?? StoredLaunch(directory.storage(named: "\(name).launch"))
    }
  }

  /// The older states.
  package var moments: MomentStore { directory.moments(of: name) }

  /// The moments that a restore may take, the oldest first.
  package func restorable() throws(ArchiveError) -> [Moment] {
    try moments.all().filter(\.reason.isRestorable)
  }

  // MARK: The record of launches

  private lazy var launchContext = ArchiveContext(context.fields + ["launch"])

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

/// What a search for a state to restore has found.
package struct OpenedState: Sendable {
  fileprivate let type: any LaunchedTree.Type
  /// `noArchive` if nothing is stored; otherwise `restored`, `tooOld` or `crashed`.
  package internal(set) var outcome = ReportOutcome.noArchive
  /// What is restored.
  package internal(set) var tree: (any LaunchedTree)?
  /// The archive that is restored, or is too old.
  package internal(set) var archive: Archive?
  /// The moment from which the archive comes, if no newer one could be read, or which it has become.
  package internal(set) var moment: Moment?
  /// Why a restore could not take archives, each in a sentence with its place, the newest first.
  package internal(set) var passedOver: [String] = []
  /// The mark of the restore that has begun; nil if none has.
  package internal(set) var mark: LaunchMark?
  /// Why the launch could not be marked, or its record not be read.
  package internal(set) var markProblem: ArchiveError?
  /// The record of the restores before, and then as it is to be; nil if there is none.
  fileprivate var record: LaunchRecord?
  /// The version that has given way to an older one.
  fileprivate var crashed: ArchiveVersion?

  fileprivate mutating func passOver(_ moment: Moment?, _ claim: Claim, _ reason: String) {
    passedOver.append("\(moment?.id ?? claim.main.location) \(reason).")
  }

  /// Uses the record of launches, whose failure stops no restore.
  @discardableResult
  fileprivate mutating func noting<Value>(_ use: () throws(ArchiveError) -> Value) -> Value? {
    do throws(ArchiveError) { return try use() } catch { markProblem = error }
    return nil
  }
}

extension StateFile {
  /// Claims the state, and opens the newest one that can be restored.
  ///
  /// The mark of the launch is set when a state was found; the caller lets it end the restore.
  ///
  /// - Returns: What was found.
  /// - Throws: `ArchiveError` with `locked` if another instance has the state; why the newest archive
  ///   cannot be read, if none can be; a failure on the way to the bytes or to the key, which may pass.
  ///   Then what is stored stays, and the next save keeps it as a moment.
  package func open(_ type: any LaunchedTree.Type) throws(ArchiveError) -> OpenedState {
    let claim = try claimToRead()
    forgetStored()
    var (file, isAbsent) = (nil as (any AppendableArchiveFile)?, false)
    do throws(ArchiveError) {
      file = try claim.main.openForAppending()
      isAbsent = file?.byteCount ?? 0 == 0
    } catch {
      // A file that cannot be changed may still be read.
      guard error.code == .permissionDenied else { throw error }
    }
    var found = OpenedState(type: type)
    if isAbsent, try claim.restorable().isEmpty {
      found.noting { () throws(ArchiveError) in try forgetLaunch(claim) }
      return found
    }
    let key = try key()
    found.record = found.noting { () throws(ArchiveError) in try claim.launchRecord(key) } ?? nil
    let threshold = conditions.policy.crashThreshold
    if mark != nil {
      // The restore before was one of this launch, which goes on.
      found.record?.crashes = 0
    } else {
      claim.followsCrash = found.record?.note?.stage != .closed
      if !claim.followsCrash || found.record?.note?.stage == .restored {
        found.record?.endRestore(threshold: threshold, in: source.environment)
      }
    }
    try find(file, isAbsent: isAbsent, claim, key, &found)
    if found.tree != nil, let version = found.archive?.version {
      var record = found.record ?? LaunchRecord()
      record.begin(version, in: source.environment)
      let place = found.noting { () throws(ArchiveError) in
        try claim.write(record, LaunchNote(.restoring), key)
      }
      mark = LaunchMark(record, at: place, threshold: threshold)
      found.mark = mark
    } else if found.outcome != .tooOld(setAsideAt: nil) {
      found.noting { () throws(ArchiveError) in try forgetLaunch(claim) }
    }
    return found
  }

  /// Notes that a part of the restored tree could not be read: the first write keeps the file as it is.
  package func noteDamage() {
    if keeps == .replaced { keeps = .damaged }
    if former?.keeps == .replaced { former?.keeps = .damaged }
  }

  /// Looks at the stored state, and at older ones only if that one is not taken.
  private func find(
    _ file: (any AppendableArchiveFile)?, isAbsent: Bool, _ claim: Claim, _ key: ArchiveKey,
    _ found: inout OpenedState
  ) throws(ArchiveError) {
    var failure: ArchiveError?
    // The stored state is nil.
    var candidates = [nil] as [Moment?]
    while let moment = candidates.popLast() {
      do throws(ArchiveError) {
        let archive =
          moment != nil
          ? try open(moment, claim, key) : isAbsent ? nil : try openStored(file, claim, key)
        if let archive, archive.version != found.crashed {
          if try isLast(archive, moment, claim, key, &found) { return }
        } else if moment == nil {
          found.passOver(moment, claim, "is missing, or was set aside before")
        }
      } catch {
        guard error.isAboutContent else {
          forgetStored()
          throw error
        }
        failure = failure ?? error
        if moment == nil { forgetStored(keeping: error.keeps) }
        // Without the advice of the error, since an older archive can be read.
        found.passOver(
          moment, claim, "cannot be read (\(ArchiveError(error.code).finding))")
      }
      if moment == nil { candidates = try claim.restorable() }
    }
    if case .crashed = found.outcome { try beginEmpty(claim, key) }
    if found.outcome == .noArchive, let failure { throw failure }
  }

  /// Looks at one state; true if no other one is looked at.
  private func isLast(
    _ archive: Archive, _ moment: Moment?, _ claim: Claim, _ key: ArchiveKey,
    _ found: inout OpenedState
  ) throws(ArchiveError) -> Bool {
    if moment == nil {
      guard archive.hasRecords else { return true }
      if let age = conditions.policy.maximumAge, try isOlder(archive, age, claim, key, &found) {
        return true
      }
    }
    let tree = try found.type.init(archive)
    let isTaken =
      mark != nil
      || found.record?.take(
        archive.version, tree, threshold: conditions.policy.crashThreshold,
        in: source.environment) ?? true
    if let moment, let kept = try claim.moments.file(of: moment) {
      if isTaken, found.crashed == nil {
        standIn = kept
      } else {
        // At once: the next launch must not restore the state that has given way.
        try put(kept, claim, keeping: found.crashed == nil ? keeps : nil)
        try goOn(claim, key)
      }
    }
    if isTaken {
      (found.outcome, found.tree) = (.restored, tree)
      (found.archive, found.moment) = (archive, moment)
      return true
    }
    found.outcome = .crashed(setAsideAt: try keep(.crashed, claim)?.id)
    if let moment { try claim.moments.remove([moment]) }
    found.passOver(moment, claim, "is in the history, since restoring it crashed")
    forgetStored(keeping: .crashed)
    // One that stood in for another one has none that stands in for it.
    let isOver = found.record?.rest.gaveWay == true
    if isOver { try beginEmpty(claim, key) }
    (found.crashed, found.record) = (archive.version, LaunchRecord())
    found.record?.rest.gaveWay = true
    return isOver
  }

  /// Opens a moment, or else the stored archive, as far as it can be read; nil if there is none.
  func open(
    _ moment: Moment?, _ claim: Claim, _ key: ArchiveKey
  ) throws(ArchiveError) -> Archive? {
    // The store of moments is made only for a moment.
    let file = try moment.flatMap { (one) throws(ArchiveError) in try claim.moments.file(of: one) }
    return try Archive.open(
      moment.map { claim.moments.storage(of: $0) } ?? claim.main, file,
      with: .key(key), context: claim.context, limits: source.limits, recovery: .recover)
  }

  /// Opens the stored archive for the saves that follow.
  private func openStored(
    _ file: (any AppendableArchiveFile)?, _ claim: Claim, _ key: ArchiveKey
  ) throws(ArchiveError) -> Archive? {
    do throws(ArchiveError) {
      // Hardly another change has a number after the last ones.
      if case .success = claim.lock, let file, let archive = try goOn(claim, key, file)?.archive,
        archive.isWritable, archive.version.generation <= .max - 1 << 32
      {
        if archive.isDamaged { keeps = .damaged }
        if isCompactionDue { try? compactWithoutTrace() }
        return writing?.writer.archive
      }
    } catch {
      guard error.code == .unsupportedFeature else { throw error }
    }
    // One that may not be changed, or not in its place, is written into another file by the first save.
    forgetStored()
    guard let archive = try open(nil, claim, key) else { return nil }
    switch claim.lock {
    case .success: standIn = try copy(of: archive, key, claim)
    case .failure: former = (archive.version, archive.isDamaged ? .damaged : .replaced)
    }
    return archive
  }

  /// Whether a state is older than it may be to be restored; then it stays, or is a moment now.
  private func isOlder(
    _ archive: Archive, _ age: TimeInterval, _ claim: Claim, _ key: ArchiveKey,
    _ found: inout OpenedState
  ) throws(ArchiveError) -> Bool {
    guard let savedAt = Date(saved: archive.schema), found.record?.rest.isPutBack != true,
      conditions.now.timeIntervalSince(savedAt) > age
    else { return false }
    let seen = SeenOld(savedAt: savedAt, in: source.environment)
    if seen.confirms(found.record?.rest.seenOld) {
      found.moment = try keep(.unread, claim)
      try beginEmpty(claim, key)
    } else {
      var record = found.record ?? LaunchRecord()
      if record.rest.seenOld?.savedAt != savedAt {
        record.rest.seenOld = seen
        found.noting { () throws(ArchiveError) in try claim.write(record, LaunchNote(.ended), key) }
      }
      forgetStored()
    }
    (found.outcome, found.archive) = (.tooOld(setAsideAt: found.moment?.id), archive)
    return true
  }

  /// Replaces the stored state by an empty one, and leaves no trace of it.
  func beginEmpty(_ claim: Claim, _ key: ArchiveKey) throws(ArchiveError) {
    forgetStored()
    let nothing = try RecordBuilder(limits: source.limits).finish()
    _ = try begin(nothing, claim, key, keeping: nil)
    isCompactionDue = false
  }

  /// Forgets crashes of a state that is gone.
  func forgetLaunch(_ claim: Claim) throws(ArchiveError) {
    mark = nil
    try claim.launch.get().clear()
  }
}

extension Archive {
  /// Whether a change cannot be read that was reported as stored, as one that is cut off was to nobody.
  var isDamaged: Bool { ![nil, .truncated].contains(dropped?.code) }

  /// False for an archive that was written empty.
  package var hasRecords: Bool { extent.snapshotRecordCount + extent.changeCount > 0 }
}
