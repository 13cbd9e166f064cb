internal import ArchiveCodec
internal import RestorationFoundation
internal import Synchronization

/// The storage of a state keeps the copy alive.
extension RemoteCopy: ArchiveStorage {
  var location: String { main.location }

  /// The lock keeps the copy alive: the locked files must not go before the lock.
  func lock() throws(ArchiveError) -> any ArchiveLock {
    RemoteCopyLock(lock: try main.lock(), copy: self)
  }

  func open() throws(ArchiveError) -> (any ArchiveFile)? { try main.open() }

  func openForAppending() throws(ArchiveError) -> (any AppendableArchiveFile)? {
    try main.openForAppending()
  }

  func isLocked() throws(ArchiveError) -> Bool { try main.isLocked() }

  func replace(_ body: (any ArchiveSink) throws(ArchiveError) -> Void) throws(ArchiveError) {
    noteBeforeReplacing()
    defer { noteFirst() }
    try main.replace(body)
  }

  func replace(
    settingAside reason: SetAsideReason, at date: Date,
    _ body: (any ArchiveSink) throws(ArchiveError) -> Void
  ) throws(ArchiveError) {
    noteBeforeReplacing()
    defer { noteFirst() }
    try main.replace(settingAside: reason, at: date, body)
  }

  func remove() throws(ArchiveError) {
    try main.remove()
    noteRemoval()
  }

  func synchronize() throws(ArchiveError) { try main.synchronize() }

  func setAside() throws(ArchiveError) -> String? { try main.setAside() }

  func setAside(_ reason: SetAsideReason, at date: Date) throws(ArchiveError) -> String? {
    guard let location = try main.setAside(reason, at: date) else { return nil }
    guard !isLasting, !reason.isGeneration else { return location }
    return try main.setAsideArchives().last.map { located($0).storage.location } ?? location
  }

  /// The local set-aside states, and those that are known to be in the store.
  func setAsideArchives() throws(ArchiveError) -> [SetAsideArchive] {
    let all = try main.setAsideArchives().map(located) + storedAsides
    return all.sorted { $0.date < $1.date }
  }

  func generations() throws(ArchiveError) -> [SetAsideArchive] { try main.generations() }

  func putBack(_ archive: SetAsideArchive) throws(ArchiveError) {
    guard remoteAside(archive) != nil,
      let file = try archive.storage.open()
    else { return try main.putBack(archive) }
    // The state has no local file, so its bytes are written instead of moving one.
    let bytes = try file.read(at: 0, count: file.byteCount)
    try main.replace { sink throws(ArchiveError) in try sink.write(bytes) }
    try archive.storage.remove()
  }

  /// A state that is only in the store has no file here, so only its bytes in memory go.
  func removeSetAside(_ archives: [SetAsideArchive]) throws(ArchiveError) {
    let remote = Set(
      asides.withLock { asides in
        asides.stored.filter { $0.stored != nil }.map(\.identifier)
      })
    for archive in archives where remote.contains(archive.identifier) {
      try archive.storage.remove()
    }
    try main.removeSetAside(archives.filter { !remote.contains($0.identifier) })
  }
}

private final class RemoteCopyLock: ArchiveLock {
  private let lock: any ArchiveLock
  private let copy: RemoteCopy

  init(lock: any ArchiveLock, copy: RemoteCopy) {
    (self.lock, self.copy) = (lock, copy)
  }

  func isHeld() throws(ArchiveError) -> Bool { try lock.isHeld() }
}
