internal import ArchiveCodec

/// Writes the archive as a whole, or only changes of it.
extension StoredArchive {
  // MARK: As a whole

  /// Replaces the stored archive; the open writer does that if its version is still the stored one.
  func rewrite(
    _ records: RecordBatch, _ time: UInt32, _ key: CurrentKey, _ lock: any ArchiveLock,
    _ settingAside: SettingAside
  ) throws(ArchiveError) -> Archive.Summary {
    prepareGeneration(key, settingAside)
    // No version can follow the last generation.
    if known?.generation != .max, let writer = open.writer(with: key, lock),
      writer.version == known
    {
      do throws(ArchiveError) {
        return try rewrite(records, time, with: writer, settingAside)
      } catch {
        open.close()
        guard error.code == .outdated else { throw error }
      }
    }
    let reported = moved
    do throws(ArchiveError) {
      return try rewrite(records, time, with: writer(key, lock, settingAside), settingAside)
    } catch {
      if moved != reported { putBack(insteadOf: reported, after: error) }
      throw error
    }
  }

  /// Puts back an archive that was set aside for a state which could not be written: the next
  /// launch would find nothing.
  private func putBack(insteadOf reported: String?, after error: ArchiveError) {
    do throws(ArchiveError) {
      guard error.code != .notDurable, try storage.open() == nil else { return }
      let archives = try storage.setAsideArchives()
      guard let archive = archives.first(where: { $0.storage.location == moved }) else { return }
      open.close()
      try storage.putBack(archive)
      moved = reported
    } catch {
      // The archive stays set aside, and the next report says so.
    }
  }

  private func rewrite(
    _ records: RecordBatch, _ time: UInt32, with writer: ArchiveWriter,
    _ settingAside: SettingAside
  ) throws(ArchiveError) -> Archive.Summary {
    let before = replacing.setAsideReason.flatMap { _ in setAsideIdentifiers() }
    func noteReplaced() {
      if let before { self.noteReplaced(besides: before, settingAside) }
      replacing = .previous
    }
    do throws(ArchiveError) {
      let summary = try writer.rewrite(records, schema: time)
      noteReplaced()
      hasLostSync = false
      known = summary.version
      return summary
    } catch {
      noteVersion(of: writer, after: error)
      // The new archive is in its place, so the next save replaces that one and
      // not the restored one.
      if error.code == .notDurable { noteReplaced() }
      throw error
    }
  }

  /// Prepares the stored archive to be kept when it is replaced.
  ///
  /// Of each other version of the app one generation stays.
  private func prepareGeneration(_ key: CurrentKey, _ settingAside: SettingAside) {
    if case .ofVersion(let version) = replacing {
      storage.prepare(settingAside, as: .upgraded, superseding: generations(of: version, key))
    } else {
      storage.prepare(settingAside, as: replacing.setAsideReason ?? .previous)
    }
  }

  private func generations(of version: String?, _ key: CurrentKey) -> Set<String> {
    do throws(ArchiveError) {
      let all = try storage.generations()
      return Set(
        all.filter { $0.reason == .upgraded && isSaved($0, by: version, key) }.map(\.identifier))
    } catch {
      // Generations that cannot be listed now go when there are too many.
      return []
    }
  }

  /// Whether a version of the app has saved a generation; one that cannot be read counts as saved
  /// by a version of its own.
  private func isSaved(
    _ generation: SetAsideArchive, by version: String?, _ key: CurrentKey
  ) -> Bool {
    do throws(ArchiveError) {
      guard
        let archive = try opener.open(generation.storage, key.key, recovery: .recover),
        let facts = try archive.record(NodeRecord.application)?
          .container(forKey: NodeRecord.factsKey)
      else { return false }
      return try SaveFacts(facts, of: archive).applicationVersion == version
    } catch {
      return false
    }
  }

  /// Counts a written archive as known though nobody can promise that it stays: the next save must
  /// not set it aside as one that nobody has read.
  private func noteVersion(of writer: ArchiveWriter, after error: ArchiveError) {
    if error.code == .notDurable, let version = writer.version { known = version }
  }

  // MARK: Changes

  /// Opens a version that was restored, so that the first save can be a change of it.
  ///
  /// An error is not thrown here: the save that follows meets the same obstacle.
  ///
  /// - Parameters:
  ///   - version: The version.
  ///   - lock: The lock of the state.
  ///   - isLast: Whether the process ends after the change, so that no save writes a new file after a
  ///     sync that failed.
  func prepareChanges(of version: ArchiveVersion, _ lock: any ArchiveLock, isLast: Bool) {
    // A state that has to stay, as one of another version of the app, is replaced
    // by a whole archive.
    guard known == version, replacing == .previous, isLast || !hasLostSync,
      open.archive(of: version) == nil
    else { return }
    do throws(ArchiveError) {
      let writer = try openWriter(try opener.currentKey(creating: false), lock)
      if writer.version != version { open.close() }
    } catch {
      open.close()
    }
  }

