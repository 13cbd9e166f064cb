internal import ArchiveCodec

/// Finds what to restore, and marks that a restore has begun and ended.
extension StateFile {
  /// What a restore finds.
  enum Found: Sendable {
    case nothing

    /// Another instance of the app has it.
    case inUse(by: String?)

    /// Restoring it crashed too often, so it is set aside.
    case crashed(setAsideAt: String?)

    /// A state to restore, and the number by which to end the restore; nil if
    /// it is restored as it is read only.
    case state(StoredTree, Begun)
  }

  /// A restore that may begin.
  struct Begun: Sendable {
    let source: RestorationReport.Source
    let usesSnapshot: Bool
    /// The number by which to end it; nil if the state is restored as it is read only.
    let window: UInt64?
    /// What is left out, since restores before it crashed there, by its places.
    let skipped: [Int: LeftOutPeriod]
    /// Where to note each element before it is made or decoded; nil if no crash is near.
    let note: LaunchNote?
    /// Where to note each value before it is decoded; nil if nothing can be noted.
    let valueNote: LaunchNote?
  }

  /// Reads and verifies what is stored, and marks that a restore has begun.
  ///
  /// The marker is written when the state has been read: what is refused does
  /// not run anything of the app. Where the state cannot be claimed because
  /// nothing can be written there, it is restored all the same, without mark.
  func beginRestore(
    crashThreshold: Int, _ settingAside: SettingAside
  ) async throws(ArchiveError) -> Found {
    launchProblem = nil
    var isClaimed = true
    do throws(ArchiveError) {
      try await take()
      // What belongs to scenes, too, is not for each of them.
      if suffix.isEmpty { cleanUp(at: settingAside.date) }
    } catch {
      if error.code == .locked { return .inUse(by: error.subject) }
      isClaimed = false
      launchProblem = error.description
      look()
    }
    do throws(ArchiveError) {
      try await fetch(.toRestore)
    } catch {
      guard error.code == .locked else { throw error }
      return .inUse(by: error.subject)
    }
    if let problem = takeCopyProblem() { addLaunchProblem(problem) }
    knowNothing()
    return try find(threshold: max(1, crashThreshold), isClaimed: isClaimed, settingAside)
  }

  /// What a restore that looks for its state knows of the restores before it.
  private struct Evidence {
    /// Nil if nothing may be noted.
    var marker: LaunchMarker.Stored?
    /// What gave way since it crashed too often, and whether nothing older may follow it.
    var crashed: (location: String?, isLast: Bool)?
    /// Whether something that is left out may be tried again.
    var mayTry = false

    mutating func takeSkipped(
      in tree: StoredTree, by applicationVersion: String?
    ) -> (periods: [Int: LeftOutPeriod], tried: Int?) {
      marker?.content.skipped.take(in: tree, by: applicationVersion, mayTry: mayTry) ?? ([:], nil)
    }
  }

  private func find(
    threshold: Int, isClaimed: Bool, _ settingAside: SettingAside
  ) throws(ArchiveError) -> Found {
    guard try isAnythingStored() else {
      noteNothingStored(isClaimed: isClaimed)
      return .nothing
    }
    let key = try existingKey()
    var evidence = Evidence(marker: readMarker(key))
    guard
      let loaded = try load(
        key, &evidence, threshold: threshold, mayChange: isClaimed && window == nil, settingAside)
    else {
      if isClaimed { note { try files.marker.storage.remove() } }
      return evidence.crashed.map { .crashed(setAsideAt: $0.location) } ?? .nothing
    }
    var tree = loaded.content
    tree.replacedAt = loaded.generation?.date
    evidence.marker?.leaveOutCrashedValue(
      of: tree, threshold, by: applicationVersion, at: bootSession)
    let usesSnapshot = tree.snapshot.isUsable(
      ignoredBefore: evidence.marker?.content.snapshotIgnored == tree.version)
    var (skipped, tried) = evidence.takeSkipped(in: tree, by: applicationVersion)
    if let dropped = loaded.dropped { noteDamagedEnd(of: tree, dropped, at: loaded.location) }
    // Those of a generation are among them.
    if isClaimed { try loadSecrets(key) }
    tree.secrets = secretsToLookAt(key)
    know(tree, loaded, hasCrashed: evidence.marker?.content.skipped.isOf(tree) == true)
    if isClaimed {
      begin(tree, evidence.marker?.content, key)
      // What is tried without a mark would crash in every launch.
      if let tried, window?.note != nil { skipped[tried] = nil }
    }
    tree.leftOut = Set(skipped.keys)
    let isCrashNear = isClaimed && (window?.marked?.begunRestores ?? 0) >= threshold
    let begunNote = isClaimed ? window?.note : nil
    return .state(
      tree,
      Begun(
        source: loaded.source(savedAt: tree.facts?.timestamp, now: settingAside.date),
        usesSnapshot: usesSnapshot, window: isClaimed ? windowCount : nil, skipped: skipped,
        note: isCrashNear ? begunNote : nil, valueNote: begunNote))
  }

