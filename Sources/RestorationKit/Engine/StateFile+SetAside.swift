internal import ArchiveCodec

/// Lists, puts back and removes archives that were set aside.
extension StateFile {
  func setAsideStates() async throws(ArchiveError) -> [SetAsideState] {
    moveToNameLookedAt()
    try await fetchAsides()
    return try files.archive.storage.setAsideArchives().map {
      SetAsideState($0, ofState: files.name)
    }
  }

  /// The generations of the state, the newest first.
  func generations() throws(ArchiveError) -> [SetAsideState] {
    moveToNameLookedAt()
    return try files.archive.storage.generations().reversed().map {
      SetAsideState($0, ofState: files.name)
    }
  }

  /// Makes an archive that was set aside the stored state again; false if the archive is gone.
  ///
  /// Saves that walked before do not replace the archive. Later saves set it aside again as long as
  /// nobody has read it here.
  func putBack(
    _ state: SetAsideState, number: UInt64, _ settingAside: SettingAside
  ) async throws(ArchiveError) -> Bool {
    try await takeAsLookedAt()
    try await fetch(.toReplace)
    await files.link?.compareWithStore()
    guard let stored = try archive(of: state) else { return false }
    return try await with(stored) { () throws(ArchiveError) in
      try putBack(stored, number: number, settingAside)
    } ?? false
  }

  func putBack(
    _ stored: SetAsideArchive, number: UInt64, _ settingAside: SettingAside, keepingIt: Bool = false
  ) throws(ArchiveError) -> Bool {
    // An archive that cannot be read now must not take the place of one that can be read.
    guard
      let archive = try files.opener.open(
        stored.storage, recovery: keepingIt ? .recover : .strict)
    else { return false }
    _ = try StoredTree(reading: archive)
    let before = files.archive.setAsideIdentifiers()
    files.archive.open.close()
    do throws(ArchiveError) {
      try files.archive.storage.putBack(
        stored, settingAside: .replaced, at: settingAside.date, keepingIt: keepingIt)
    } catch {
      if error.code == .notDurable { forgetReplaced(number) }
      throw error
    }
    forgetReplaced(number)
    files.archive.copy?.noteRemovedAsides()
    // Crashes of another state are not counted for this one.
    note { try files.launch.removeMarker() }
    if let before, let replaced = files.archive.locationSetAside(besides: before) {
      files.archive.removeExcess(settingAside, except: replaced)
    }
    return true
  }

  /// Forgets the state that another one has replaced.
  private func forgetReplaced(_ number: UInt64) {
    lastNumber = max(lastNumber, number)
    files.archive.forgetKnown()
    files.launch.forgetRestore()
  }

  func removeSetAside(_ state: SetAsideState) async throws(ArchiveError) {
    try await takeAsLookedAt()
    try archive(of: state)?.storage.remove()
    files.archive.copy?.noteRemovedAsides()
  }

  /// Finds the archive of a listed state; nil if it is gone, or is of another state.
  private func archive(of state: SetAsideState) throws(ArchiveError) -> SetAsideArchive? {
    guard state.stateName == files.name else { return nil }
    let all = try files.archive.storage.setAsideArchives() + files.archive.storage.generations()
    return all.first { $0.identifier == state.id }
  }

  /// Removes all archives that were set aside, if there are any.
  func removeSetAsideStates() async throws(ArchiveError) {
    guard try await !setAsideStates().isEmpty else { return }
    try await takeAsLookedAt()
    try files.archive.removeAllSetAside()
  }

  /// Where an archive was set aside since the last report; nil if none was.
  func reportSetAside() -> String? { files.archive.reportSetAside() }
}
