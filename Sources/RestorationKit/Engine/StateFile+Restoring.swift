internal import ArchiveCodec
internal import RestorationFoundation

/// Finds the state to restore, and marks that a restore has begun and ended.
extension StateFile {
  /// The finding of a restore that looks for its state.
  enum Found: Sendable {
    case nothing

    /// Another instance of the app has the state.
    case inUse(by: String?)

    /// Restoring the state crashed too often, so it is set aside.
    case crashed(setAsideAt: String?)

    /// The state is older than it may be; set aside, if an earlier launch has found it so, too.
    case tooOld(RestorationReport.Source, setAsideAt: String?)

    /// A state to restore, with the number by which to end the restore.
    case state(StoredTree, Begun)
  }

  /// A restore that may begin.
  struct Begun: Sendable {
    let source: RestorationReport.Source
    /// The number by which to end the restore; nil if the state is not claimed, and so only read.
    let restoreNumber: UInt64?
    /// The elements that are left out, since earlier restores crashed there, by their places.
    let skipped: [Int: LeftOutPeriod]
    /// Where to note each element before it is made or decoded; nil if no crash is near.
    let note: LaunchNote?
    /// Where to note each value, and each element that comes late, before it is decoded; nil if nothing
    /// can be noted.
    let laterNote: LaunchNote?
  }

  /// Reads and verifies the stored state, and marks that a restore has begun.
  ///
  /// The marker is written when the state has been read: for a state that is refused, no code of
  /// the app runs. If the state cannot be claimed because nothing can be written there, it is
  /// restored without a mark.
  func beginRestore(
    crashThreshold: Int, maximumAge: TimeInterval?, keeping sessions: SessionBound?,
    _ settingAside: SettingAside
  ) async throws(ArchiveError) -> Found {
    launchProblem = cleanUpProblem.take()
    var isClaimed = true
    do throws(ArchiveError) {
      try await take()
      // One call for the keeper's state covers the states of all its scenes.
      if source.suffix.isEmpty {
        keepSession(sessions, at: settingAside.date)
        cleanUpAfterLaunch(at: settingAside.date)
      }
    } catch {
      if error.code == .locked { return .inUse(by: error.subject) }
      isClaimed = false
      launchProblem = error.description
      moveToNameLookedAt()
    }
    do throws(ArchiveError) {
      try await fetch(.toRestore)
    } catch {
      guard error.code == .locked else { throw error }
      return .inUse(by: error.subject)
    }
    if let problem = files.link?.takeCopyProblem() { addLaunchProblem(problem) }
    files.archive.forgetKnown()
    return try await again { () throws(ArchiveError) in
      try find(
        threshold: max(1, crashThreshold), maximumAge: maximumAge, isClaimed: isClaimed,
        settingAside)
    }
  }

  /// Counts the state as not read, since nothing of it was restored.
  func forgetRead() {
    files.archive.forgetKnown()
    open.close()
  }

  private func find(
    threshold: Int, maximumAge: TimeInterval?, isClaimed: Bool, _ settingAside: SettingAside
  ) throws(ArchiveError) -> Found {
    let mayChange = isClaimed && files.launch.restore == nil
    let found = isClaimed ? try files.archive.findChangeable() : try files.archive.find()
    guard let found else {
      noteNothingStored(isClaimed: isClaimed)
      return .nothing
    }
    let known = found.keyOfFile
    let current = if let known { known } else { try currentKey(creating: false) }
    let key = current.key
    var trial = files.launch.trial(readMarker(key), threshold: threshold)
    guard
      let loaded = try load(current, found, &trial, mayChange: mayChange, settingAside)
    else {
      if isClaimed { note { try files.launch.removeMarker() } }
      return trial.gaveWay.map { .crashed(setAsideAt: $0.location) } ?? .nothing
    }
    let source = loaded.source
    if let maximumAge, let saved = source.savedAt, saved > .earliestSave,
      settingAside.date.timeIntervalSince(saved) > maximumAge
    {
      let marked = mayChange ? trial.marker?.content : nil
      return .tooOld(
        source,
        setAsideAt: try setAsideIfOldAgain(loaded, saved + maximumAge, marked, key, settingAside))
    }
    var tree = loaded.content
    var leftOut = trial.leaveOut(of: tree)
    if let dropped = loaded.dropped { noteDamagedEnd(of: tree, dropped, at: loaded.location) }
    files.archive.noteRead(
      loaded, hasCrashed: leftOut.hasCrashed, by: files.launch.environment.applicationVersion)
    let begun = isClaimed ? begin(tree, trial, &leftOut, key) : nil
    tree.leftOut = Set(leftOut.periods.keys)
    let isCrashNear = (begun?.marked?.begunRestores ?? 0) >= threshold
    return .state(
      tree,
      Begun(
        source: source, restoreNumber: begun?.number, skipped: leftOut.periods,
        note: isCrashNear ? begun?.note : nil, laterNote: begun?.note))
  }