  /// Reads the newest archive that can be read and has not crashed too often; nil if none is left.
  ///
  /// What has crashed too often is set aside.
  private func load(
    _ key: ArchiveKey, _ evidence: inout Evidence, threshold: Int, mayChange: Bool,
    _ settingAside: SettingAside
  ) throws(ArchiveError) -> Loaded<StoredTree>? {
    do throws(ArchiveError) {
      return try firstReadable(key) { (archive, generation) throws(ArchiveError) in
        if evidence.crashed?.isLast == true { return nil }
        guard mayChange else { return try StoredTree(reading: archive) }
        if let tree = try tree(in: archive, &evidence, threshold: threshold) { return tree }
        let gaveWay = evidence.marker?.content.gaveWay == true
        evidence.crashed = (try setAsideCrashed(generation, settingAside), isLast: gaveWay)
        evidence.marker = LaunchMarker.Stored(content: LaunchMarker.Content(gaveWay: true))
        return nil
      }
    } catch {
      guard evidence.crashed != nil, error.isAboutContent else { throw error }
      return nil
    }
  }

  /// The tree of an archive; nil if it gives way to an older one, since it crashed.
  private func tree(
    in archive: Archive, _ evidence: inout Evidence, threshold: Int
  ) throws(ArchiveError) -> StoredTree? {
    let verdict = evidence.marker?.take(
      evidenceBefore: archive.version, threshold, by: applicationVersion, at: bootSession)
    evidence.mayTry = verdict?.mayTry == true && !hasBegun
    switch verdict?.action {
    case .restore, nil: return try StoredTree(reading: archive)
    case .giveWay: return nil
    case .leaveOut(let place, let count):
      let tree = try StoredTree(reading: archive)
      let isAnyLeft = evidence.marker?.content.skipped.add(
        place, of: tree, after: count, by: applicationVersion)
      return isAnyLeft == true ? tree : nil
    }
  }

  private func noteNothingStored(isClaimed: Bool) {
    if isClaimed {
      note {
        try files.marker.storage.remove()
        // Those of a state that somebody has removed go with a save.
        if try files.secrets.isStored { try loadSecrets(existingKey()) }
      }
    }
    if !keys.makesKey { noteMissingKey() }
  }

  private func noteDamagedEnd(of tree: StoredTree, _ dropped: ArchiveError, at location: String) {
    let date = tree.facts?.timestamp.map { " of \($0)" } ?? ""
    let before = launchProblem.map { "\($0) " } ?? ""
    launchProblem =
      "\(before)The end of the state is damaged, so this is the one\(date); what was saved after it"
      + " is lost. The next save keeps a copy of the file. (\(dropped.located(at: location).facts))"
  }

  /// Remembers what was read, for the saves that replace it.
  private func know(_ tree: StoredTree, _ loaded: Loaded<StoredTree>, hasCrashed: Bool) {
    guard tree.isWhole else { return }
    knownGeneration = loaded.generation?.identifier
    guard loaded.generation == nil else { return }
    known = tree.version
    let evidence = RestoredEvidence(
      end: loaded.dropped.map { $0.code == .truncated ? .truncated : .damaged } ?? .whole,
      hasCrashed: hasCrashed,
      savedBy: tree.facts.map { RestoredEvidence.SavedBy($0.applicationVersion) })
    replacing = Replacing(evidence, by: applicationVersion)
  }

  /// Says already now that no save can succeed.
  private func noteMissingKey() {
    do throws(ArchiveError) {
      _ = try existingKey()
    } catch {
      addLaunchProblem(RestorationError.notRestored(error, makesKey: false).description)
    }
  }

