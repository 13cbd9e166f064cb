package import ArchiveCodec

/// A storage that passes on all calls that its type does not implement itself.
package protocol WrappedStorage: ArchiveStorage {
  var storage: any ArchiveStorage { get }
}

extension WrappedStorage {
  package var location: String { storage.location }

  package func open() throws(ArchiveError) -> (any ArchiveFile)? { try storage.open() }

  package func openForAppending() throws(ArchiveError) -> (any AppendableArchiveFile)? {
    try storage.openForAppending()
  }

  package func lock() throws(ArchiveError) -> any ArchiveLock { try storage.lock() }

  package func isLocked() throws(ArchiveError) -> Bool { try storage.isLocked() }

  package func replace(
    _ body: (any ArchiveSink) throws(ArchiveError) -> Void
  ) throws(ArchiveError) {
    try storage.replace(body)
  }

  package func remove() throws(ArchiveError) { try storage.remove() }
}

/// A file that passes on all calls that its type does not implement itself.
package protocol WrappedFile: AppendableArchiveFile {
  var file: any AppendableArchiveFile { get }
}

extension WrappedFile {
  package var byteCount: Int { file.byteCount }

  package func read(at offset: Int, count: Int) throws(ArchiveError) -> [UInt8] {
    try file.read(at: offset, count: count)
  }

  package func storedByteCount() throws(ArchiveError) -> Int? { try file.storedByteCount() }

  package func write(_ bytes: [UInt8], at offset: Int) throws(ArchiveError) {
    try file.write(bytes, at: offset)
  }

  package func truncate(to byteCount: Int) throws(ArchiveError) {
    try file.truncate(to: byteCount)
  }

  package func synchronize() throws(ArchiveError) { try file.synchronize() }
}
