internal import ArchiveCodec
internal import RestorationFoundation

/// Reads the stored state, and marks no restore.
extension StateFile {
  /// Reads something, and tries again if that fails for a reason that may pass.
  func again<Result>(
    _ read: () throws(ArchiveError) -> Result
  ) async throws(ArchiveError) -> Result {
    for pause in [5, 20] {
      do throws(ArchiveError) {
        return try read()
      } catch {
        guard error.mayPass else { throw error }
        // A task that is cancelled does not pause.
        try? await Task.sleep(for: .milliseconds(pause))
      }
    }
    return try read()
  }

  /// Reads and verifies the stored state, and marks no restore; nil if nothing is stored.
  func read() async throws(ArchiveError) -> StoredTree? {
    moveToNameLookedAt()
    try await fetch()
    guard let found = try files.archive.find() else { return nil }
    let key = try currentKey(creating: false)
    let loaded = try files.archive.firstReadable(key, found) {
      (archive, _) throws(ArchiveError) in
      try StoredTree(reading: archive)
    }
    return loaded?.content
  }

  /// The values that a save has written for the host of a scene, and facts of their archive.
  package struct HostPart: Sendable {
    let values: KeyedDecoder
    /// The values of the scene, by their keys.
    let contents: [String: ValueContent]
    let savedAt: Date?
    let version: ArchiveVersion
    let byteCount: Int
  }

  /// Reads and verifies the values that were written for the host of a scene, and nothing else.
  ///
  /// - Parameter isRestoredNext: Whether the state stays open for a restore, which reads the rest.
  ///   The copy of a state in a store does not stay open: the restore asks the store first.
  /// - Returns: The values, with facts of their archive; nil if there are none.
  /// - Throws: `ArchiveError` if the stored state cannot be read.
  func readHostPart(isRestoredNext: Bool = false) async throws(ArchiveError) -> HostPart? {
    moveToNameLookedAt()
    try await fetch(.toList)
    return try await again { () throws(ArchiveError) in
      try storedHostPart(isRestoredNext: isRestoredNext)
    }
  }

  private func storedHostPart(isRestoredNext: Bool) throws(ArchiveError) -> HostPart? {
    let lock = isRestoredNext && files.link == nil ? files.claimed.taken?.lock : nil
    let found = lock == nil ? try files.archive.find() : try files.archive.findChangeable()
    guard let found else { return nil }
    let key = try currentKey(creating: false)
    let part = try files.archive.firstReadable(key, found) {
      (archive, generation) throws(ArchiveError) in
      if let lock, generation == nil {
        files.archive.storage.keepOpen(archive, key, under: lock)
      }
      let record = try archive.record(NodeRecord.application)
      let facts = try record?.container(forKey: NodeRecord.factsKey)
        .map { (values) throws(ArchiveError) in try SaveFacts(values, of: archive) }
      var byteCount = generation == nil ? found.file?.byteCount : nil
      if byteCount == nil {
        byteCount = try (generation?.storage ?? files.archive.storage).open()?.byteCount
      }
      return (
        values: try record?.container(forKey: NodeRecord.hostKey),
        contents: try ValueStore.contents(of: archive), savedAt: facts?.timestamp,
        version: archive.version, byteCount: byteCount ?? 0
      )
    }?.content
    guard let part, let values = part.values else { return nil }
    return HostPart(
      values: values, contents: part.contents, savedAt: part.savedAt, version: part.version,
      byteCount: part.byteCount)
  }

  /// Closes the archive that ``readHostPart(isRestoredNext:)`` has left open,
  /// since no restore follows.
  func closeOpened() { files.archive.storage.closeOpened() }

  /// Says that a version was read whole though it has no nodes.
  func noteRead(_ version: ArchiveVersion) {
    files.archive.known = version
  }
}

extension StoredArchive.Loaded where Content == StoredTree {
  var source: RestorationReport.Source {
    RestorationReport.Source(
      location: location, generation: generation?.reason, savedAt: content.facts?.timestamp,
      passedOver: passedOver)
  }
}