  /// Sets a state aside that is too old, if an earlier launch has found it so, too.
  ///
  /// - Returns: Where the state is now; nil if it stays.
  private func setAsideIfOldAgain(
    _ loaded: StoredArchive.Loaded<StoredTree>, _ since: Date, _ marked: LaunchMarker.Content?,
    _ key: ArchiveKey, _ settingAside: SettingAside
  ) throws(ArchiveError) -> String? {
    var isOldAgain = false
    note {
      guard let marked else { return }
      isOldAgain = try files.launch.isSeenOldAgain(since: since, marked, key)
    }
    guard isOldAgain else { return nil }
    files.archive.open.close()
    let location = try files.archive.setAside(.unread, settingAside, with: loaded.generation)
    note { try files.launch.removeMarker() }
    return location
  }

  /// Marks that a restore has begun, and lets it try a left-out element if the mark is there.
  private func begin(
    _ tree: StoredTree, _ trial: LaunchTrial, _ leftOut: inout LaunchTrial.LeftOut,
    _ key: ArchiveKey
  ) -> OpenRestore? {
    note { try files.launch.begin(tree, trial.marker?.content, key) }
    // Without a mark, an element that crashes again would crash in every launch.
    if let tried = leftOut.tried, files.launch.restore?.note != nil {
      leftOut.periods[tried] = nil
    }
    return files.launch.restore
  }

  /// Reads the newest archive that can be read and has not crashed too often; nil if there is none.
  ///
  /// An archive that has crashed too often is set aside.
  private func load(
    _ key: CurrentKey, _ found: StoredArchive.Found, _ trial: inout LaunchTrial, mayChange: Bool,
    _ settingAside: SettingAside
  ) throws(ArchiveError) -> StoredArchive.Loaded<StoredTree>? {
    try files.archive.firstReadable(key, found) { (archive, generation) throws(ArchiveError) in
      guard mayChange else { return try StoredTree(reading: archive) }
      if trial.isOver { return nil }
      if let tree = try trial.tree(in: archive) { return tree }
      trial.giveWay(
        setAsideAt: try files.archive.setAside(.crashed, settingAside, with: generation))
      return nil
    }
  }

  private func noteNothingStored(isClaimed: Bool) {
    if isClaimed { note { try files.launch.removeMarker() } }
    if !keys.makesKey { noteMissingKey() }
  }

  private func noteDamagedEnd(of tree: StoredTree, _ dropped: ArchiveError, at location: String) {
    let date = tree.facts?.timestamp.map { " of \($0)" } ?? ""
    let before = launchProblem.map { "\($0) " } ?? ""
    launchProblem =
      "\(before)The end of the state is damaged, so this is the one\(date); what was saved after it"
      + " is lost. The next save keeps a copy of the file. (\(dropped.located(at: location).facts))"
  }

  /// Says already now that no save can succeed.
  private func noteMissingKey() {
    do throws(ArchiveError) {
      _ = try existingKey()
    } catch {
      addLaunchProblem(RestorationError.notRestored(error, makesKey: false).description)
    }
  }

  /// Lets the next restores try the left-out elements again, one at a time.
  func retrySkipped() async throws(ArchiveError) {
    try await take()
    try chooseKeyFile()
    guard let key = try keys.key(creating: false) else { return }
    do {
      try files.launch.retrySkipped(key)
    } catch {
      throw .content(error)
    }
    files.launch.beginAnew()
  }

  /// Takes the mark of a restore away.
  ///
  /// - Parameters:
  ///   - number: The number of the restore.
  ///   - isNoted: Whether the note stays, since values or late elements may be decoded later.
  func endRestore(_ number: UInt64, isNoted: Bool) {
    note { try files.launch.end(number, isNoted: isNoted) }
  }

  /// Nil if there is a marker that must not be replaced, or cannot be read.
  private func readMarker(_ key: ArchiveKey) -> LaunchMarker.Stored? {
    do {
      return try files.launch.read(key)
    } catch {
      addLaunchProblem(error.description)
      return nil
    }
  }
}
