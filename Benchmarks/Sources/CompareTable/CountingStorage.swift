internal import ArchiveCodec
internal import Synchronization

/// A storage that counts how often what was appended is put on stable storage.
final class CountingStorage: ArchiveStorage {
  private let storage: any ArchiveStorage
  private let count = Atomic(0)

  init(_ storage: any ArchiveStorage) {
    self.storage = storage
  }

  var synchronizeCount: Int { count.load(ordering: .relaxed) }

  var byteCount: Int {
    get throws(ArchiveError) { try storage.open()?.byteCount ?? 0 }
  }

  var location: String { storage.location }

  func open() throws(ArchiveError) -> (any ArchiveFile)? {
    try storage.open()
  }

  func replace(
    _ body: (any ArchiveSink) throws(ArchiveError) -> Void
  ) throws(ArchiveError) {
    try storage.replace(body)
  }

  func openForAppending() throws(ArchiveError) -> (any AppendableArchiveFile)? {
    guard let file = try storage.openForAppending() else { return nil }
    return CountingFile(file: file) { self.count.add(1, ordering: .relaxed) }
  }

  func lock() throws(ArchiveError) -> any ArchiveLock {
    try storage.lock()
  }

  func isLocked() throws(ArchiveError) -> Bool {
    try storage.isLocked()
  }

  func remove() throws(ArchiveError) {
    try storage.remove()
  }
}

private struct CountingFile: AppendableArchiveFile {
  let file: any AppendableArchiveFile
  let countSynchronize: @Sendable () -> Void

  var byteCount: Int { file.byteCount }

  func read(at offset: Int, count: Int) throws(ArchiveError) -> [UInt8] {
    try file.read(at: offset, count: count)
  }

  func storedByteCount() throws(ArchiveError) -> Int? {
    try file.storedByteCount()
  }

  func write(_ bytes: [UInt8], at offset: Int) throws(ArchiveError) {
    try file.write(bytes, at: offset)
  }

  func truncate(to byteCount: Int) throws(ArchiveError) {
    try file.truncate(to: byteCount)
  }

  func synchronize() throws(ArchiveError) {
    countSynchronize()
    try file.synchronize()
  }
}
