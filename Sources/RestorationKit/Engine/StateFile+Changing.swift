internal import ArchiveCodec

/// What a save of changes writes.
struct StateChange: Sendable {
  /// Of which state it is a change.
  let version: ArchiveVersion
  /// Nil if nothing has changed.
  let records: RecordBatch?
  let removed: [UInt64]
  /// When it was saved; see ``SaveFacts/number(of:)``.
  let time: UInt32
}

extension StateFile {
  /// Opens what was restored, so that the first save can be a change of it.
  ///
  /// Whatever is in the way of that, the save that follows finds it, too.
  func prepareChanges(of version: ArchiveVersion) async {
    do throws(ArchiveError) {
      let taken = try await take()
      guard known == version else { return }
      let writer = try open.open(
        place.storage, try currentKey(creating: false), place.context, taken.lock, limits)
      if writer.version != version || version.generation == .max { open.close() }
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
  /// - Throws: `outdated` if it is a change of what is not stored any more.
  func append(_ change: StateChange, number: UInt64) async throws(ArchiveError) -> Written? {
    guard number > lastNumber else { return nil }
    // The writer makes sure that the lock is held.
    guard known == change.version, let taken = claim.taken, taken.name + suffix == place.name,
      let writer = try openWriter(taken.lock)
    else { throw ArchiveError(.outdated) }
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
      open.close()
      throw error
    }
    let version = writer.version ?? change.version
    known = version
    lastNumber = number
    if change.records != nil { noteCrashesOf(version) }
    return Written(
      version: version, writtenByteCount: writtenByteCount, byteCount: writer.storedByteCount,
      setAside: nil, fingerprints: [])
  }
}
