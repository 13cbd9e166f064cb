package import ArchiveCodec
package import RestorationKit
internal import Foundation
internal import Synchronization

/// A store as one process sees it: with the process its locks go.
package final class ProcessStore: StateDirectory {
  private let store: any StateDirectory
  private let locks = Mutex<[ProcessLock]>([])

  package init(_ store: any StateDirectory) {
    self.store = store
  }

  /// The process is killed.
  package func end() {
    let locks = locks.withLock { locks in
      defer { locks = [] }
      return locks
    }
    for lock in locks { lock.end() }
  }

  package func storage(named name: String) -> any ArchiveStorage {
    ProcessStorage(storage: store.storage(named: name)) { [weak self] lock in
      self?.locks.withLock { $0.append(lock) }
    }
  }

  package func names() throws(ArchiveError) -> [String] { try store.names() }

  package func removeLeftovers(where isOwn: (String) -> Bool) throws(ArchiveError) {
    try store.removeLeftovers(where: isOwn)
  }
}

private final class ProcessLock: ArchiveLock {
  private let lock: Mutex<(any ArchiveLock)?>

  init(_ lock: any ArchiveLock) {
    self.lock = Mutex(lock)
  }

  func end() {
    let lock = lock.withLock { $0.take() }
    _ = consume lock
  }

  func isHeld() throws(ArchiveError) -> Bool {
    guard let lock = lock.withLock({ $0 }) else { return false }
    return try lock.isHeld()
  }
}

/// Keeps its own lock no longer than whoever took it.
private final class TakenLock: ArchiveLock {
  private let lock: ProcessLock

  init(_ lock: ProcessLock) {
    self.lock = lock
  }

  deinit { lock.end() }

  func isHeld() throws(ArchiveError) -> Bool { try lock.isHeld() }
}

private struct ProcessStorage: ArchiveStorage {
  let storage: any ArchiveStorage
  let note: @Sendable (ProcessLock) -> Void

  var location: String { storage.location }

  func lock() throws(ArchiveError) -> any ArchiveLock {
    let lock = ProcessLock(try storage.lock())
    note(lock)
    return TakenLock(lock)
  }

  func open() throws(ArchiveError) -> (any ArchiveFile)? { try storage.open() }

  func openForAppending() throws(ArchiveError) -> (any AppendableArchiveFile)? {
    try storage.openForAppending()
  }

  func isLocked() throws(ArchiveError) -> Bool { try storage.isLocked() }

  func replace(_ body: (any ArchiveSink) throws(ArchiveError) -> Void) throws(ArchiveError) {
    try storage.replace(body)
  }

  func remove() throws(ArchiveError) { try storage.remove() }

  func setAside() throws(ArchiveError) -> String? { try storage.setAside() }

  func setAside(_ reason: SetAsideReason, at date: Date) throws(ArchiveError) -> String? {
    try storage.setAside(reason, at: date)
  }

  func setAsideArchives() throws(ArchiveError) -> [SetAsideArchive] {
    try storage.setAsideArchives()
  }

  func replace(
    settingAside reason: SetAsideReason, at date: Date,
    _ body: (any ArchiveSink) throws(ArchiveError) -> Void
  ) throws(ArchiveError) {
    try storage.replace(settingAside: reason, at: date, body)
  }

  func generations() throws(ArchiveError) -> [SetAsideArchive] { try storage.generations() }

  func putBack(_ archive: SetAsideArchive) throws(ArchiveError) { try storage.putBack(archive) }
}
