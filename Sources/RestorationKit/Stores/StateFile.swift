package import ArchiveCodec
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The stored state of one keeper; reads and writes one after the other.
package actor StateFile {
  private let storage: any ArchiveStorage
  private let keys: any KeyProvider
  private let context: ArchiveContext
  private let limits: ArchiveLimits

  /// The archive that was read whole, or written, here.
  private var known: ArchiveVersion?
  /// Whether nobody has read here what is stored, or the last one who tried could
  /// not: then it may be better than what is saved next.
  private var isUnread = true
  /// Not reported yet, because what came after it failed.
  private var setAside: String?
  private var lastNumber: UInt64 = 0

  private let marker: LaunchMarker
  /// The restore that has begun here and not ended, with what the marker says.
  private var window: Window?
  private var windowCount: UInt64 = 0
  /// Why the marker or a state that was used up is not as it should be.
  private(set) var launchProblem: String?

  private struct Window {
    let number: UInt64
    let version: ArchiveVersion
    let isWhole: Bool
    /// Nil if there is no marker that may be changed.
    var marked: LaunchMarker.Content?
  }

  /// Creates the file of a state.
  ///
  /// - Parameters:
  ///   - storage: Where the state is.
  ///   - launches: Where it is kept whether launches end.
  ///   - keys: Gives the key of both.
  ///   - context: The context of the state.
  ///   - limits: What its records may hold; not for the launches.
  package init(
    storage: any ArchiveStorage, launches: any ArchiveStorage, keys: any KeyProvider,
    context: ArchiveContext, limits: ArchiveLimits = .standard
  ) {
    self.storage = storage
    self.keys = keys
    self.context = context
    self.limits = limits
    marker = LaunchMarker(
      storage: launches, context: ArchiveContext(context.fields + ["launch"]))
  }

  /// What a restore finds.
  enum Found: Sendable {
    case nothing

    /// Restoring it crashed too often, so it is kept under another name.
    case crashed(keptAt: String?)

    /// A state to restore, and the number by which to end the restore.
    case state(StoredTree, usesSnapshot: Bool, window: UInt64)
  }

  /// Reads and verifies what is stored, and marks that a restore has begun.
  ///
  /// The marker is written when the state has been read: what is refused does
  /// not run anything of the app.
  func beginRestore(crashThreshold: Int) throws(ArchiveError) -> Found {
    isUnread = true
    let found = try find(crashThreshold: crashThreshold)
    isUnread = false
    return found
  }

  private func find(crashThreshold: Int) throws(ArchiveError) -> Found {
    launchProblem = nil
    guard try storage.open() != nil else {
      note { try marker.storage.remove() }
      return .nothing
    }
    let key = try existingKey()
    var marked = readMarker(key)
    if window == nil, let marked, marked.begunRestores >= max(1, crashThreshold) {
      let kept = try storage.setAside()
      note { try marker.storage.remove() }
      return .crashed(keptAt: kept)
    }
    guard let archive = try open(key) else {
      return .nothing
    }
    let tree = try StoredTree(reading: archive)
    if tree.isWhole { known = tree.version }
    let usesSnapshot = tree.snapshot.isUsable(
      ignoredBefore: marked?.snapshotIgnored == tree.version)
    // A restore of this launch that has not ended is not counted twice.
    if window == nil, let begun = marked?.begunRestores {
      marked?.begunRestores = min(max(0, begun), .max - 1) + 1
    }
    marked?.snapshotIgnored = tree.snapshot == .ignoredOnce ? tree.version : nil
    if let marked { note { try marker.write(marked, key) } }
    windowCount += 1
    window = Window(
      number: windowCount, version: tree.version, isWhole: tree.isWhole, marked: marked)
    return .state(tree, usesSnapshot: usesSnapshot, window: windowCount)
  }

  /// Reads and verifies what is stored, nil if nothing is; marks nothing.
  func read() throws(ArchiveError) -> StoredTree? {
    guard try storage.open() != nil else { return nil }
    guard let archive = try open(existingKey()) else {
      return nil
    }
    return try StoredTree(reading: archive)
  }

  /// What was written in the name of a scene, and where that lies.
  struct HostPart: Sendable {
    let values: KeyedDecoder
    let savedAt: Date?
    let version: ArchiveVersion
    let byteCount: Int
  }

  /// Reads and verifies what was written in the name of a scene, and nothing
  /// else; nil if nothing was.
  func readHostPart() throws(ArchiveError) -> HostPart? {
    guard let opened = try storage.open() else {
      isUnread = false
      return nil
    }
    let stored = try open(existingKey())
    isUnread = false
    guard let archive = stored,
      let record = try archive.record(NodeRecord.application),
      let values = try record.container(forKey: NodeRecord.hostKey)
    else { return nil }
    let facts = try record.container(forKey: NodeRecord.factsKey).map(SaveFacts.init)
    return HostPart(
      values: values, savedAt: facts?.timestamp, version: archive.version,
      byteCount: opened.byteCount)
  }

  /// Takes the mark away; with `consuming` also the state, if it is still the
  /// one that was restored and nothing of it was unreadable.
  func endRestore(window number: UInt64, consuming: Bool) {
    guard var window, window.number == number else { return }
    self.window = nil
    window.marked?.begunRestores = 0
    note {
      let key = try existingKey()
      if let marked = window.marked { try marker.write(marked, key) }
      guard consuming, window.isWhole else { return }
      let lock = try storage.lock()
      defer { withExtendedLifetime(lock) {} }
      let stored = try open(key)
      if stored?.version == window.version { try storage.remove() }
    }
  }

  /// Whether the next launch may show the snapshot that was taken with the save.
  func isSnapshotUsable() throws(ArchiveError) -> Bool {
    guard try storage.open() != nil else { return false }
    let key = try existingKey()
    guard let archive = try open(key) else { return false }
    let snapshot = try SnapshotUse(reading: try archive.record(NodeRecord.tree))
    let ignored = try marker.read(key).snapshotIgnored
    return snapshot.isUsable(ignoredBefore: ignored == archive.version)
  }

  private func open(_ key: ArchiveKey) throws(ArchiveError) -> Archive? {
    try Archive.open(storage, key: key, context: context, limits: limits)
  }

  private func existingKey() throws(ArchiveError) -> ArchiveKey {
    guard let key = try keys.key(creating: false) else {
      throw ArchiveError(.keyMissing, location: keys.location)
    }
    return key
  }

  /// Nil if what is there must not be replaced, or cannot be.
  private func readMarker(_ key: ArchiveKey) -> LaunchMarker.Content? {
    do {
      return try marker.read(key)
    } catch {
      launchProblem = error.description
      return nil
    }
  }

  /// Launches go on without a marker: it must never stop a restore.
  private func note(_ body: () throws -> Void) {
    do {
      try body()
    } catch {
      launchProblem = "\(error)"
    }
  }

  package struct Written: Sendable {
    package let summary: Archive.Summary
    package let setAside: String?
  }

  /// Writes a state, nil if a later one was written before; the number grows
  /// with every walk.
  ///
  /// While another writer has the state, it waits, but not for long.
  package func write(
    _ records: RecordBatch, number: UInt64
  ) async throws(ArchiveError) -> Written? {
    guard number > lastNumber else { return nil }
    let lock = try await storage.lock(within: Self.longestWait)
    // A later state may have been written meanwhile.
    guard number > lastNumber else { return nil }
    guard let key = try keys.key(creating: true) else {
      throw ArchiveError(.keyMissing, location: keys.location)
    }
    let summary = try writer(key, lock).rewrite(records)
    known = summary.version
    lastNumber = number
    return Written(summary: summary, setAside: reportSetAside())
  }

  /// Long enough for another save, short enough for the end of an app.
  private static let longestWait = Duration.seconds(1)

  /// Removes what is stored, but keeps what cannot be read; says where.
  package func decline(number: UInt64) async throws(ArchiveError) -> String? {
    guard number > lastNumber else { return nil }
    guard isAnythingStored else {
      lastNumber = number
      return nil
    }
    let lock = try await storage.lock(within: Self.longestWait)
    defer { withExtendedLifetime(lock) {} }
    guard number > lastNumber else { return nil }
    if let key = try keys.key(creating: false) {
      _ = try writer(key, lock)
      try storage.remove()
    } else {
      setAside = try storage.setAside() ?? setAside
    }
    lastNumber = number
    return reportSetAside()
  }

  /// Removes what is stored, whatever it is.
  package func discard(number: UInt64) async throws(ArchiveError) {
    guard number > lastNumber else { return }
    if isAnythingStored {
      let lock = try await storage.lock(within: Self.longestWait)
      defer { withExtendedLifetime(lock) {} }
      guard number > lastNumber else { return }
      try storage.remove()
    }
    // Crashes of what is gone are not counted for what comes after it.
    note { try marker.storage.remove() }
    lastNumber = number
  }

  /// A writer that may replace what is stored: what must not be replaced was
  /// set aside.
  ///
  /// What nobody has read here may be better than what is saved: an app goes on
  /// with its defaults after a restore that failed for a reason that passes.
  /// An archive that cannot be read whole may be read again one day: with a
  /// newer version of the app, or with the key that is missing. So it is kept.
  /// Another process may have put one there at any time, so every save looks;
  /// it reads the whole only if it is not the one that is known here. Keys and
  /// passphrases that somebody added open what the writer writes, too.
  private func writer(
    _ key: ArchiveKey, _ lock: any ArchiveLock
  ) throws(ArchiveError) -> ArchiveWriter {
    func open() throws(ArchiveError) -> ArchiveWriter {
      try ArchiveWriter(
        storage, with: .key(key), context: context, lock: lock, limits: limits,
        recovery: .strict)
    }
    do throws(ArchiveError) {
      let writer = try open()
      guard let archive = writer.archive, try !isReplaceable(archive) else { return writer }
    } catch  where error.isAboutContent {
    }
    setAside = try storage.setAside() ?? setAside
    return try open()
  }

  /// A lock makes a directory and a file, which nothing to remove is not worth.
  private var isAnythingStored: Bool {
    do {
      return try storage.open() != nil
    } catch {
      // What cannot be opened is there.
      return true
    }
  }

  private func isReplaceable(_ archive: Archive) throws(ArchiveError) -> Bool {
    guard archive.isWritable, archive.version.generation < .max else { return false }
    guard archive.version != known else { return true }
    guard !isUnread else { return false }
    return try StoredTree(reading: archive).isWhole
  }

  private func reportSetAside() -> String? {
    defer { setAside = nil }
    return setAside
  }
}
