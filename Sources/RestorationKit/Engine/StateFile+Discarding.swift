package import ArchiveCodec

/// Removes a state.
extension StateFile {
  /// Removes the stored state, but sets aside one that a save must not replace; returns where.
  package func decline(
    number: UInt64, _ settingAside: SettingAside
  ) async throws(ArchiveError) -> String? {
    guard number > lastNumber else { return nil }
    if isAnythingToClaim {
      let taken = try await take()
      try await fetch(.toReplace)
      let settingAside = await withoutSetAside(settingAside)
      guard number > lastNumber else { return nil }
      files.archive.replaceUndecoded(settingAside)
      try chooseKeyFile()
      if let key = try keys.key(creating: false) {
        let writer = try files.archive.writer(
          CurrentKey(key: key, stamp: nil), taken.lock, settingAside)
        if let archive = writer.archive,
          let reason = try files.archive.obstacle(to: archive)
            ?? files.archive.replacing.setAsideReason
        {
          try files.archive.setAside(reason, settingAside)
        }
        open.close()
      } else {
        // The newest archive may be a generation. It is made the state, so that it is the one to be
        // set aside: once the key is there, an older one would come back otherwise.
        if let newest = try files.archive.storage.generations().last,
          try files.archive.storage.open() == nil
        {
          try files.archive.storage.putBack(newest)
        }
        try files.archive.setAside(.unreadable, settingAside)
      }
      if source.suffix.isEmpty { try removeSessions(ofStateNamed: files.claimed.name) }
      try files.archive.storage.remove()
      note { try files.launch.leaveNoFile() }
      files.archive.replacing = .previous
    }
    lastNumber = number
    return reportSetAside()
  }

  /// Removes the stored state, whatever it is, and the archives that were set aside if wanted.
  package func discard(number: UInt64, includingSetAside: Bool) async throws(ArchiveError) {
    guard number > lastNumber else { return }
    if isAnythingToClaim {
      try await take()
      try await fetch(.toReplace)
      await files.link?.compareWithStore()
      if includingSetAside { try await fetchAsides(removesPlaces: true) }
      guard number > lastNumber else { return }
      open.close()
      // First: when the state is gone, nobody has a reason to discard it again.
      if source.suffix.isEmpty { try removeSessions(ofStateNamed: files.claimed.name) }
      try removeLeftovers()
      try files.archive.storage.remove()
      files.link?.noteDiscarded()
      if includingSetAside { try files.archive.removeAllSetAside() }
      // Crashes of a state that is gone are not counted for the next one.
      note { try files.launch.removeMarker() }
    } else {
      if source.suffix.isEmpty { try removeSessions(ofStateNamed: files.claimed.name) }
      try removeLeftovers()
      // A killed save may also have removed files without waiting for the disk.
      try files.archive.storage.synchronize()
    }
    if includingSetAside, source.suffix.isEmpty { try removeNumberedStates { _ in true } }
    lastNumber = number
  }

  /// Removes the temporary files that killed saves of this state have left.
  private func removeLeftovers() throws(ArchiveError) {
    let name = files.name
    try directory.removeLeftovers { $0 == name || $0 == name + StateClaim.launchSuffix }
  }

  /// Whether there is something to remove; a claim makes a directory and a file, and
  /// is made only then.
  private var isAnythingToClaim: Bool {
    guard claim.taken == nil, files.link == nil else { return true }
    do {
      move(to: try claim.free())
      return try files.archive.find() != nil || files.launch.isMarked
        || !files.archive.storage.setAsideArchives().isEmpty
    } catch {
      // A file that cannot be opened is there.
      return true
    }
  }
}
