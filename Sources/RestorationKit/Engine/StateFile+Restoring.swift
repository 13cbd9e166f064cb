internal import ArchiveCodec

/// Finds what to restore, and marks that a restore has begun and ended.
extension StateFile {
  /// What a restore finds.
  enum Found: Sendable {
    case nothing

    /// Another instance of the app has it.
    case inUse(by: String?)

    /// Restoring it crashed too often, so it is set aside.
    case crashed(setAsideAt: String?)

    /// A state to restore, and the number by which to end the restore; nil if
    /// it is restored as it is read only.
    case state(
      StoredTree, from: RestorationReport.Source, usesSnapshot: Bool, window: UInt64?)
  }

  /// Reads and verifies what is stored, and marks that a restore has begun.
  ///
  /// The marker is written when the state has been read: what is refused does
  /// not run anything of the app. Where the state cannot be claimed because
  /// nothing can be written there, it is restored all the same, without mark.
  func beginRestore(
    crashThreshold: Int, _ settingAside: SettingAside
  ) async throws(ArchiveError) -> Found {
    launchProblem = nil
    var isClaimed = true
    do throws(ArchiveError) {
      try await take()
      // What belongs to scenes, too, is not for each of them.
      if suffix.isEmpty { cleanUp(at: settingAside.date) }
    } catch {
      if error.code == .locked { return .inUse(by: error.subject) }
      isClaimed = false
      launchProblem = error.description
      look()
    }
    (known, otherVersion) = (nil, nil)
    return try find(crashThreshold: crashThreshold, isClaimed: isClaimed, settingAside)
  }

  private func find(
    crashThreshold: Int, isClaimed: Bool, _ settingAside: SettingAside
  ) throws(ArchiveError) -> Found {
    guard try isAnythingStored() else {
      if isClaimed { note { try place.marker.storage.remove() } }
      return .nothing
    }
    let key = try existingKey()
    var marked = readMarker(key)
    var crashed: (location: String?, isLast: Bool)?
    let loaded: Loaded<StoredTree>?
    do throws(ArchiveError) {
      loaded = try firstReadable(key) { (archive, generation) throws(ArchiveError) in
        if crashed?.isLast == true { return nil }
        if isClaimed, window == nil, let content = marked, content.begunVersion == archive.version,
          content.begunRestores >= max(1, crashThreshold)
        {
          crashed = (try setAsideCrashed(generation, settingAside), isLast: content.gaveWay)
          marked = LaunchMarker.Content(gaveWay: true)
          return nil
        }
        return try StoredTree(reading: archive)
      }
    } catch {
      guard crashed != nil, error.isAboutContent else { throw error }
      loaded = nil
    }
    guard let loaded else {
      if isClaimed { note { try place.marker.storage.remove() } }
      return crashed.map { .crashed(setAsideAt: $0.location) } ?? .nothing
    }
    let tree = loaded.content
    if tree.isWhole, loaded.generation == nil { know(tree) }
    let usesSnapshot = tree.snapshot.isUsable(
      ignoredBefore: marked?.snapshotIgnored == tree.version)
    return .state(
      tree, from: loaded.source(savedAt: tree.facts?.timestamp, now: settingAside.date),
      usesSnapshot: usesSnapshot, window: isClaimed ? begin(loaded, &marked, key) : nil)
  }

  /// Marks that a restore has begun; returns the number by which to end it.
  private func begin(
    _ loaded: Loaded<StoredTree>, _ marked: inout LaunchMarker.Content?, _ key: ArchiveKey
  ) -> UInt64 {
    let tree = loaded.content
    // Those of another state say nothing about this one.
    if marked?.begunVersion != tree.version { marked?.begunRestores = 0 }
    // A restore of this launch that has not ended is not counted twice.
    if window == nil, let begun = marked?.begunRestores {
      marked?.begunRestores = min(max(0, begun), .max - 1) + 1
    }
    marked?.begunVersion = tree.version
    marked?.snapshotIgnored = tree.snapshot == .ignoredOnce ? tree.version : nil
    if let marked { note { try place.marker.write(marked, key) } }
    windowCount += 1
    window = Window(
      number: windowCount, version: tree.version, isWhole: tree.isWhole, marked: marked)
    return windowCount
  }

  private func know(_ tree: StoredTree) {
    known = tree.version
    if let facts = tree.facts, facts.applicationVersion != applicationVersion {
      otherVersion = OtherVersion(name: facts.applicationVersion)
    }
  }

  /// Sets a state aside that crashed; a generation takes the place of the state for it.
  private func setAsideCrashed(
    _ generation: SetAsideArchive?, _ settingAside: SettingAside
  ) throws(ArchiveError) -> String? {
    if let generation {
      _ = try setAside(.unreadable, settingAside)
      try place.storage.putBack(generation)
    }
    return try setAside(.crashed, settingAside)
  }

  /// Takes the mark away; with the date of a restore also the state, if it is still the
  /// one that was restored and nothing of it was unreadable.
  func endRestore(window number: UInt64, consuming settingAside: SettingAside? = nil) {
    guard var window, window.number == number else { return }
    self.window = nil
    window.marked?.endRestore()
    // Whoever has the state now has its marker, too.
    guard let taken = claim.taken, taken.name + suffix == place.name else { return }
    note {
      guard try taken.lock.isHeld() else { return }
      let key = try existingKey()
      if let marked = window.marked { try place.marker.write(marked, key) }
      guard let settingAside, window.isWhole else { return }
      let stored = try firstReadable(key) { (archive, _) in archive.version }
      guard let stored, stored.content == window.version else { return }
      open.close()
      // What a generation stood in for cannot be read.
      if stored.generation != nil { _ = try setAside(.unreadable, settingAside) }
      try place.storage.remove()
    }
  }

  /// Nil if what is there must not be replaced, or cannot be.
  private func readMarker(_ key: ArchiveKey) -> LaunchMarker.Content? {
    do {
      return try place.marker.read(key)
    } catch {
      launchProblem = error.description
      return nil
    }
  }
}
