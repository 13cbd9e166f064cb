internal import ArchiveCodec

/// Sets the archive aside, so that another one can take its place and nothing is lost.
extension StoredArchive {
  /// Sets aside what is stored, and says so in the next report.
  ///
  /// - Returns: Where it is; nil if nothing is stored.
  @discardableResult
  func setAside(
    _ reason: SetAsideReason, _ settingAside: SettingAside
  ) throws(ArchiveError) -> String? {
    let location = try setAsideUnreported(reason, settingAside)
    moved = location ?? moved
    return location
  }

  /// The same where the outcome says where it is.
  func setAsideUnreported(
    _ reason: SetAsideReason, _ settingAside: SettingAside
  ) throws(ArchiveError) -> String? {
    let location = try storage.setAside(reason, at: settingAside.date)
    if let location { removeExcess(settingAside, except: location) }
    return location
  }

  /// Sets a state aside that crashed; a generation takes the place of the state for it.
  func setAsideCrashed(
    _ generation: SetAsideArchive?, _ settingAside: SettingAside
  ) throws(ArchiveError) -> String? {
    if let generation {
      _ = try setAsideUnreported(.unreadable, settingAside)
      try storage.putBack(generation)
    }
    return try setAsideUnreported(.crashed, settingAside)
  }

  /// Lets the state be set aside that is replaced next, if the app could not decode all of it.
  func replaceUndecoded(_ settingAside: SettingAside) {
    guard !settingAside.undecoded.isEmpty, replacing.setAsideReason == nil else { return }
    replacing = .setAside(.undecoded)
    // A generation that stands in for the state goes as one that nobody has read.
    if known == nil { knownGeneration = nil }
  }

  /// Removes what was set aside, in one sweep; what cannot be removed is still listed.
  func removeAllSetAside() throws(ArchiveError) {
    // Also if some of them are still there.
    defer { listener?.noteRemovedAsides() }
    try storage.removeSetAside(try storage.setAsideArchives())
  }

  /// Nil if they cannot be listed, which is no reason to fail a save.
  func setAsideIdentifiers() -> Set<String>? {
    do throws(ArchiveError) {
      return Set(try storage.setAsideArchives().map(\.identifier))
    } catch {
      return nil
    }
  }

  /// Reports what a save has replaced and set aside, if it has.
  func noteReplaced(besides before: Set<String>, _ settingAside: SettingAside) {
    do throws(ArchiveError) {
      let archives = try storage.setAsideArchives()
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
  func removeExcess(_ settingAside: SettingAside, except location: String) {
    do throws(ArchiveError) {
      let archives = try storage.setAsideArchives()
      let excess = settingAside.bound.excess(of: archives, at: settingAside.date)
        .filter { $0.storage.location != location }
      guard !excess.isEmpty else { return }
      defer { listener?.noteRemovedAsides() }
      try storage.removeSetAside(excess)
    } catch {
    }
  }

  /// Where something was set aside since the last report; nil if nothing was.
  func reportSetAside() -> String? {
    defer { moved = nil }
    return moved
  }
}
