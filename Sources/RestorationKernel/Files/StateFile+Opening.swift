package import ArchiveCodec

/// The result of a search for a state to restore.
package struct OpenedState<Tree: Sendable>: Sendable {
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
  package internal(set) var passedOver: [(location: String, finding: StateFinding)] = []
  /// The mark of the restore that has begun; nil if none has.
  package internal(set) var mark: LaunchMark?
  /// Why the launch could not be marked, or its record not be read.
  package internal(set) var markProblem: ArchiveError?
}

extension StateFile {
  /// Claims the state, and opens the newest one that can be restored.
  ///
  /// The mark of the launch is set when a state was found; the caller lets it end the restore.
  ///
  /// - Parameter read: Reads the tree of an archive; an error of the content passes the archive over.
  /// - Returns: What was found.
  /// - Throws: `ArchiveError` with `locked` if another instance has the state; why the newest archive
  ///   cannot be read, if none can be; a failure on the way to the bytes or to the key, which may pass.
  ///   Then what is stored stays, and the next save keeps it as a moment.
  package func open<Tree: LaunchedTree & Sendable>(
    _ read: (Archive) throws(ArchiveError) -> Tree
  ) throws(ArchiveError) -> OpenedState<Tree> {
    let claim = try claim()
    var opened = OpenedState<Tree>()
    (writer, standIn, finding) = (nil, nil, .unread)
    let file = try find(claim)
    if finding != .unread, try restorable(claim).isEmpty {
      opened.markProblem = forgetLaunch(claim)
      return opened
    }
    let key = try key(of: claim, creating: false)
    var trial = LaunchTrial(
      claim, key, source.environment, threshold: conditions.policy.crashThreshold,
      isFirst: !hasBegun,
      isUnderWay: mark?.isRestoring == true)
    try find(file, &trial, read, &opened)
    switch opened.outcome {
    case .restored(let tree, let archive, _):
      opened.mark = trial.begin(archive.version, tree)
      mark?.letGo()
      (mark, hasBegun) = (opened.mark, true)
    case .tooOld(nil): break
    case .nothing, .tooOld, .crashed: opened.markProblem = forgetLaunch(claim)
    }
    opened.markProblem = opened.markProblem ?? trial.problem
    return opened
  }

  /// Notes that a part of the restored tree could not be read: the first write keeps the file as it is.
  package func noteDamage() {
    if finding == .whole || finding == .torn { finding = .damagedEnd }
  }

  /// Forgets the state that was opened: the next write keeps it as one that nobody has read.
  package func forgetOpened() {
    mark?.endRestore()
    (writer, standIn, finding) = (nil, nil, .unread)
  }

  /// Finds the stored file; a file that cannot be changed is not returned, and may still be read.
  private func find(_ claim: Claim) throws(ArchiveError) -> (any AppendableArchiveFile)? {
    do throws(ArchiveError) {
      let file = try claim.storage.openForAppending()
      if file?.byteCount ?? 0 == 0 { finding = .absent }
      return file
    } catch {
      guard error.code == .permissionDenied else { throw error }
      return nil
    }
  }

  /// Forgets crashes of a state that is gone; returns why their record is still there.
  func forgetLaunch(_ claim: Claim) -> ArchiveError? {
    mark?.letGo()
    mark = nil
    do throws(ArchiveError) { try claim.launch.clear() } catch { return error }
    return nil
  }

  /// The moments that a restore may take, the oldest first.
  private func restorable(_ claim: Claim) throws(ArchiveError) -> [Moment] {
    try claim.moments.all().filter(\.reason.isRestorable)
  }

  /// Looks at the stored state, and at older ones only if that one is not taken.
  private func find<Tree: LaunchedTree & Sendable>(
    _ file: (any AppendableArchiveFile)?, _ trial: inout LaunchTrial,
    _ read: (Archive) throws(ArchiveError) -> Tree, _ opened: inout OpenedState<Tree>
  ) throws(ArchiveError) {
    var failure: ArchiveError?
    // The stored state is nil.
    var candidates = [nil] as [Moment?]
    while !trial.isOver, let moment = candidates.popLast() {
      let location = moment?.id ?? trial.claim.storage.location
      do throws(ArchiveError) {
        if try isFound(moment, at: location, file, &trial, read, &opened) { return }
      } catch {
        guard error.isAboutContent else { throw error }
        failure = failure ?? error
        if moment == nil { (writer, finding) = (nil, .unreadable(error.code)) }
        opened.passedOver.append((location, .unreadable(error.code)))
      }
      if moment == nil { candidates = try restorable(trial.claim) }
    }
    if trial.hasGivenWay {
      try beginEmpty(trial.claim, trial.key)
      opened.outcome = .crashed(trial.gaveWay.last)
    } else if let failure {
      throw failure
    }
  }

