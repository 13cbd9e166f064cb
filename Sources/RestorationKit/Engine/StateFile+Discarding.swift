package import ArchiveCodec

/// Removes a state.
extension StateFile {
  /// Removes what is stored, but sets aside what cannot be read; says where.
  package func decline(
    number: UInt64, _ settingAside: SettingAside
  ) async throws(ArchiveError) -> String? {
    guard number > lastNumber else { return nil }
    if isAnythingToClaim {
      let taken = try await take()
      try await fetch(.toReplace)
      let settingAside = await withoutSetAside(settingAside)
      let secretsOfAsides = await secretsOfStoredAsides()
      guard number > lastNumber else { return nil }
      files.archive.replaceUndecoded(settingAside)
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
        // The newest may be a generation; with the key an older one would come back.
        if let newest = try files.archive.storage.generations().last,
          try files.archive.storage.open() == nil
        {
          try files.archive.storage.putBack(newest)
        }
        try files.archive.setAside(.unreadable, settingAside)
      }
      try removeSecretsOfOne(secretsOfAsides)
      try files.archive.storage.remove()
      files.archive.replacing = .previous
    }
    lastNumber = number
    return reportSetAside()
  }

  /// Removes what is stored, whatever it is, and what was set aside if wanted.
  package func discard(number: UInt64, includingSetAside: Bool) async throws(ArchiveError) {
    guard number > lastNumber else { return }
    if isAnythingToClaim {
      try await take()
      try await fetch(.toReplace)
      await files.link?.learn()
      if includingSetAside { try await fetchAsides(removesPlaces: true) }
      guard number > lastNumber else { return }
      open.close()
      try removeSecrets()
      try files.archive.storage.remove()
      files.link?.remote.wantNothing()
      if includingSetAside { try files.archive.removeAllSetAside() }
      // Crashes of what is gone are not counted for what comes after it.
      note { try files.launch.removeMarker() }
    } else {
      // A save that was killed may have left something.
      let name = files.name
      try directory.removeLeftovers {
        $0 == name || $0 == name + StateClaim.launchSuffix
          || $0 == name + StateClaim.secretsSuffix
      }
      // Or removed something without waiting for the disk.
      try files.archive.storage.synchronize()
    }
    if includingSetAside, source.suffix.isEmpty { try removeNumberedStates { _ in true } }
    lastNumber = number
  }

  /// A claim makes a directory and a file, which nothing to remove is not worth.
  private var isAnythingToClaim: Bool {
    guard claim.taken == nil, files.link == nil else { return true }
    do {
      move(to: try claim.free())
      return try files.archive.isAnythingStored || files.launch.isMarked
        || files.secrets.file.isStored
        || !files.archive.storage.setAsideArchives().isEmpty
    } catch {
      // What cannot be opened is there.
      return true
    }
  }
}
