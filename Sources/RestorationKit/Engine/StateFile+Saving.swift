package import ArchiveCodec

/// The changes of a state that a save writes.
struct StateChange: Sendable {
  /// The version that is changed.
  let version: ArchiveVersion
  /// Nil if nothing has changed.
  let records: RecordBatch?
  let removed: [UInt64]
  /// The time of the save; see ``SaveFacts/number(of:)``.
  let time: UInt32
}

/// Writes a state as a whole, or only its changes.
extension StateFile {
  package struct Written: Sendable {
    package let version: ArchiveVersion
    /// The bytes that were written for the change; 0 if there was none.
    package let writtenByteCount: Int
    /// The bytes of the whole stored state.
    package let byteCount: Int
    package let setAside: String?
    /// The fingerprints of all records, if all were written.
    let fingerprints: [(record: UInt64, fingerprint: RecordFingerprint)]
  }

  /// Writes a state; nil if a later one was written before.
  ///
  /// The number grows with every walk, and the time is ``SaveFacts/number(of:)``. Without a number
  /// the state is written unless any other write ends meanwhile, and comes before all writes that
  /// are still to come.
  package func write(
    _ records: RecordBatch, number: UInt64?, time: UInt32 = 0,
    _ settingAside: SettingAside = SettingAside()
  ) async throws(ArchiveError) -> Written? {
    let before = lastNumber
    guard number.map({ $0 > before }) ?? true else { return nil }
    let taken = try await take()
    if source.suffix.isEmpty { cleanUpAfterLaunch(at: settingAside.date) }
    try await fetch(.toWrite)
    let settingAside = await withoutSetAside(settingAside)
    // A later state may have been written meanwhile.
    guard number.map({ $0 > lastNumber }) ?? (lastNumber == before) else { return nil }
    files.archive.replaceUndecoded(settingAside)
    // On another core, if there is one, while the records are sealed.
    async let fingerprints = records.fingerprints
    let key = try currentKey(creating: true)
    let summary = try files.archive.rewrite(records, time, key, taken.lock, settingAside)
    if let number { lastNumber = number }
    let setAside = files.archive.reportSetAside()
    return Written(
      version: summary.version, writtenByteCount: summary.byteCount, byteCount: summary.byteCount,
      setAside: setAside, fingerprints: await fingerprints)
  }

  /// Notes the problems of a save for tools that look at the state without its app.
  ///
  /// Nobody is told if that fails: the save is stored, and its report has the problems.
  func note(problems: [String]) {
    guard files.claimed.taken != nil else { return }
    do {
      try files.launch.note(problems: problems) { () throws(ArchiveError) in try existingKey() }
    } catch {
      // The next save with other problems tries again.
    }
  }

  // MARK: Changes

  /// Opens the restored version, so that the first save can be a change of it.
  ///
  /// An error is not thrown here: the save that follows meets the same obstacle.
  func prepareChanges(of version: ArchiveVersion, isLast: Bool = false) async {
    do throws(ArchiveError) {
      let taken = try await take()
      files.archive.prepareChanges(of: version, taken.lock, isLast: isLast)
    } catch {
      open.close()
    }
  }

  /// Some records of a version, without those that are not stored; nil if another version is open,
  /// or if one of the records is damaged.
  func records(
    _ numbers: [UInt64], of version: ArchiveVersion
  ) throws(ArchiveError) -> [UInt64: KeyedDecoder]? {
    guard let archive = open.archive(of: version) else { return nil }
    var records: [UInt64: KeyedDecoder] = [:]
    do throws(ArchiveError) {
      for number in numbers { records[number] = try archive.record(number) }
      return records
    } catch {
      guard error.isAboutContent else { throw error }
      return nil
    }
  }

  /// Writes the changes of a state; nil if a later state was written before.
  ///
  /// - Throws: `outdated` if the changed version is not the stored one any more, or has states that
  ///   the app could not decode, which a whole save sets aside.
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
    let writtenByteCount = try files.archive.append(change, with: writer)
    let version = writer.version ?? change.version
    lastNumber = number
    return Written(
      version: version, writtenByteCount: writtenByteCount, byteCount: writer.storedByteCount,
      setAside: nil, fingerprints: [])
  }
}
