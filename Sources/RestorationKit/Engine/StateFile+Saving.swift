package import ArchiveCodec

/// What a save of changes writes.
struct StateChange: Sendable {
  /// Of which state it is a change.
  let version: ArchiveVersion
  /// Nil if nothing has changed.
  let records: RecordBatch?
  let removed: [UInt64]
  /// When it was saved; see ``SaveFacts/number(of:)``.
  let time: UInt32
  /// The subkeys to which all that is stored refers; nil if there are no secrets.
  let secrets: SecretUse?
}

/// Writes a state as a whole, or what has changed of it.
extension StateFile {
  package struct Written: Sendable {
    package let version: ArchiveVersion
    /// What was written for this change; 0 if it was none.
    package let writtenByteCount: Int
    /// All that is stored.
    package let byteCount: Int
    package let setAside: String?
    /// Those of all records, if all were written.
    let fingerprints: [(record: UInt64, fingerprint: RecordFingerprint)]
  }

  /// Writes a state, nil if a later one was written before; the number grows
  /// with every walk, and the time is ``SaveFacts/number(of:)``.
  package func write(
    _ records: RecordBatch, number: UInt64, time: UInt32 = 0,
    _ settingAside: SettingAside = SettingAside()
  ) async throws(ArchiveError) -> Written? {
    try await write(records, number: number, time: time, secrets: nil, settingAside)
  }

  /// The same for a state with secrets.
  ///
  /// - Throws: Also `outdated` if all of them were forgotten since the save began.
  func write(
    _ records: RecordBatch, number: UInt64, time: UInt32, secrets: SecretUse?,
    _ settingAside: SettingAside
  ) async throws(ArchiveError) -> Written? {
    guard number > lastNumber else { return nil }
    let taken = try await take()
    try await fetch(.toWrite)
    let settingAside = await withoutSetAside(settingAside)
    // A later state may have been written meanwhile.
    guard number > lastNumber else { return nil }
    replaceUndecoded(settingAside)
    // While the records are sealed, where there is another core.
    async let fingerprints = records.fingerprints
    let key = try currentKey(creating: true)
    try storeSecrets(secrets)
    let summary = try rewrite(records, time, key, taken.lock, settingAside)
    lastNumber = number
    noteCrashesOf(summary.version)
    let setAside = reportSetAside()
    await dropSecrets(besides: secrets)
    return Written(
      version: summary.version, writtenByteCount: summary.byteCount, byteCount: summary.byteCount,
      setAside: setAside, fingerprints: await fingerprints)
  }

  /// Replaces what is stored, with what is open if that is still what is there.
  private func rewrite(
    _ records: RecordBatch, _ time: UInt32, _ key: CurrentKey, _ lock: any ArchiveLock,
    _ settingAside: SettingAside
  ) throws(ArchiveError) -> Archive.Summary {
    prepareGeneration(key, settingAside)
    // Nothing can follow the last generation.
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

  /// Puts back what was set aside for a state that could not be written: the next launch
  /// would find nothing.
  private func putBack(insteadOf reported: String?, after error: ArchiveError) {
    do throws(ArchiveError) {
      guard error.code != .notDurable, try files.storage.open() == nil else { return }
      let archives = try files.storage.setAsideArchives()
      guard let archive = archives.first(where: { $0.storage.location == moved }) else { return }
      open.close()
      try files.storage.putBack(archive)
      moved = reported
    } catch {
      // It stays set aside, and the next report says so.
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
      known = summary.version
      return summary
    } catch {
      noteVersion(of: writer, after: error)
      // It is in its place, so the next save replaces that and not what was restored.
      if error.code == .notDurable { noteReplaced() }
      throw error
    }
  }

  /// Says what becomes of what is replaced: of each other version of the app one stays.
  private func prepareGeneration(_ key: CurrentKey, _ settingAside: SettingAside) {
    if case .ofVersion(let version) = replacing {
      files.storage.prepare(
        settingAside, as: .upgraded, superseding: generations(of: version, key))
    } else {
      files.storage.prepare(settingAside, as: replacing.setAsideReason ?? .previous)
    }
  }

  private func generations(of version: String?, _ key: CurrentKey) -> Set<String> {
    do throws(ArchiveError) {
      let all = try files.storage.generations()
      return Set(
        all.filter { $0.reason == .upgraded && isSaved($0, by: version, key) }.map(\.identifier))
    } catch {
      // What cannot be listed now goes when there are too many.
      return []
    }
  }

  /// What cannot be read is as good as one of a version of its own.
  private func isSaved(
    _ generation: SetAsideArchive, by version: String?, _ key: CurrentKey
  ) -> Bool {
    do throws(ArchiveError) {
      guard
        let archive = try Archive.open(
          generation.storage, key: key.key, context: files.context, limits: limits,
          recovery: .recover),
        let facts = try archive.record(NodeRecord.application)?
          .container(forKey: NodeRecord.factsKey)
      else { return false }
      return try SaveFacts(facts, of: archive).applicationVersion == version
    } catch {
      return false
    }
  }

  /// Knows what was written though nobody can promise that it stays: the next save
  /// must not set it aside as something that nobody has read.
  func noteVersion(of writer: ArchiveWriter, after error: ArchiveError) {
    if error.code == .notDurable, let version = writer.version { known = version }
  }

  /// The key; what its provider says of it is asked first, so that it is of no later one.
  func currentKey(creating: Bool) throws(ArchiveError) -> CurrentKey {
    let stamp = try (keys as? any StampedKeyProvider)?.stamp()
    guard let key = try keys.key(creating: creating) else {
      throw ArchiveError(.keyMissing, location: keys.location)
    }
    return CurrentKey(key: key, stamp: stamp)
  }

  /// A restore that goes on is one of what is saved meanwhile: that would be
  /// restored next.
  func noteCrashesOf(_ version: ArchiveVersion) {
    guard window?.marked != nil else { return }
    window?.marked?.begunVersion = version
    note { try mark(existingKey()) }
  }

  // MARK: What has changed

  /// Opens what was restored, so that the first save can be a change of it.
  ///
  /// Whatever is in the way of that, the save that follows finds it, too.
  func prepareChanges(of version: ArchiveVersion) async {
    do throws(ArchiveError) {
      let taken = try await take()
      // What is kept, as that of another version of the app, is written as a whole.
      guard known == version, replacing == .previous else { return }
      let writer = try open.open(
        files.storage, try currentKey(creating: false), files.context, taken.lock, limits)
      if writer.version != version { open.close() }
    } catch {
      open.close()
    }
  }

  /// What is open, if it writes with the key that is there now.
  private func openWriter(_ lock: any ArchiveLock) throws(ArchiveError) -> ArchiveWriter? {
    if let stamp = try (keys as? any StampedKeyProvider)?.stamp(),
      let writer = open.writer(withKeyOf: stamp, lock)
    {
      return writer
    }
    return open.writer(with: try currentKey(creating: true), lock)
  }

  /// Writes what has changed; nil if a later state was written before.
  ///
  /// - Throws: `outdated` if it is a change of what is not stored any more, or of what the app
  ///   could not decode, which a whole save sets aside.
  func append(
    _ change: StateChange, number: UInt64, _ settingAside: SettingAside
  ) async throws(ArchiveError) -> Written? {
    guard number > lastNumber else { return nil }
    // The writer makes sure that the lock is held.
    guard known == change.version, change.version.generation < .max, replacing == .previous,
      settingAside.undecoded.isEmpty, let taken = claim.taken,
      taken.name + suffix == files.name, let writer = try openWriter(taken.lock)
    else { throw ArchiveError(.outdated) }
    files.storage.prepare(settingAside)
    var writtenByteCount = 0
    try storeSecrets(change.secrets)
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
      open.close()
      throw error
    }
    let version = writer.version ?? change.version
    known = version
    lastNumber = number
    if change.records != nil { noteCrashesOf(version) }
    let byteCount = writer.storedByteCount
    await dropSecrets(besides: change.secrets)
    return Written(
      version: version, writtenByteCount: writtenByteCount, byteCount: byteCount,
      setAside: nil, fingerprints: [])
  }

