internal import ArchiveCodec

/// What a save of changes writes.
struct StateChange: Sendable {
  /// Of which state it is a change.
  let version: ArchiveVersion
  /// Nil if nothing has changed.
  let records: RecordBatch?
  let removed: [UInt64]
}

extension StateFile {
  /// Opens what was restored, so that the first save can be a change of it.
  ///
  /// Whatever is in the way of that, the save that follows finds it, too.
  func prepareChanges(of version: ArchiveVersion) async {
    do throws(ArchiveError) {
      let taken = try await take()
      guard known == version else { return }
      let key = try existingKey()
      let writer = try open.open(place.storage, key, place.context, taken.lock, limits)
      if writer.version != version || version.generation == .max { open.close() }
    } catch {
      open.close()
    }
  }

  /// Writes what has changed; nil if a later state was written before.
  ///
  /// - Throws: `outdated` if it is a change of what is not stored any more.
  func append(_ change: StateChange, number: UInt64) async throws(ArchiveError) -> Written? {
    guard number > lastNumber else { return nil }
    let taken = try await take()
    guard number > lastNumber else { return nil }
    let key = try newKey()
    guard known == change.version, let writer = open.writer(with: key, taken.lock) else {
      throw ArchiveError(.outdated)
    }
    var writtenByteCount = 0
    do throws(ArchiveError) {
      if let records = change.records {
        writtenByteCount = try writer.append(records, removing: change.removed).byteCount
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
    if change.records != nil { noteCrashesOf(version, key) }
    return Written(
      version: version, writtenByteCount: writtenByteCount, byteCount: writer.storedByteCount,
      setAside: nil)
  }
}
