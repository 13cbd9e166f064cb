package import ArchiveCodec
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The result of a search for a state to restore.
package struct OpenedState<Tree: LaunchedTree>: Sendable {
  package enum Outcome: Sendable {
    /// Nothing is stored.
    case nothing
    /// The tree of the archive, which comes from a moment if no newer one could be read.
    case restored(Tree, Archive, from: Moment?)
    /// The state is too old; it stays where it is, or is a moment now.
    case tooOld(Moment?)
    /// Restores of the state crashed too often; it is a moment now.
    case crashed(Moment?)
  }

  package internal(set) var outcome = Outcome.nothing
  /// The archives that a restore could not take, the newest first.
  package internal(set) var passedOver: [RestorationReport.PassedOver] = []
  /// The mark of the restore that has begun; nil if none has.
  package internal(set) var mark: LaunchMark?
  /// Why the launch could not be marked, or its record not be read.
  package internal(set) var markProblem: ArchiveError?
}

/// A search for a state to restore.
private struct StateSearch<Tree: LaunchedTree> {
  let claim: StateFile.Claim
  let key: ArchiveKey
  /// The record of the restores before.
  var record = LaunchRecord()
  /// The version that has given way to an older one.
  var crashed: ArchiveVersion?
  var opened = OpenedState<Tree>()

  init(_ claim: StateFile.Claim, _ key: ArchiveKey) {
    (self.claim, self.key) = (claim, key)
    do throws(ArchiveError) {
      record = try claim.launchRecord(key) ?? record
    } catch {
      // A record that cannot be read stops no restore.
      opened.markProblem = error
    }
  }

  mutating func passOver(_ moment: Moment?, _ reason: RestorationReport.PassedOver.Reason) {
    let location = moment?.id ?? claim.storage.location
    opened.passedOver.append(RestorationReport.PassedOver(location: location, reason: reason))
  }

