internal import ArchiveCodec
internal import RestorationFoundation
internal import Synchronization

/// The storage of a state, which keeps replaced archives beside it as generations.
///
/// The storage does this for every writer, also for one that only shortens its journal.
package final class StateStorage: ArchiveStorage {
  private struct Opened {
    let archive: Archive
    let key: CurrentKey
    /// The lock that has kept others out since the archive was opened; who lets it go gives the
    /// state away.
    weak var lock: (any ArchiveLock)?
  }

  private struct Replacement {
    var settingAside = SettingAside(generations: .none)
    var reason = SetAsideReason.previous
    /// The generations of the same version of the app as the replaced archive, which
    /// makes them superfluous.
    var superseded: Set<String> = []
    /// The generations, if they were listed.
    var generations: [SetAsideArchive]?
    /// An archive whose rest the next reader needs.
    var opened: Opened?
  }

  private let base: any ArchiveStorage
  private let replacement = Mutex(Replacement())

  init(_ base: any ArchiveStorage) {
    self.base = base
  }

  var location: String { base.location }

  /// Says what becomes of the archive that is replaced next.
  ///
  /// - Parameters:
  ///   - settingAside: The date of the replacement, and how many generations stay.
  ///   - reason: The reason with which the archive is set aside.
  ///   - superseded: The generations that the archive makes superfluous.
  func prepare(
    _ settingAside: SettingAside, as reason: SetAsideReason = .previous,
    superseding superseded: Set<String> = []
  ) {
    replacement.withLock { replacement in
      replacement.settingAside = settingAside
      replacement.reason = reason
      replacement.superseded = superseded
    }
  }

  /// Keeps an archive open for the next reader, until something changes here.
  ///
  /// Nobody tells this storage of a change by another process, so the archive is good only under
  /// the lock that keeps others out now.
  func keepOpen(_ archive: Archive, _ key: CurrentKey, under lock: any ArchiveLock) {
    replacement.withLock { $0.opened = Opened(archive: archive, key: key, lock: lock) }
  }

  /// The key of an archive that was kept open; nil if there is none, or if others could write since.
  func keyOfOpened(under lock: (any ArchiveLock)?) -> CurrentKey? {
    replacement.withLock { replacement in
      guard let opened = replacement.opened, let lock, lock === opened.lock else { return nil }
      return opened.key
    }
  }

  /// Takes the archive that was kept open.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - lock: The lock, which the caller has found to be held.
  /// - Returns: The archive; nil if there is none, if another key is to open it, or if others could
  ///   write since.
  func takeOpened(_ key: ArchiveKey, under lock: (any ArchiveLock)?) -> Archive? {
    let opened = replacement.withLock { $0.opened.take() }
    guard let opened, let lock, lock === opened.lock, opened.key.key.isSame(as: key) else {
      return nil
    }
    return opened.archive
  }

  /// Closes an archive that was kept open and is out of date, or that nobody reads any more.
  func closeOpened() {
    replacement.withLock { $0.opened = nil }
  }

  func replace(_ body: (any ArchiveSink) throws(ArchiveError) -> Void) throws(ArchiveError) {
    closeOpened()
    let (settingAside, reason) = replacement.withLock { ($0.settingAside, $0.reason) }
    guard !reason.isGeneration || settingAside.generations.count(of: reason) > 0 else {
      try base.replace(body)
      return removeExcess()
    }
    do throws(ArchiveError) {
      try base.replace(settingAside: reason, at: next(after: settingAside.date), body)
    } catch {
      if error.code == .notDurable { removeExcess() }
      throw error
    }
    removeExcess()
  }

  /// A date after the dates of all generations: a clock may have been set back.
  private func next(after date: Date) -> Date {
    guard let last = listed()?.last?.date, last >= date else { return date }
    return last.addingTimeInterval(0.001)
  }

  /// Reads and lists anew what is stored and kept when that is asked for next.
  func forgetGenerations() {
    replacement.withLock { ($0.generations, $0.opened) = (nil, nil) }
  }

  /// The generations; nil if they cannot be listed, which is no reason to fail a save.
  private func listed() -> [SetAsideArchive]? {
    if let known = replacement.withLock({ $0.generations }) { return known }
    do throws(ArchiveError) {
      let found = try base.generations()
      replacement.withLock { $0.generations = found }
      return found
    } catch {
      return nil
    }
  }

  /// Removes the generations beyond the bound.
  ///
  /// A failure is left to the next save, which tries again.
  private func removeExcess() {
    let replacement = replacement.withLock { next in
      defer { (next.reason, next.superseded, next.generations) = (.previous, [], nil) }
      return next
    }
    let bound = replacement.settingAside.generations
    if let before = replacement.generations, replacement.superseded.isEmpty,
      bound.hasRoom(besides: before)
    {
      return
    }
    guard let all = listed() else { return }
    let gone =
      all.filter { $0.reason == .previous }.dropLast(bound.count(of: .previous))
      + all.filter { replacement.superseded.contains($0.identifier) }
      + all.filter { $0.reason == .upgraded && !replacement.superseded.contains($0.identifier) }
      .dropLast(bound.count(of: .upgraded))
    guard !gone.isEmpty else { return }
    do throws(ArchiveError) { try base.removeSetAside(Array(gone)) } catch {}
    self.replacement.withLock { $0.generations = nil }
  }

  /// Removes the generations first and the state last: whenever the process ends,
  /// no older state comes back when the state is gone.
  func remove() throws(ArchiveError) {
    forgetGenerations()
    var generations = try base.generations()
    // Without a state a restore takes the newest generation, so that one has to go last: it
    // takes the place of the state. Its removal is synced, and with it the removals before.
    if let last = generations.last, try base.open() == nil {
      try base.putBack(last)
      generations.removeLast()
    }
    try base.removeSetAside(generations)
    try base.remove()
  }

  func generations() throws(ArchiveError) -> [SetAsideArchive] {
    let found = try base.generations()
    replacement.withLock { $0.generations = found }
    return found
  }

  func putBack(_ archive: SetAsideArchive) throws(ArchiveError) {
    forgetGenerations()
    try base.putBack(archive)
  }

  /// Puts an archive back, and sets the stored one aside; one of them is in its place at any moment.
  func putBack(
    _ archive: SetAsideArchive, settingAside reason: SetAsideReason, at date: Date, keepingIt: Bool
  ) throws(ArchiveError) {
    forgetGenerations()
    try base.putBack(archive, settingAside: reason, at: date, keepingIt: keepingIt)
  }

  func removeSetAside(_ archives: [SetAsideArchive]) throws(ArchiveError) {
    replacement.withLock { $0.generations = nil }
    try base.removeSetAside(archives)
  }

  // MARK: Calls that are passed on

  func open() throws(ArchiveError) -> (any ArchiveFile)? { try base.open() }

  func openForAppending() throws(ArchiveError) -> (any AppendableArchiveFile)? {
    closeOpened()
    return try base.openForAppending()
  }

  func lock() throws(ArchiveError) -> any ArchiveLock { try base.lock() }

  func isLocked() throws(ArchiveError) -> Bool { try base.isLocked() }

  func synchronize() throws(ArchiveError) { try base.synchronize() }

  func setAside() throws(ArchiveError) -> String? {
    closeOpened()
    return try base.setAside()
  }

  func setAside(_ reason: SetAsideReason, at date: Date) throws(ArchiveError) -> String? {
    closeOpened()
    return try base.setAside(reason, at: date)
  }

  func setAsideArchives() throws(ArchiveError) -> [SetAsideArchive] {
    try base.setAsideArchives()
  }
}
