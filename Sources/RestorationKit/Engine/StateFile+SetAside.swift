internal import ArchiveCodec

/// What was set aside.
extension StateFile {
  func setAsideStates() async throws(ArchiveError) -> [SetAsideState] {
    look()
    try await fetchAsides()
    return try files.storage.setAsideArchives().map { SetAsideState($0, ofState: files.name) }
  }

  /// The generations of the state, the newest first.
  func generations() throws(ArchiveError) -> [SetAsideState] {
    look()
    return try files.storage.generations().reversed().map {
      SetAsideState($0, ofState: files.name)
    }
  }

  /// Makes what was set aside the stored state again; false if it is gone.
  ///
  /// Saves that walked before do not go over it, and those that follow set it
  /// aside again as long as nobody has read it here.
  func putBack(
    _ state: SetAsideState, number: UInt64, _ settingAside: SettingAside
  ) async throws(ArchiveError) -> Bool {
    try await takeAsLookedAt()
    try await fetch(.toReplace)
    await learn()
    guard let stored = try archive(of: state) else { return false }
    return try await with(stored) { () throws(ArchiveError) in
      try putBack(stored, number: number, settingAside)
    } ?? false
  }

  private func putBack(
    _ stored: SetAsideArchive, number: UInt64, _ settingAside: SettingAside
  ) throws(ArchiveError) -> Bool {
    // What cannot be read now must not take the place of what can be.
    guard
      let archive = try Archive.open(
        stored.storage, key: existingKey(), context: files.context, limits: limits)
    else { return false }
    _ = try StoredTree(reading: archive)
    let replaced = try files.storage.setAside(.replaced, at: settingAside.date)
    lastNumber = max(lastNumber, number)
    knowNothing()
    window = nil
    open.close()
    try files.storage.putBack(stored)
    files.remote?.noteRemovedAsides()
    // Crashes of another state are not counted for this one.
    note { try files.marker.storage.remove() }
    if let replaced { removeExcess(settingAside, except: replaced) }
    return true
  }

  func removeSetAside(_ state: SetAsideState) async throws(ArchiveError) {
    try await takeAsLookedAt()
    try archive(of: state)?.storage.remove()
    files.remote?.noteRemovedAsides()
  }

  /// Nil if it is gone, or of another state.
  private func archive(of state: SetAsideState) throws(ArchiveError) -> SetAsideArchive? {
    guard state.stateName == files.name else { return nil }
    let all = try files.storage.setAsideArchives() + files.storage.generations()
    return all.first { $0.identifier == state.id }
  }

  /// Removes what was set aside, if there is anything.
  func removeSetAsideStates() async throws(ArchiveError) {
    guard try await !setAsideStates().isEmpty else { return }
    try await takeAsLookedAt()
    try removeAllSetAside()
  }

  /// Removes what was set aside, in one sweep; what cannot be removed is still listed.
  func removeAllSetAside() throws(ArchiveError) {
    // Also if some of them are still there.
    defer { files.remote?.noteRemovedAsides() }
    try files.storage.removeSetAside(try files.storage.setAsideArchives())
  }

  func setAside(
    _ reason: SetAsideReason, _ settingAside: SettingAside
  ) throws(ArchiveError) -> String? {
    let location = try files.storage.setAside(reason, at: settingAside.date)
    if let location { removeExcess(settingAside, except: location) }
    return location
  }

  /// Nil if they cannot be listed, which is no reason to fail a save.
  func setAsideIdentifiers() -> Set<String>? {
    do throws(ArchiveError) {
      return Set(try files.storage.setAsideArchives().map(\.identifier))
    } catch {
      return nil
    }
  }

  /// Reports what a save has replaced and set aside, if it has.
  func noteReplaced(besides before: Set<String>, _ settingAside: SettingAside) {
    do throws(ArchiveError) {
      let archives = try files.storage.setAsideArchives()
      guard
        let location = archives.first(where: { !before.contains($0.identifier) })?.storage.location
      else { return }
      moved = location
      removeExcess(settingAside, except: location)
    } catch {
      // It is there all the same, and setAsideStates() has it.
    }
  }

  /// What cannot be removed now is tried again when another one is set aside: it
  /// is no reason to fail a save.
  private func removeExcess(_ settingAside: SettingAside, except location: String) {
    do throws(ArchiveError) {
      let archives = try files.storage.setAsideArchives()
      let excess = settingAside.bound.excess(of: archives, at: settingAside.date)
        .filter { $0.storage.location != location }
      guard !excess.isEmpty else { return }
      defer { files.remote?.noteRemovedAsides() }
      try files.storage.removeSetAside(excess)
    } catch {
    }
  }
}
