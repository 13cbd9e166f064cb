internal import ArchiveCodec
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif
internal import Synchronization

/// Whoever has the storage of a state has the copy.
extension RemoteCopy: ArchiveStorage {
  var location: String { main.location }

  /// With the lock goes what was locked, and not before.
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

  /// Those that are here, and those of which it is known that the store has them.
  func setAsideArchives() throws(ArchiveError) -> [SetAsideArchive] {
    let all = try main.setAsideArchives().map(located) + storedAsides
    return all.sorted { $0.date < $1.date }
  }

  func generations() throws(ArchiveError) -> [SetAsideArchive] { try main.generations() }

  func putBack(_ archive: SetAsideArchive) throws(ArchiveError) {
    guard remoteAside(archive) != nil,
      let file = try archive.storage.open()
    else { return try main.putBack(archive) }
    // There is no file of it here.
    let bytes = try file.read(at: 0, count: file.byteCount)
    try main.replace { sink throws(ArchiveError) in try sink.write(bytes) }
    try archive.storage.remove()
  }

  /// Those that are only in the store have no file here.
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
