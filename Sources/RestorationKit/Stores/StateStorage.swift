internal import ArchiveCodec
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif
internal import Synchronization

/// The storage of a state, which keeps beside it what saves have replaced.
///
/// Whoever writes the state, also one that shortens its journal, keeps what was there so.
final class StateStorage: ArchiveStorage {
  private struct Content {
    var settingAside = SettingAside(generations: .none)
    var reason = SetAsideReason.previous
    /// Those that the next one stands for: of the same version of the app.
    var superseded: Set<String> = []
    /// What is kept, if that was listed.
    var generations: [SetAsideArchive]?
  }

  private let base: any ArchiveStorage
  private let content = Mutex(Content())

  init(_ base: any ArchiveStorage) {
    self.base = base
  }

  var location: String { base.location }

  /// Says what becomes of the archive that is replaced next.
  ///
  /// - Parameters:
  ///   - settingAside: When that is, and how many generations stay.
  ///   - reason: What it is set aside as.
  ///   - superseded: The generations that it stands for.
  func prepare(
    _ settingAside: SettingAside, as reason: SetAsideReason = .previous,
    superseding superseded: Set<String> = []
  ) {
    content.withLock { content in
      content.settingAside = settingAside
      content.reason = reason
      content.superseded = superseded
    }
  }

  func replace(_ body: (any ArchiveSink) throws(ArchiveError) -> Void) throws(ArchiveError) {
    let (settingAside, reason) = content.withLock { ($0.settingAside, $0.reason) }
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

  /// A date after those of all generations: a clock may have been set back.
  private func next(after date: Date) -> Date {
    guard let last = listed()?.last?.date, last >= date else { return date }
    return last.addingTimeInterval(0.001)
  }

  /// Lists what is kept anew when that is asked for next.
  func forgetGenerations() {
    content.withLock { $0.generations = nil }
  }

  /// Nil if they cannot be listed, which is no reason to fail a save.
  private func listed() -> [SetAsideArchive]? {
    if let known = content.withLock({ $0.generations }) { return known }
    do throws(ArchiveError) {
      let found = try base.generations()
      content.withLock { $0.generations = found }
      return found
    } catch {
      return nil
    }
  }

  /// What cannot be removed now is tried again with the next one.
  private func removeExcess() {
    let content = content.withLock { content in
      defer { (content.reason, content.superseded, content.generations) = (.previous, [], nil) }
      return content
    }
    guard let all = listed() else { return }
    let bound = content.settingAside.generations
    let gone =
      all.filter { $0.reason == .previous }.dropLast(bound.count(of: .previous))
      + all.filter { content.superseded.contains($0.identifier) }
      + all.filter { $0.reason == .upgraded && !content.superseded.contains($0.identifier) }
      .dropLast(bound.count(of: .upgraded))
    guard !gone.isEmpty else { return }
    do throws(ArchiveError) { try base.removeSetAside(Array(gone)) } catch {}
    self.content.withLock { $0.generations = nil }
  }

  /// Removes the generations first and the state last: whenever the process ends,
  /// no older state comes back when the state is gone.
  func remove() throws(ArchiveError) {
    content.withLock { $0.generations = nil }
    var generations = try base.generations()
    // The last one is on stable storage when it is removed, and with it those before it.
    if let last = generations.last, try base.open() == nil {
      try base.putBack(last)
      generations.removeLast()
    }
    try base.removeSetAside(generations)
    try base.remove()
  }

  func generations() throws(ArchiveError) -> [SetAsideArchive] { try base.generations() }

  func putBack(_ archive: SetAsideArchive) throws(ArchiveError) {
    content.withLock { $0.generations = nil }
    try base.putBack(archive)
  }

  func removeSetAside(_ archives: [SetAsideArchive]) throws(ArchiveError) {
    content.withLock { $0.generations = nil }
    try base.removeSetAside(archives)
  }

  // MARK: As it is

  func open() throws(ArchiveError) -> (any ArchiveFile)? { try base.open() }

  func openForAppending() throws(ArchiveError) -> (any AppendableArchiveFile)? {
    try base.openForAppending()
  }

  func lock() throws(ArchiveError) -> any ArchiveLock { try base.lock() }

  func isLocked() throws(ArchiveError) -> Bool { try base.isLocked() }

  func synchronize() throws(ArchiveError) { try base.synchronize() }

  func setAside() throws(ArchiveError) -> String? { try base.setAside() }

  func setAside(_ reason: SetAsideReason, at date: Date) throws(ArchiveError) -> String? {
    try base.setAside(reason, at: date)
  }

  func setAsideArchives() throws(ArchiveError) -> [SetAsideArchive] {
    try base.setAsideArchives()
  }
}