  // MARK: The writer

  /// A writer that may replace what is stored: what must not be lost is set aside when
  /// that is done, or was now, if nobody can write after it.
  ///
  /// What nobody has read here may be better than what is saved: an app goes on
  /// with its defaults after a restore that failed for a reason that passes, and
  /// somebody may have put an older state back. An archive that cannot be read
  /// whole may be read again one day: with a newer version of the app, or with
  /// the key that is missing. So all but what was restored or written here is
  /// set aside. Keys and passphrases that somebody added open what the writer
  /// writes, too.
  func writer(
    _ key: CurrentKey, _ lock: any ArchiveLock, _ settingAside: SettingAside
  ) throws(ArchiveError) -> ArchiveWriter {
    func open() throws(ArchiveError) -> ArchiveWriter {
      try self.open.open(files.storage, key, files.context, lock, limits)
    }
    do throws(ArchiveError) {
      let writer = try open()
      if let archive = writer.archive {
        guard let reason = try obstacle(to: archive) else { return writer }
        if canBeReplaced(archive) {
          replacing = .setAside(reason)
          files.storage.prepare(settingAside, as: reason)
          return writer
        }
      } else if try !isAnyGenerationUnread() {
        return writer
      }
    } catch  where error.isAboutContent {
    }
    moved = try setAside(.unreadable, settingAside) ?? moved
    try setUnreadGenerationsAside(key, settingAside)
    return try open()
  }

  /// Whether a generation stands in for a state of which nothing was read here.
  private func isAnyGenerationUnread() throws(ArchiveError) -> Bool {
    guard known == nil, let newest = try files.storage.generations().last else { return false }
    return newest.identifier != knownGeneration
  }

  /// Sets aside the generation that a restore would take, with those that it would pass over.
  private func setUnreadGenerationsAside(
    _ key: CurrentKey, _ settingAside: SettingAside
  ) throws(ArchiveError) {
    var isFound = false
    while !isFound, try isAnyGenerationUnread(),
      let newest = try files.storage.generations().last
    {
      isFound = isWhole(newest, key)
      try files.storage.putBack(newest)
      moved = try setAside(isFound ? .unread : .unreadable, settingAside) ?? moved
    }
  }

  private func isWhole(_ generation: SetAsideArchive, _ key: CurrentKey) -> Bool {
    do throws(ArchiveError) {
      guard
        let archive = try Archive.open(
          generation.storage, key: key.key, context: files.context, limits: limits,
          recovery: .recover)
      else { return false }
      return try StoredTree(reading: archive).isWhole
    } catch {
      return false
    }
  }

  /// Whether another archive can follow it.
  private func canBeReplaced(_ archive: Archive) -> Bool {
    archive.version.generation < .max
  }

  /// Why an archive must not be replaced; nil if it may be.
  func obstacle(to archive: Archive) throws(ArchiveError) -> SetAsideReason? {
    var found = FoundArchive(
      isLast: !canBeReplaced(archive), isKnown: archive.version == known,
      isDamaged: archive.dropped != nil)
    if found.obstacle == .needsTree { found.isWhole = try StoredTree(reading: archive).isWhole }
    if case .setAside(let reason) = found.obstacle { return reason }
    return nil
  }

  func reportSetAside() -> String? {
    defer { moved = nil }
    return moved
  }
}
