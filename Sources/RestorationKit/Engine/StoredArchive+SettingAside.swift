package import ArchiveCodec

/// Sets the archive aside, so that another one can take its place and nothing is lost.
extension StoredArchive {
  /// Sets the stored archive aside, and says so in the next report.
  ///
  /// - Returns: Where the archive is now; nil if none is stored.
  @discardableResult
  package func setAside(
    _ reason: SetAsideReason, _ settingAside: SettingAside
  ) throws(ArchiveError) -> String? {
    let location = try setAsideUnreported(reason, settingAside)
    moved = location ?? moved
    return location
  }

  /// Sets the stored archive aside, for a caller whose outcome says where; the
  /// next report does not.
  func setAsideUnreported(
    _ reason: SetAsideReason, _ settingAside: SettingAside
  ) throws(ArchiveError) -> String? {
    let location = try storage.setAside(reason, at: settingAside.date)
    if let location { removeExcess(settingAside, except: location) }
    return location
  }

  /// Sets aside a state, or the generation that stands in for it.
  ///
  /// A generation takes the place of the state first, since only the state can be set aside.
  func setAside(
    _ reason: SetAsideReason, _ settingAside: SettingAside, with generation: SetAsideArchive?
  ) throws(ArchiveError) -> String? {
    if let generation {
      _ = try setAsideUnreported(.unreadable, settingAside)
      try storage.putBack(generation)
    }
    return try setAsideUnreported(reason, settingAside)
  }

  /// Sets the state aside when it is replaced next, if the app could not decode all of it.
  func replaceUndecoded(_ settingAside: SettingAside) {
    guard !settingAside.undecoded.isEmpty, replacing.setAsideReason == nil else { return }
    replacing = .setAside(.undecoded)
    // A generation that stands in for the state is set aside as one that nobody has read.
    if known == nil { knownGeneration = nil }
  }

  /// Removes all archives that were set aside, in one sweep; one that cannot be
  /// removed is still listed.
  func removeAllSetAside() throws(ArchiveError) {
    // The copy is told also if some archives are still there.
    defer { copy?.noteRemovedAsides() }
    try storage.removeSetAside(try storage.setAsideArchives())
  }

  /// The identifiers of the archives that are set aside; nil if they cannot be listed, which is no
  /// reason to fail a save.
  package func setAsideIdentifiers() -> Set<String>? {
    do throws(ArchiveError) {
      return Set(try storage.setAsideArchives().map(\.identifier))
    } catch {
      return nil
    }
  }

  /// Reports the archive that a save has replaced and set aside, if there is one.
  func noteReplaced(besides before: Set<String>, _ settingAside: SettingAside) {
    guard let location = locationSetAside(besides: before) else { return }
    moved = location
    removeExcess(settingAside, except: location)
  }

  /// Where the archive is that was set aside since others were listed.
  ///
  /// Nil if none was, or if that cannot be found out: it is there all the same, and setAsideStates()
  /// has it.
  func locationSetAside(besides before: Set<String>) -> String? {
    do throws(ArchiveError) {
      return try storage.setAsideArchives().first { !before.contains($0.identifier) }?
        .storage.location
    } catch {
      return nil
    }
  }

  /// Removes the archives that are set aside beyond the bound.
  ///
  /// A failure is no reason to fail a save: the next archive that is set aside brings another try.
  func removeExcess(_ settingAside: SettingAside, except location: String) {
    do throws(ArchiveError) {
      let archives = try storage.setAsideArchives()
      let excess = settingAside.bound.excess(of: archives, at: settingAside.date)
        .filter { $0.storage.location != location }
      guard !excess.isEmpty else { return }
      defer { copy?.noteRemovedAsides() }
      try storage.removeSetAside(excess)
    } catch {
    }
  }

  /// Where an archive was set aside since the last report; nil if none was.
  func reportSetAside() -> String? {
    defer { moved = nil }
    return moved
  }
}