  /// The open writer, if it writes with the provider's current key.
  ///
  /// - Throws: Why there is no key.
  func currentWriter(_ lock: any ArchiveLock) throws(ArchiveError) -> ArchiveWriter? {
    if let stamp = try (opener.keys as? FileKeyProvider)?.file.stamp(),
      let writer = open.writer(withKeyOf: stamp, lock)
    {
      return writer
    }
    return open.writer(with: try opener.currentKey(creating: true), lock)
  }

  /// Appends the changes of a state.
  ///
  /// - Returns: How many bytes were written; 0 if there was no change.
  func append(
    _ change: StateChange, with writer: ArchiveWriter
  ) throws(ArchiveError) -> Int {
    var writtenByteCount = 0
    do throws(ArchiveError) {
      if let records = change.records {
        writtenByteCount = try writer.append(
          records, removing: change.removed, schema: change.time
        ).byteCount
      } else {
        try writer.checkIsCurrent()
      }
    } catch {
      noteVersion(of: writer, after: error)
      if writer.isPoisoned { hasLostSync = true }
      open.close()
      throw error
    }
    known = writer.version ?? change.version
    return writtenByteCount
  }

  // MARK: The writer

  private func openWriter(
    _ key: CurrentKey, _ lock: any ArchiveLock
  ) throws(ArchiveError) -> ArchiveWriter {
    try open.open(storage, key, opener.context, lock, opener.limits)
  }

  /// Opens a writer that may replace the stored archive.
  ///
  /// An archive that must not be lost is set aside when it is replaced, or at once if no
  /// version can follow it.
  ///
  /// An archive that nobody has read here may be better than the state that is saved: an app goes
  /// on with its defaults after a restore that failed for a passing reason, and somebody may have
  /// put an older state back. An archive that cannot be read whole may be readable again one day:
  /// with a newer version of the app, or with the key that is missing. So every archive that was
  /// neither restored nor written here is set aside. Keys and passphrases that somebody added open
  /// the new archive, too.
  func writer(
    _ key: CurrentKey, _ lock: any ArchiveLock, _ settingAside: SettingAside
  ) throws(ArchiveError) -> ArchiveWriter {
    do throws(ArchiveError) {
      let writer = try openWriter(key, lock)
      if let archive = writer.archive {
        guard let reason = try obstacle(to: archive) else { return writer }
        if canBeReplaced(archive) {
          replacing = .setAside(reason)
          storage.prepare(settingAside, as: reason)
          return writer
        }
      } else if try !isAnyGenerationUnread() {
        return writer
      }
    } catch  where error.isAboutContent {
    }
    try setAside(.unreadable, settingAside)
    try setUnreadGenerationsAside(key, settingAside)
    return try openWriter(key, lock)
  }

  /// Whether a generation stands in for a state, and was not read here itself.
  private func isAnyGenerationUnread() throws(ArchiveError) -> Bool {
    guard known == nil, let newest = try storage.generations().last else { return false }
    return newest.identifier != knownGeneration
  }

  /// Sets aside the generation that a restore would take, with the newer ones that
  /// it would pass over.
  private func setUnreadGenerationsAside(
    _ key: CurrentKey, _ settingAside: SettingAside
  ) throws(ArchiveError) {
    var isFound = false
    while !isFound, try isAnyGenerationUnread(), let newest = try storage.generations().last {
      isFound = isWhole(newest, key)
      try storage.putBack(newest)
      try setAside(isFound ? .unread : .unreadable, settingAside)
    }
  }

  private func isWhole(_ generation: SetAsideArchive, _ key: CurrentKey) -> Bool {
    do throws(ArchiveError) {
      guard let archive = try opener.open(generation.storage, key.key, recovery: .recover) else {
        return false
      }
      return try StoredTree(reading: archive).isWhole
    } catch {
      return false
    }
  }

  /// Whether another version can follow this archive.
  private func canBeReplaced(_ archive: Archive) -> Bool {
    archive.version.generation < .max
  }

  /// The reason to set an archive aside before it is replaced; nil if it may be replaced.
  func obstacle(to archive: Archive) throws(ArchiveError) -> SetAsideReason? {
    var found = FoundArchive(
      isLast: !canBeReplaced(archive), isKnown: archive.version == known,
      isDamaged: archive.dropped != nil)
    if found.obstacle == .needsTree { found.isWhole = try StoredTree(reading: archive).isWhole }
    if case .setAside(let reason) = found.obstacle { return reason }
    return nil
  }
}
