package import ArchiveCodec
internal import RestorationFoundation

/// What a search for a state to restore has found.
package struct OpenedState<Tree: LaunchedTree>: Sendable {
  /// `noArchive` if nothing is stored; otherwise `restored`, `tooOld` or `crashed`.
  package internal(set) var outcome = ReportOutcome.noArchive
  /// What is restored.
  package internal(set) var tree: Tree?
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
  package func open<Tree>(_ type: Tree.Type) throws(ArchiveError) -> OpenedState<Tree> {
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
    var found = OpenedState<Tree>()
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
    } else if found.record?.note?.stage == .restored {
      found.record?.endRestore(threshold: threshold, in: source.environment)
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
  private func find<Tree>(
    _ file: (any AppendableArchiveFile)?, isAbsent: Bool, _ claim: Claim, _ key: ArchiveKey,
    _ found: inout OpenedState<Tree>
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
  private func isLast<Tree>(
    _ archive: Archive, _ moment: Moment?, _ claim: Claim, _ key: ArchiveKey,
    _ found: inout OpenedState<Tree>
  ) throws(ArchiveError) -> Bool {
    if moment == nil {
      guard archive.hasRecords else { return true }
      if let age = conditions.policy.maximumAge, try isOlder(archive, age, claim, key, &found) {
        return true
      }
    }
    let tree = try Tree(archive)
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
    found.passOver(moment, claim, "was set aside, since restoring it crashed")
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
    try Archive.open(
      moment.map(claim.moments.storage) ?? claim.main, try moment.flatMap(claim.moments.file),
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
        try? compactWithoutTrace()
        return writer?.archive
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
  private func isOlder<Tree>(
    _ archive: Archive, _ age: TimeInterval, _ claim: Claim, _ key: ArchiveKey,
    _ found: inout OpenedState<Tree>
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
