internal import ArchiveCodec
internal import RestorationKit
internal import Synchronization

/// The storage of a state counts its changes.
extension RemoteCopy: ArchiveStorage {
  var location: String { "\(store.location), “\(name)”" }

  func open() throws(ArchiveError) -> (any ArchiveFile)? { try files.main.open() }

  func openForAppending() throws(ArchiveError) -> (any AppendableArchiveFile)? {
    try files.main.openForAppending().map { TrackedFile(file: $0, copy: self) }
  }

  func replace(_ body: (any ArchiveSink) throws(ArchiveError) -> Void) throws(ArchiveError) {
    noteBeforeReplacing()
    defer {
      note(changeAt: 0)
      tracked.withLock { $0.isReplaced = true }
    }
    try files.main.replace(body)
  }

  func remove() throws(ArchiveError) {
    let isThere = try files.main.open() != nil
    defer { if isThere { note(changeAt: 0) } }
    try files.main.remove()
    take(.removed)
  }

  func lock() throws(ArchiveError) -> any ArchiveLock { try files.main.lock() }

  func isLocked() throws(ArchiveError) -> Bool { try files.main.isLocked() }

  /// Notes a change of the bytes from an offset on.
  fileprivate func note(changeAt offset: Int) {
    tracked.withLock { tracked in
      tracked.count += 1
      tracked.unchangedByteCount = min(tracked.unchangedByteCount, offset)
    }
  }

  /// Marks so many bytes as known to the store.
  func mark(_ byteCount: Int) { tracked.withLock { $0.unchangedByteCount = byteCount } }

  /// The stored bytes from an offset on; nil if nothing is stored, or fewer bytes.
  func bytes(from offset: Int = 0) throws(ArchiveError) -> [UInt8]? {
    guard let file = try files.main.open(), file.byteCount >= offset else { return nil }
    return try file.read(at: offset, count: file.byteCount - offset)
  }

  /// Stores bytes that the store has, which is no change; nil removes the stored ones.
  func adopt(_ bytes: [UInt8]?) throws(ArchiveError) {
    versions.withLock { $0.here = nil }
    if let bytes {
      try files.main.replace { sink throws(ArchiveError) in try sink.write(bytes) }
    } else {
      try files.main.remove()
    }
    mark(bytes?.count ?? 0)
  }
}

private struct TrackedFile: AppendableArchiveFile {
  let file: any AppendableArchiveFile
  let copy: RemoteCopy

  var byteCount: Int { file.byteCount }
  var hasOtherNames: Bool { file.hasOtherNames }

  func read(at offset: Int, count: Int) throws(ArchiveError) -> [UInt8] {
    try file.read(at: offset, count: count)
  }

  func storedByteCount() throws(ArchiveError) -> Int? { try file.storedByteCount() }

  func write(_ bytes: [UInt8], at offset: Int) throws(ArchiveError) {
    defer { copy.note(changeAt: offset) }
    try file.write(bytes, at: offset)
  }

  func truncate(to byteCount: Int) throws(ArchiveError) {
    defer { copy.note(changeAt: byteCount) }
    try file.truncate(to: byteCount)
  }

  func synchronize() throws(ArchiveError) { try file.synchronize() }
}
