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
      replaceUndecoded(settingAside)
      if let key = try keys.key(creating: false) {
        let writer = try writer(CurrentKey(key: key, stamp: nil), taken.lock, settingAside)
        if let archive = writer.archive,
          let reason = try obstacle(to: archive) ?? replacing.setAsideReason
        {
          moved = try setAside(reason, settingAside) ?? moved
        }
        open.close()
      } else {
        // The newest may be a generation; with the key an older one would come back.
        if let newest = try files.storage.generations().last, try files.storage.open() == nil {
          try files.storage.putBack(newest)
        }
        moved = try setAside(.unreadable, settingAside) ?? moved
      }
      try removeSecretsOfOne(secretsOfAsides)
      try files.storage.remove()
      replacing = .previous
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
      await learn()
      if includingSetAside { try await fetchAsides(removesPlaces: true) }
      guard number > lastNumber else { return }
      open.close()
      try removeSecrets()
      try files.storage.remove()
      files.remote?.wantNothing()
      if includingSetAside { try removeAllSetAside() }
      // Crashes of what is gone are not counted for what comes after it.
      note { try files.marker.storage.remove() }
    } else {
      // A save that was killed may have left something.
      let name = files.name
      try directory.removeLeftovers {
        $0 == name || $0 == name + StateClaim.launchSuffix
          || $0 == name + StateClaim.secretsSuffix
      }
      // Or removed something without waiting for the disk.
      try files.storage.synchronize()
    }
    if includingSetAside, suffix.isEmpty { try removeNumberedStates { _ in true } }
    lastNumber = number
  }

  /// A claim makes a directory and a file, which nothing to remove is not worth.
  private var isAnythingToClaim: Bool {
    guard claim.taken == nil, files.remote == nil else { return true }
    do {
      move(to: try claim.free())
      return try isAnythingStored() || files.marker.storage.open() != nil
        || files.secrets.isStored
        || !files.storage.setAsideArchives().isEmpty
    } catch {
      // What cannot be opened is there.
      return true
    }
  }
}
