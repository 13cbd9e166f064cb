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
    files.archive.replaceUndecoded(settingAside)
    // While the records are sealed, where there is another core.
    async let fingerprints = records.fingerprints
    let key = try currentKey(creating: true)
    try files.secrets.store(secrets)
    let summary = try files.archive.rewrite(records, time, key, taken.lock, settingAside)
    lastNumber = number
    noteCrashesOf(summary.version)
    let setAside = files.archive.reportSetAside()
    await dropSecrets(besides: secrets)
    return Written(
      version: summary.version, writtenByteCount: summary.byteCount, byteCount: summary.byteCount,
      setAside: setAside, fingerprints: await fingerprints)
  }

  /// A restore that goes on is one of what is saved meanwhile: that would be
  /// restored next.
  func noteCrashesOf(_ version: ArchiveVersion) {
    note { try files.launch.noteSaved(version) { () throws(ArchiveError) in try existingKey() } }
  }

  // MARK: What has changed

  /// Opens what was restored, so that the first save can be a change of it.
  ///
  /// The save that follows finds, too, whatever is in the way of that.
  func prepareChanges(of version: ArchiveVersion) async {
    do throws(ArchiveError) {
      let taken = try await take()
      files.archive.prepareChanges(of: version, taken.lock)
    } catch {
      open.close()
    }
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
    guard files.archive.known == change.version, change.version.generation < .max,
      files.archive.replacing == .previous, settingAside.undecoded.isEmpty,
      let taken = files.claimed.taken,
      let writer = try files.archive.currentWriter(taken.lock)
    else { throw ArchiveError(.outdated) }
    files.archive.storage.prepare(settingAside)
    try files.secrets.store(change.secrets)
    let writtenByteCount = try files.archive.append(change, with: writer)
    let version = writer.version ?? change.version
    lastNumber = number
    if change.records != nil { noteCrashesOf(version) }
    let byteCount = writer.storedByteCount
    await dropSecrets(besides: change.secrets)
    return Written(
      version: version, writtenByteCount: writtenByteCount, byteCount: byteCount,
      setAside: nil, fingerprints: [])
  }
}