  /// Writes the record; false if that failed, which stops no restore, either.
  mutating func write(_ note: LaunchNote) -> Bool {
    do throws(ArchiveError) {
      try claim.write(record, note, key)
      return true
    } catch {
      opened.markProblem = error
      return false
    }
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
  package func open<Tree>(
    _ type: Tree.Type
  ) throws(ArchiveError) -> OpenedState<Tree> {
    let claim = try claim()
    forgetStored()
    var (file, isAbsent) = (nil as (any AppendableArchiveFile)?, false)
    do throws(ArchiveError) {
      file = try claim.storage.openForAppending()
      isAbsent = file?.byteCount ?? 0 == 0
    } catch {
      // A file that cannot be changed may still be read.
      guard error.code == .permissionDenied else { throw error }
    }
    if isAbsent, try restorable(claim).isEmpty {
      var nothing = OpenedState<Tree>()
      nothing.markProblem = forgetLaunch(claim)
      return nothing
    }
    var search = StateSearch<Tree>(claim, try key())
    if mark != nil {
      // The restore before was one of this launch, which goes on.
      search.record.crashes = 0
    } else if search.record.note?.stage == .restored {
      search.record.endRestore(
        threshold: conditions.policy.crashThreshold, in: source.environment)
    }
    try find(file, isAbsent: isAbsent, &search)
    switch search.opened.outcome {
    case .restored(_, let archive, _): begin(archive.version, &search)
    case .tooOld(nil): break
    case .nothing, .tooOld, .crashed:
      search.opened.markProblem = forgetLaunch(claim) ?? search.opened.markProblem
    }
    return search.opened
  }

  /// Marks that the restore of a state begins.
  private func begin<Tree>(_ version: ArchiveVersion, _ search: inout StateSearch<Tree>) {
    search.record.begin(version, in: source.environment)
    let isMarked = search.write(LaunchNote(.restoring))
    let record = search.record
    var leftOut = Set(record.leftOut)
    // Without a mark, what crashes again would crash in every launch, so it is not tried.
    if isMarked, let tried = record.tried { leftOut.remove(tried) }
    letMarkGo()
    mark = LaunchMark(
      isMarked ? search.claim.places.launch : nil, record.tag, leftOut: leftOut,
      isNear: record.crashes >= max(1, conditions.policy.crashThreshold))
    search.opened.mark = mark
  }

  /// Notes that a part of the restored tree could not be read: the first write keeps the file as it is.
  package func noteDamage() { keeps = keeps ?? .damaged }

  /// Forgets the state that was opened: the next write keeps it as one that nobody has read.
  package func forgetOpened() {
    mark?.endRestore()
    forgetStored()
  }

  /// The moments that a restore may take, the oldest first.
  private func restorable(_ claim: Claim) throws(ArchiveError) -> [Moment] {
    try claim.places.moments.all().filter(\.reason.isRestorable)
  }

  /// Looks at the stored state, and at older ones only if that one is not taken.
  private func find<Tree>(
    _ file: (any AppendableArchiveFile)?, isAbsent: Bool, _ search: inout StateSearch<Tree>
  ) throws(ArchiveError) {
    let moments = search.claim.places.moments
    var failure: ArchiveError?
    // The stored state is nil.
    var candidates = [nil] as [Moment?]
    while let moment = candidates.popLast() {
      do throws(ArchiveError) {
        var kept: (any ArchiveFile)?
        var archive: Archive?
        if let moment {
          kept = try moments.file(of: moment)
          let place = moments.storage(of: moment)
          if kept != nil { archive = try open(search.claim, search.key, kept, in: place) }
        } else if !isAbsent {
          archive = try openStored(file, search.claim, search.key)
        }
        if let archive, archive.version != search.crashed {
          if try isLast(archive, moment, kept, &search) { return }
        } else if moment == nil {
          search.passOver(moment, .missing)
        }
      } catch {
        guard error.isAboutContent else { throw error }
        failure = failure ?? error
        if moment == nil { forgetStored(keeping: error.keeps) }
        search.passOver(moment, .unreadable(ArchiveError(error.code).finding))
      }
      if moment == nil { candidates = try restorable(search.claim) }
    }
    if search.crashed != nil {
      try beginEmpty(search.claim, search.key)
    } else if let failure {
      throw failure
    }
  }

  /// Looks at one state; true if no other one is looked at.
  private func isLast<Tree>(
    _ archive: Archive, _ moment: Moment?, _ kept: (any ArchiveFile)?,
    _ search: inout StateSearch<Tree>
  ) throws(ArchiveError) -> Bool {
    if moment == nil, try isLeft(archive, &search) { return true }
    let (claim, version, tree) = (search.claim, archive.version, try Tree(archive))
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
    search.opened.outcome = .crashed(try claim.storage.keep(.crashed))
    if let moment { try claim.places.moments.remove([moment]) }
    search.passOver(moment, .crashed)
    forgetStored(keeping: .crashed)
    // One that stood in for another one has none that stands in for it.
    guard !search.record.gaveWay else {
      try beginEmpty(claim, search.key)
      return true
    }
    (search.crashed, search.record) = (version, LaunchRecord())
    search.record.gaveWay = true
    return false
  }

  /// Opens the stored archive for the saves that follow.
  private func openStored(
    _ file: (any AppendableArchiveFile)?, _ claim: Claim, _ key: ArchiveKey
  ) throws(ArchiveError) -> Archive? {
    do throws(ArchiveError) {
      // Hardly another change has a number after the last ones.
      if let file, let archive = try goOn(claim, key, file).archive, archive.isWritable,
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
    let archive = try open(claim, key)
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
    guard let savedAt = SaveFacts.time(archive.schema), !search.record.isPutBack,
      let maximumAge = policy.maximumAge, now.timeIntervalSince(savedAt) > maximumAge
    else { return false }
    let environment = source.environment
    let seen = SeenOld(
      savedAt: savedAt, bootSession: environment.bootSession,
      uptime: environment.uptime ?? BootSession.uptime)
    if seen.confirms(search.record.seenOld) {
      search.opened.outcome = .tooOld(try search.claim.storage.keep(.unread))
      try beginEmpty(search.claim, search.key)
    } else {
      search.opened.outcome = .tooOld(nil)
      if search.record.seenOld?.savedAt != savedAt {
        search.record.seenOld = seen
        _ = search.write(LaunchNote(.ended))
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
}

// MARK: - The record of the launch

extension StateFile {
  /// Forgets crashes of a state that is gone; returns why their record is still there.
  func forgetLaunch(_ claim: Claim) -> ArchiveError? {
    letMarkGo()
    do throws(ArchiveError) { try claim.places.launch.clear() } catch { return error }
    return nil
  }
}

extension StateFile.Claim {
  private var launchContext: ArchiveContext { ArchiveContext(context.fields + ["launch"]) }

  /// Reads the record of launches, with its note.
  func launchRecord(_ key: ArchiveKey) throws(ArchiveError) -> LaunchRecord? {
    try places.launch.read().flatMap { (bytes) throws(ArchiveError) in
      try LaunchRecord.open(bytes, key, launchContext)
    }
  }

  /// Writes the record of launches, with its note.
  func write(
    _ record: LaunchRecord, _ note: LaunchNote, _ key: ArchiveKey
  ) throws(ArchiveError) {
    try places.launch.write(
      try record.sealed(key, launchContext), note: note.bytes(record.tag))
  }
}
