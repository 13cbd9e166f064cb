internal import ArchiveCodec
internal import RestorationFoundation

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
      let scene = name + StateClaim.sceneSuffix(of: "")
      let names = try directory.names().filter {
        $0 == name || $0.hasPrefix(scene) && !StateClaim.isBesideState($0)
      }
      // The list also says how the app has ended, which makes no other session.
      let isKept = try kept.snapshots.keep(
        names.map(kept.fileName), with: [kept.fileName(name + StateClaim.sceneSuffix + "s")])
      if isKept { try kept.removeExcess(bound, at: now) }
    } catch {
      addLaunchProblem("The session of the last launch is not kept. \(error)")
    }
  }

  /// All sessions, the newest first, without their windows.
  func savedSessions() throws(ArchiveError) -> [SavedSession] {
    moveToNameLookedAt()
    let name = files.claimed.name
    return try kept?.snapshots.all().reversed().map { SavedSession($0, ofState: name) } ?? []
  }

  /// Opens the state as it is in a session; nil if the session is gone, or does not have it.
  private func open(
    _ session: SavedSession, _ key: ArchiveKey
  ) throws(ArchiveError) -> Archive? {
    moveToNameLookedAt()
    guard session.stateName == files.claimed.name,
      let stored = try kept?.storage(ofStateNamed: files.name, in: session.id)
    else { return nil }
    return try files.opener.open(stored.storage, key, recovery: .recover)
  }

  /// Reads the values that were written for the host of a scene, as they are in a session.
  func hostValues(of session: SavedSession) throws(ArchiveError) -> KeyedDecoder? {
    let archive = try open(session, try existingKey())
    return try archive?.record(NodeRecord.application)?.container(forKey: NodeRecord.hostKey)
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
    guard session.stateName == files.claimed.name, let kept,
      let snapshot = try kept.snapshots.snapshot(session.id)
    else { return }
    try kept.snapshots.remove([snapshot])
  }

  /// Removes all sessions of a name.
  func removeSessions(ofStateNamed name: String) throws(ArchiveError) {
    try directory.keptSessions(ofStateNamed: name)?.snapshots.removeAll()
  }
}
