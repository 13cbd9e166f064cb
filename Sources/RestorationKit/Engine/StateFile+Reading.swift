internal import ArchiveCodec
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Reads what is stored: the state, or else the newest of its generations that can be read.
extension StateFile {
  /// What was read of an archive, and of which one.
  struct Loaded<Content> {
    let content: Content
    let location: String
    /// Nil if it is the state itself.
    let generation: SetAsideArchive?
    /// Why the end of it was left out; nil if nothing was.
    let dropped: ArchiveError?
    let passedOver: [RestorationReport.PassedOver]

    func source(savedAt date: Date?, now: Date) -> RestorationReport.Source {
      RestorationReport.Source(
        location: location, generation: generation?.reason, savedAt: date,
        age: date.map { now.timeIntervalSince($0) }, passedOver: passedOver)
    }
  }

  /// Whether there is a state or a generation of one.
  func isAnythingStored() throws(ArchiveError) -> Bool {
    if try files.storage.open() != nil { return true }
    return try !files.storage.generations().isEmpty
  }

  /// What a body reads of the first archive that can be read; nil if nothing is stored.
  ///
  /// What is missing, empty or damaged is passed over. An end that is not whole is left
  /// out: a power cut in a save leaves one, and what was said to be stored before that save
  /// is there. A failure on the way to it may
  /// pass, so no older one takes its place then.
  ///
  /// - Parameters:
  ///   - key: The key of all of them.
  ///   - body: Reads an archive; nil passes it over, since restoring it crashed. The
  ///     state comes without a generation.
  /// - Returns: What was read, with what was passed over.
  /// - Throws: Why the newest one cannot be read, if none can be; else what the storage
  ///   throws.
  func firstReadable<Content>(
    _ key: ArchiveKey,
    _ body: (Archive, SetAsideArchive?) throws(ArchiveError) -> Content?
  ) throws(ArchiveError) -> Loaded<Content>? {
    var passedOver: [RestorationReport.PassedOver] = []
    var failure: ArchiveError?
    func load(
      _ storage: any ArchiveStorage, _ generation: SetAsideArchive?
    ) throws(ArchiveError) -> Loaded<Content>? {
      var reason = RestorationReport.PassedOver.Reason.missing
      do throws(ArchiveError) {
        let archive =
          if generation == nil, let opened = files.storage.takeOpened(key) {
            opened
          } else {
            try Archive.open(
              storage, key: key, context: files.context, limits: limits, recovery: .recover)
          }
        if let archive {
          if let content = try body(archive, generation) {
            return Loaded(
              content: content, location: storage.location, generation: generation,
              dropped: archive.dropped, passedOver: passedOver)
          }
          reason = .crashed
        }
      } catch {
        guard error.isAboutContent else { throw error }
        reason = .unreadable(error.facts)
        failure = failure ?? error
      }
      passedOver.append(RestorationReport.PassedOver(location: storage.location, reason: reason))
      return nil
    }
    if let loaded = try load(files.storage, nil) { return loaded }
    for generation in try files.storage.generations().reversed() {
      if let loaded = try load(generation.storage, generation) { return loaded }
    }
    if let failure { throw failure }
    return nil
  }

  /// Reads and verifies what is stored, nil if nothing is; marks nothing.
  func read(
    at now: Date
  ) async throws(ArchiveError) -> (tree: StoredTree, source: RestorationReport.Source)? {
    look()
    try await fetch()
    guard try isAnythingStored() else { return nil }
    let key = try existingKey()
    let loaded = try firstReadable(key) { (archive, generation) throws(ArchiveError) in
      var tree = try StoredTree(reading: archive)
      tree.replacedAt = generation?.date
      return tree
    }
    guard let loaded else { return nil }
    var tree = loaded.content
    tree.secrets = secretsToLookAt(key)
    return (tree, loaded.source(savedAt: tree.facts?.timestamp, now: now))
  }

  /// What was written in the name of a scene, and where that lies.
  struct HostPart: Sendable {
    let values: KeyedDecoder
    /// The values of the scene, by their keys.
    let contents: [String: ValueContent]
    let savedAt: Date?
    let version: ArchiveVersion
    let byteCount: Int
  }

  /// Reads and verifies what was written in the name of a scene, and nothing
  /// else; nil if nothing was.
  ///
  /// - Parameter isRestoredNext: Whether the state stays open for a restore, which reads the
  ///   rest. A copy of what a store has does not: the restore asks the store first.
  /// - Returns: What was written, with where that lies; nil if nothing was.
  /// - Throws: `ArchiveError` if what is stored cannot be read.
  func readHostPart(isRestoredNext: Bool = false) async throws(ArchiveError) -> HostPart? {
    look()
    try await fetch(.toList)
    guard try isAnythingStored() else { return nil }
    let key = try existingKey()
    let keepsOpen = isRestoredNext && claim.taken != nil && place.remote == nil
    let part = try firstReadable(key) { (archive, generation) throws(ArchiveError) in
      if keepsOpen, generation == nil { place.storage.keepOpen(archive, key) }
      let record = try archive.record(NodeRecord.application)
      let facts = try record?.container(forKey: NodeRecord.factsKey)
        .map { (values) throws(ArchiveError) in try SaveFacts(values, of: archive) }
      let file = try (generation?.storage ?? files.storage).open()
      return (
        values: try record?.container(forKey: NodeRecord.hostKey),
        contents: try ValueStore.plainContents(of: archive), savedAt: facts?.timestamp,
        version: archive.version, byteCount: file?.byteCount ?? 0
      )
    }?.content
    guard let part, let values = part.values else { return nil }
    return HostPart(
      values: values, contents: part.contents, savedAt: part.savedAt, version: part.version,
      byteCount: part.byteCount)
  }

  /// Closes what ``readHostPart(isRestoredNext:)`` has left open: no restore follows.
  func closeOpened() { place.storage.closeOpened() }

  /// Says that a version was read whole though it has no nodes.
  func know(_ version: ArchiveVersion) {
    known = version
  }

  /// Whether the next launch may show the snapshot that was taken with the save.
  func isSnapshotUsable() async throws(ArchiveError) -> Bool {
    move(to: try claim.free())
    try await fetch()
    // What is restored then may be what the store has.
    guard try isAnythingStored(), files.remote?.finding.isDoubted != true else { return false }
    let key = try existingKey()
    let stored = try firstReadable(key) { (archive, _) throws(ArchiveError) in
      (snapshot: try SnapshotUse(reading: try archive.record(NodeRecord.tree)), archive.version)
    }
    guard let (snapshot, version) = stored?.content else { return false }
    return try snapshot.isUsable(
      ignoredBefore: files.marker.read(key).content.snapshotIgnored == version)
  }
}
