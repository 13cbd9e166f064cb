internal import ArchiveCodec
internal import RestorationFoundation
internal import Synchronization

/// A storage that counts its changes, for a reader that sends them elsewhere.
final class TrackedStorage: ArchiveStorage {
  /// The changes of a storage.
  struct Changes: Sendable {
    /// Grows with each change.
    var count: UInt64 = 0
    /// How many bytes at the beginning have not changed since ``mark(_:)``.
    var unchangedByteCount = 0
    /// Grows when an archive is set aside.
    var setAsideCount: UInt64 = 0
  }

  private let base: any ArchiveStorage
  private let keepsGenerations: Bool
  private let content = Mutex(Changes())
  let location: String

  /// Tracks the changes that are made through this storage.
  ///
  /// - Parameters:
  ///   - base: The storage itself.
  ///   - location: Where the state is, for a person to read.
  ///   - keepsGenerations: Whether generations outlast the process there.
  init(_ base: any ArchiveStorage, location: String, keepsGenerations: Bool) {
    (self.base, self.location) = (base, location)
    self.keepsGenerations = keepsGenerations
  }

  var changes: Changes { content.withLock { $0 } }

  /// Marks so many bytes as known elsewhere.
  func mark(_ byteCount: Int) {
    content.withLock { $0.unchangedByteCount = byteCount }
  }

  /// Notes a change of the bytes from an offset on.
  fileprivate func note(changeAt offset: Int) {
    content.withLock { changes in
      changes.count += 1
      changes.unchangedByteCount = min(changes.unchangedByteCount, offset)
    }
  }

  private func noteAside() {
    content.withLock { $0.setAsideCount += 1 }
  }

  /// The stored bytes; nil if nothing is stored.
  func bytes() throws(ArchiveError) -> [UInt8]? {
    try bytes(from: 0)
  }

  /// The stored bytes from an offset on; nil if nothing is stored, or fewer bytes.
  func bytes(from offset: Int) throws(ArchiveError) -> [UInt8]? {
    guard let file = try base.open(), file.byteCount >= offset else { return nil }
    return try file.read(at: offset, count: file.byteCount - offset)
  }

  /// Stores bytes that are known elsewhere, which is no change; nil removes the stored ones.
  func adopt(_ bytes: [UInt8]?) throws(ArchiveError) {
    if let bytes {
      try base.replace { sink throws(ArchiveError) in try sink.write(bytes) }
    } else {
      try base.remove()
    }
    mark(bytes?.count ?? 0)
  }

  // MARK: Changes

  func replace(_ body: (any ArchiveSink) throws(ArchiveError) -> Void) throws(ArchiveError) {
    defer { note(changeAt: 0) }
    try base.replace(body)
  }

  func replace(
    settingAside reason: SetAsideReason, at date: Date,
    _ body: (any ArchiveSink) throws(ArchiveError) -> Void
  ) throws(ArchiveError) {
    guard keepsGenerations || !reason.isGeneration else { return try replace(body) }
    defer {
      note(changeAt: 0)
      if !reason.isGeneration { noteAside() }
    }
    try base.replace(settingAside: reason, at: date, body)
  }

  func remove() throws(ArchiveError) {
    guard try base.open() != nil else { return try base.remove() }
    defer { note(changeAt: 0) }
    try base.remove()
  }

  func setAside() throws(ArchiveError) -> String? {
    defer {
      note(changeAt: 0)
      noteAside()
    }
    return try base.setAside()
  }

  func setAside(_ reason: SetAsideReason, at date: Date) throws(ArchiveError) -> String? {
    defer {
      note(changeAt: 0)
      noteAside()
    }
    return try base.setAside(reason, at: date)
  }

  func putBack(_ archive: SetAsideArchive) throws(ArchiveError) {
    defer { note(changeAt: 0) }
    try base.putBack(archive)
  }

  func openForAppending() throws(ArchiveError) -> (any AppendableArchiveFile)? {
    try base.openForAppending().map { TrackedFile(file: $0, storage: self) }
  }

  // MARK: Calls that are passed on

  func open() throws(ArchiveError) -> (any ArchiveFile)? { try base.open() }

  func lock() throws(ArchiveError) -> any ArchiveLock { try base.lock() }

  func isLocked() throws(ArchiveError) -> Bool { try base.isLocked() }

  func setAsideArchives() throws(ArchiveError) -> [SetAsideArchive] {
    try base.setAsideArchives()
  }

  func generations() throws(ArchiveError) -> [SetAsideArchive] { try base.generations() }

  func synchronize() throws(ArchiveError) { try base.synchronize() }

  func removeSetAside(_ archives: [SetAsideArchive]) throws(ArchiveError) {
    try base.removeSetAside(archives)
  }
}

private struct TrackedFile: AppendableArchiveFile {
  let file: any AppendableArchiveFile
  let storage: TrackedStorage

  var byteCount: Int { file.byteCount }

  func read(at offset: Int, count: Int) throws(ArchiveError) -> [UInt8] {
    try file.read(at: offset, count: count)
  }

  func storedByteCount() throws(ArchiveError) -> Int? { try file.storedByteCount() }

  func write(_ bytes: [UInt8], at offset: Int) throws(ArchiveError) {
    defer { storage.note(changeAt: offset) }
    try file.write(bytes, at: offset)
  }

  func truncate(to byteCount: Int) throws(ArchiveError) {
    defer { storage.note(changeAt: byteCount) }
    try file.truncate(to: byteCount)
  }

  func synchronize() throws(ArchiveError) { try file.synchronize() }
}
