package import ArchiveCodec
internal import RestorationFoundation

/// The result of a search for a state to restore.
package struct OpenedState<Tree: LaunchedTree>: Sendable {
  package enum Outcome: Sendable {
    /// Nothing is stored.
    case nothing
    /// The tree of the archive, which comes from a moment if no newer one could be read.
    case restored(Tree, Archive, from: Moment?)
    /// The state is too old; it stays where it is, or is a moment now.
    case tooOld(Archive, Moment?)
    /// Restores of the state crashed too often; it is a moment now.
    case crashed(Moment?)
  }

  package internal(set) var outcome = Outcome.nothing
  /// Why a restore could not take archives, each in a sentence with its place, the newest first.
  package internal(set) var passedOver: [String] = []
  /// The mark of the restore that has begun; nil if none has.
  package internal(set) var mark: LaunchMark?
  /// Why the launch could not be marked, or its record not be read.
  package internal(set) var markProblem: ArchiveError?

  /// Uses the record of launches, whose failure stops no restore.
  @discardableResult
  fileprivate mutating func noting<Value>(_ use: () throws(ArchiveError) -> Value) -> Value? {
    do throws(ArchiveError) { return try use() } catch { markProblem = error }
    return nil
  }
}

/// A search for a state to restore.
private struct StateSearch<Tree: LaunchedTree> {
  let claim: Claim
  let key: ArchiveKey
  /// The record of the restores before, as it is stored; nil if there is none.
  let stored: LaunchRecord?
  var record: LaunchRecord
  /// The version that has given way to an older one.
  var crashed: ArchiveVersion?
  var opened = OpenedState<Tree>()

  mutating func passOver(_ moment: Moment?, _ reason: String) {
    opened.passedOver.append("\(moment?.id ?? claim.location) \(reason).")
  }