  /// Marks that a restore has begun.
  private func begin(_ tree: StoredTree, _ marked: LaunchMarker.Content?, _ key: ArchiveKey) {
    var marked = marked
    // Those of another state, or by another version of the app, say nothing about this one.
    if marked?.begunVersion != tree.version || marked?.applicationVersion != applicationVersion {
      marked?.begunRestores = 0
    }
    // A restore of this launch that has not ended is not counted twice.
    if window == nil, let begun = marked?.begunRestores {
      marked?.begunRestores = min(max(0, begun), .max - 1) + 1
    }
    marked?.begunVersion = tree.version
    marked?.applicationVersion = applicationVersion
    marked?.bootSession = bootSession
    marked?.snapshotIgnored = tree.snapshot == .ignoredOnce ? tree.version : nil
    marked?.isFirst = !hasBegun
    windowCount += 1
    window = OpenRestore(
      number: windowCount, version: tree.version, isWhole: tree.isWhole, key: key,
      marked: marked)
    hasBegun = true
    note { try mark(key) }
  }

  /// Writes the marker of the restore that is under way, and begins a note behind it.
  func mark(_ key: ArchiveKey) throws {
    guard let marked = window?.marked else { return }
    window?.note = nil
    guard let written = try files.marker.write(marked, key) else { return }
    window?.note = try LaunchNote(
      behind: written.summary, written.tags, in: files.marker.storage)
  }

  /// Lets the next restores try again what they leave out, one at a time.
  func retrySkipped() async throws(ArchiveError) {
    try await take()
    guard let key = try keys.key(creating: false) else { return }
    do {
      if window?.marked != nil {
        window?.marked?.skipped.retry()
        try mark(key)
      } else {
        var content = try files.marker.read(key).content
        content.skipped.retry()
        try files.marker.write(content, key)
      }
    } catch {
      throw .content(error)
    }
    hasBegun = false
  }

  /// Sets a state aside that crashed; a generation takes the place of the state for it.
  private func setAsideCrashed(
    _ generation: SetAsideArchive?, _ settingAside: SettingAside
  ) throws(ArchiveError) -> String? {
    if let generation {
      _ = try setAside(.unreadable, settingAside)
      try files.storage.putBack(generation)
    }
    return try setAside(.crashed, settingAside)
  }

  /// Takes the mark away, and the state, if it is still the one that was restored and nothing
  /// of it was unreadable.
  func endRestore(window number: UInt64, consuming settingAside: SettingAside) async {
    await learn()
    let settingAside = await withoutSetAside(settingAside)
    let secretsOfAsides = await secretsOfStoredAsides()
    replaceUndecoded(settingAside)
    endRestore(window: number, consuming: settingAside, secretsOfAsides: secretsOfAsides)
  }

  /// Takes the mark away; with the date of a restore also the state.
  ///
  /// - Parameters:
  ///   - number: The restore.
  ///   - settingAside: What says how to set the state aside, if it is consumed.
  ///   - secretsOfAsides: The secrets of what was set aside.
  ///   - hasUnread: Whether values may be decoded later.
  /// - Returns: Where to note these; nil if nothing can be noted.
  @discardableResult
  func endRestore(
    window number: UInt64, consuming settingAside: SettingAside? = nil,
    secretsOfAsides: Set<UInt64>? = nil, hasUnread: Bool = false
  ) -> LaunchNote? {
    guard let window, window.number == number else { return nil }
    self.window = nil
    // Whoever has the state now has its marker, too.
    guard let taken = claim.taken, taken.name + suffix == files.name else { return nil }
    note {
      guard try taken.lock.isHeld() else { return }
      let key = try existingKey()
      try window.takeMark(from: files.marker, key, isNoted: hasUnread)
      guard let settingAside, window.isWhole else { return }
      // As the restore chose: one that opens may have no tree.
      let stored = try firstReadable(key) { (archive, _) throws(ArchiveError) in
        try StoredTree(reading: archive).version
      }
      guard let stored, stored.content == window.version else { return }
      open.close()
      // What a generation stood in for cannot be read, and a save would have kept the rest.
      if let reason = stored.generation.map({ _ in .unreadable }) ?? replacing.setAsideReason {
        moved = try setAside(reason, settingAside) ?? moved
      }
      try removeSecretsOfOne(secretsOfAsides)
      try files.storage.remove()
    }
    return hasUnread ? window.note : nil
  }

  /// Nil if what is there must not be replaced, or cannot be.
  private func readMarker(_ key: ArchiveKey) -> LaunchMarker.Stored? {
    do {
      return try files.marker.read(key)
    } catch {
      addLaunchProblem(error.description)
      return nil
    }
  }
}