  /// Looks at one state; true if no other one is looked at.
  private func isFound<Tree: LaunchedTree & Sendable>(
    _ moment: Moment?, at location: String, _ file: (any AppendableArchiveFile)?,
    _ trial: inout LaunchTrial, _ read: (Archive) throws(ArchiveError) -> Tree,
    _ opened: inout OpenedState<Tree>
  ) throws(ArchiveError) -> Bool {
    let claim = trial.claim
    var (kept, found) = (nil as (any ArchiveFile)?, nil as Archive?)
    if let moment {
      kept = try claim.moments.file(of: moment)
      if let kept {
        found = try claim.open(OpenedStorage(file: kept, location: location), trial.key)
      }
    } else if finding == .unread {
      found = try openStored(file, trial)
    }
    guard let archive = found, !trial.gaveWay.versions.contains(archive.version) else {
      if moment == nil { opened.passedOver.append((location, finding)) }
      return false
    }
    if moment == nil, try isLeft(archive, &trial, &opened) { return true }
    let tree = try read(archive)
    let isTaken = trial.take(archive.version, tree)
    if isTaken, !trial.hasGivenWay {
      standIn = kept ?? standIn
    } else if let kept {
      // At once: the next launch must not restore the state that has given way.
      try claim.put(kept, keeping: trial.hasGivenWay ? nil : finding.keeps)
      (writer, finding) = (try claim.writer(trial.key), .whole)
    }
    if isTaken {
      opened.outcome = .restored(tree, archive, from: moment)
      return true
    }
    trial.giveWay(archive.version, try claim.storage.keep(.crashed))
    (writer, standIn, finding) = (nil, nil, .crashed)
    if let moment { try claim.moments.remove([moment]) }
    opened.passedOver.append((location, .crashed))
    return false
  }

  /// Opens the stored archive for the saves that follow.
  private func openStored(
    _ file: (any AppendableArchiveFile)?, _ trial: LaunchTrial
  ) throws(ArchiveError) -> Archive? {
    do throws(ArchiveError) {
      if let file {
        let writer = try trial.claim.writer(trial.key, file)
        guard let archive = writer.archive else { return nil }
        finding = StateFinding(of: archive)
        if finding != .readOnly {
          self.writer = writer
          isCompactionDue = try archive.record(FileRecord.compactionDue) != nil
          try? compactWithoutTrace()
          return writer.archive
        }
      }
    } catch {
      guard error.code == .unsupportedFeature else { throw error }
    }
    // One that may not be changed, or not in its place, is written into another file by the first save.
    let archive = try trial.claim.open(trial.claim.storage, trial.key)
    if let archive { standIn = try copy(of: archive, trial.key, trial.claim) }
    finding = .readOnly
    return archive
  }

  /// Whether a state is empty, as after a discard, or too old to be restored; then it stays, or is a moment
  /// now.
  private func isLeft<Tree: Sendable>(
    _ archive: Archive, _ trial: inout LaunchTrial, _ opened: inout OpenedState<Tree>
  ) throws(ArchiveError) -> Bool {
    guard archive.hasRecords else { return true }
    guard let savedAt = SaveFacts.time(archive.schema), !trial.record.isPutBack else {
      return false
    }
    let environment = source.environment
    let seen = SeenOld(
      savedAt: savedAt, bootSession: environment.bootSession,
      uptime: environment.uptime ?? BootSession.uptime)
    let before = trial.record.seenOld
    let (policy, now) = conditions
    switch AgeVerdict(seen, before: before, now: now, maximumAge: policy.maximumAge) {
    case .restore: return false
    case .leave:
      trial.leave(seen)
      (writer, standIn, finding) = (nil, nil, .unread)
      opened.outcome = .tooOld(nil)
    case .giveUp:
      opened.outcome = .tooOld(try trial.claim.storage.keep(.unread))
      try beginEmpty(trial.claim, trial.key)
    }
    return true
  }

  /// Replaces the stored state by an empty one, and leaves no trace of it.
  func beginEmpty(_ claim: Claim, _ key: ArchiveKey) throws(ArchiveError) {
    (writer, standIn, finding) = (nil, nil, .unread)
    let nothing = try RecordBuilder(limits: source.limits).finish()
    _ = try claim.write(nothing, key, keeping: nil)
    (writer, finding, isCompactionDue) = (try claim.writer(key), .whole, false)
  }
}