  /// Writes the record; false if that failed.
  mutating func write(_ stage: LaunchNote.Stage) -> Bool {
    let (claim, stored, record, key) = (claim, stored, record, key)
    return opened.noting { () throws(ArchiveError) in
      try claim.write(record, LaunchNote(stage), over: stored, key)
    } != nil
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
      file = try claim.openForAppending()
      isAbsent = file?.byteCount ?? 0 == 0
    } catch {
      // A file that cannot be changed may still be read.
      guard error.code == .permissionDenied else { throw error }
    }
    var opened = OpenedState<Tree>()
    if isAbsent, try claim.restorable().isEmpty {
      opened.noting { () throws(ArchiveError) in try forgetLaunch(claim) }
      return opened
    }
    let key = try key()
    let stored = opened.noting { () throws(ArchiveError) in try claim.launchRecord(key) } ?? nil
    var search = StateSearch(
      claim: claim, key: key, stored: stored, record: stored ?? LaunchRecord(), opened: opened)
    if mark != nil {
      // The restore before was one of this launch, which goes on.
      search.record.crashes = 0
    } else if search.record.note?.stage == .restored {
      search.record.endRestore(
        threshold: conditions.policy.crashThreshold, in: source.environment)
    }
    try find(file, isAbsent: isAbsent, &search)
    switch search.opened.outcome {
    case .restored(_, let archive, _):
      search.record.begin(archive.version, in: source.environment)
      let isMarked = search.write(.restoring)
      mark = LaunchMark(
        search.record, at: isMarked ? claim.launch : nil,
        threshold: conditions.policy.crashThreshold)
      search.opened.mark = mark
    case .tooOld(_, nil): break
    case .nothing, .tooOld, .crashed:
      search.opened.noting { () throws(ArchiveError) in try forgetLaunch(claim) }
    }
    return search.opened
  }

  /// Notes that a part of the restored tree could not be read: the first write keeps the file as it is.
  package func noteDamage() { keeps = keeps ?? .damaged }

  /// Looks at the stored state, and at older ones only if that one is not taken.
  private func find<Tree>(
    _ file: (any AppendableArchiveFile)?, isAbsent: Bool, _ search: inout StateSearch<Tree>
  ) throws(ArchiveError) {
    var failure: ArchiveError?
    // The stored state is nil.
    var candidates = [nil] as [Moment?]
    while let moment = candidates.popLast() {
      do throws(ArchiveError) {
        let (claim, key) = (search.claim, search.key)
        let archive =
          moment != nil
          ? try open(moment, claim, key) : isAbsent ? nil : try openStored(file, claim, key)
        if let archive, archive.version != search.crashed {
          if try isLast(archive, moment, &search) { break }
        } else if moment == nil {
          search.passOver(moment, "is missing, or was set aside before")
        }
      } catch {
        guard error.isAboutContent else {
          forgetStored()
          throw error
        }
        failure = failure ?? error
        if moment == nil { forgetStored(keeping: error.keeps) }
        // Without the advice of the error, since an older archive can be read.
        search.passOver(moment, "cannot be read (\(ArchiveError(error.code).finding))")
      }
      if moment == nil { candidates = try search.claim.restorable() }
    }
    switch search.opened.outcome {
    case .crashed: try beginEmpty(search.claim, search.key)
    case .nothing: if let failure { throw failure }
    case .restored, .tooOld: break
    }
  }

  /// Looks at one state; true if no other one is looked at.
  private func isLast<Tree>(
    _ archive: Archive, _ moment: Moment?, _ search: inout StateSearch<Tree>
  ) throws(ArchiveError) -> Bool {
    if moment == nil, try isLeft(archive, &search) { return true }
    let (claim, version, tree) = (search.claim, archive.version, try Tree(archive))
    let kept = try moment.flatMap(claim.moments.file)
    let isTaken =
      mark != nil
      || search.record.take(
        version, tree, threshold: conditions.policy.crashThreshold,
        in: source.environment)
    if isTaken, search.crashed == nil {
      standIn = kept ?? standIn
    } else if let kept {
      // At once: the next launch must not restore the state that has given way.
      try claim.put(kept, keeping: search.crashed == nil ? keeps : nil)
      try goOn(claim, search.key)
    }
    if isTaken {
      search.opened.outcome = .restored(tree, archive, from: moment)
      return true
    }
    search.opened.outcome = .crashed(try claim.keep(.crashed))
    if let moment { try claim.moments.remove([moment]) }
    search.passOver(moment, "was set aside, since restoring it crashed")
    forgetStored(keeping: .crashed)
    // One that stood in for another one has none that stands in for it.
    let isOver = search.record.gaveWay
    (search.crashed, search.record) = (version, LaunchRecord())
    search.record.gaveWay = true
    return isOver
  }

  /// Opens a moment, or else the stored archive, as far as it can be read; nil if there is none.
  func open(
    _ moment: Moment?, _ claim: Claim, _ key: ArchiveKey
  ) throws(ArchiveError) -> Archive? {
    try Archive.open(
      moment.map(claim.moments.storage) ?? claim, try moment.flatMap(claim.moments.file),
      with: .key(key), context: claim.context, limits: source.limits, recovery: .recover)
  }

  /// Opens the stored archive for the saves that follow.
  private func openStored(
    _ file: (any AppendableArchiveFile)?, _ claim: Claim, _ key: ArchiveKey
  ) throws(ArchiveError) -> Archive? {
    do throws(ArchiveError) {
      // Hardly another change has a number after the last ones.
      if let file, let archive = try goOn(claim, key, file)?.archive, archive.isWritable,
        archive.version.generation <= .max - 1 << 32
      {
        // A change that is cut off was reported to nobody as stored.
        keeps = [nil, .truncated].contains(archive.dropped?.code) ? nil : .damaged
        isCompactionDue = try archive.record(FileRecord.compactionDue) != nil
        try? compactWithoutTrace()
        return writer?.archive
      }
    } catch {
      guard error.code == .unsupportedFeature else { throw error }
    }
    // One that may not be changed, or not in its place, is written into another file by the first save.
    forgetStored()
    let archive = try open(nil, claim, key)
    if let archive { standIn = try copy(of: archive, key, claim) }
    return archive
  }

  /// Whether a state is empty, as after a discard, or too old to be restored; then it stays, or is a moment
  /// now.
  private func isLeft<Tree>(
    _ archive: Archive, _ search: inout StateSearch<Tree>
  ) throws(ArchiveError) -> Bool {
    guard archive.hasRecords else { return true }
    let (policy, now) = conditions
    guard let savedAt = Date(saved: archive.schema), !search.record.isPutBack,
      let maximumAge = policy.maximumAge, now.timeIntervalSince(savedAt) > maximumAge
    else { return false }
    let seen = SeenOld(savedAt: savedAt, in: source.environment)
    if seen.confirms(search.record.seenOld) {
      search.opened.outcome = .tooOld(archive, try search.claim.keep(.unread))
      try beginEmpty(search.claim, search.key)
    } else {
      search.opened.outcome = .tooOld(archive, nil)
      if search.record.seenOld?.savedAt != savedAt {
        search.record.seenOld = seen
        _ = search.write(.ended)
      }
      forgetStored()
    }
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
    try claim.launch.clear()
  }
}
