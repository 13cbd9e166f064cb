internal import ArchiveCodec
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Keeps, reads and puts back the sessions that launches have found.
extension StateFile {
  private var kept: KeptSessions? { directory.keptSessions(ofStateNamed: files.claimed.name) }

  /// Keeps what this launch has found, before it changes anything, once for every claim.
  ///
  /// What cannot be kept is no reason to restore nothing.
  func keepSession(_ bound: SessionBound?, at now: Date) {
    guard let bound, let name = claim.taken?.name, name != sessionKeptOf,
      let kept = directory.keptSessions(ofStateNamed: name)
    else { return }
    sessionKeptOf = name
    do throws(ArchiveError) {
      let names = try directory.names().filter {
        $0 == name || $0.hasPrefix(name + StateClaim.sceneSuffix) && !StateClaim.isBesideState($0)
      }
      try kept.snapshots.keep(names.map(kept.fileName))
      try kept.removeExcess(bound, at: now)
    } catch {
      addLaunchProblem("The session of the last launch is not kept. \(error)")
    }
  }

  /// All sessions, the newest first.
  ///
  /// The list of windows of a session that cannot be read is empty.
  func savedSessions() throws(ArchiveError) -> [SavedSession] {
    moveToNameLookedAt()
    guard let kept else { return [] }
    let name = files.claimed.name
    return try kept.snapshots.all().reversed().map { (snapshot) throws(ArchiveError) in
      SavedSession(snapshot, ofState: name, windows: try windows(in: snapshot, kept))
    }
  }

  private func windows(
    in snapshot: FileSnapshots.Snapshot, _ kept: KeptSessions
  ) throws(ArchiveError) -> [SavedSession.Window] {
    let name = files.claimed.name + StateClaim.sceneSuffix + "s"
    guard let storage = kept.snapshots.storage(of: kept.fileName(name), in: snapshot) else {
      return []
    }
    let opener = ArchiveOpener(
      keys: keys, context: ArchiveContext([source.application, name]), limits: source.limits)
    do throws(ArchiveError) {
      guard let archive = try opener.open(storage, recovery: .recover),
        let list = try SceneList(reading: archive)
      else { return [] }
      return list.scenes.map { entry in
        SavedSession.Window(
          persistentIdentifier: entry.identifier, title: entry.title, role: entry.role)
      }
    } catch {
      guard error.isAboutContent else { throw error }
      return []
    }
  }

  /// Reads and verifies the state as it is in a session; nil if the session is gone, or does not have it.
  func read(
    _ session: SavedSession, at now: Date
  ) throws(ArchiveError) -> (tree: StoredTree, source: RestorationReport.Source)? {
    moveToNameLookedAt()
    guard session.stateName == files.claimed.name,
      let stored = try kept?.storage(ofStateNamed: files.name, in: session.id)
    else { return nil }
    let key = try existingKey()
    guard let archive = try files.opener.open(stored.storage, key, recovery: .recover) else {
      return nil
    }
    var tree = try StoredTree(reading: archive)
    tree.secrets = files.secrets.toLookAt(key)
    let savedAt = tree.facts?.timestamp
    return (
      tree,
      RestorationReport.Source(
        location: stored.storage.location, generation: nil, savedAt: savedAt,
        age: savedAt.map { now.timeIntervalSince($0) }, passedOver: [])
    )
  }

  /// Makes the state as it is in a session the stored one, and sets the stored one aside; the session stays.
  ///
  /// - Returns: False if the session is gone, or does not have the state.
  /// - Throws: `ArchiveError` as ``putBack(_:number:_:)-(SetAsideState,_,_)``.
  func putBack(
    _ session: SavedSession, number: UInt64, _ settingAside: SettingAside
  ) async throws(ArchiveError) -> Bool {
    try await takeAsLookedAt()
    guard session.stateName == files.claimed.name,
      let stored = try kept?.storage(ofStateNamed: files.name, in: session.id)
    else { return false }
    return try putBack(
      SetAsideArchive(
        identifier: session.id, reason: nil, date: stored.date, storage: stored.storage),
      number: number, settingAside, keepingIt: true)
  }

  /// Removes a session.
  func remove(_ session: SavedSession) async throws(ArchiveError) {
    try await takeAsLookedAt()
    guard session.stateName == files.claimed.name, let kept else { return }
    guard let snapshot = try kept.snapshots.all().first(where: { $0.identifier == session.id })
    else {
      return
    }
    try kept.snapshots.remove(snapshot)
  }

  /// Removes all sessions of a name.
  func removeSessions(ofStateNamed name: String) throws(ArchiveError) {
    try directory.keptSessions(ofStateNamed: name)?.snapshots.removeAll()
  }
}
