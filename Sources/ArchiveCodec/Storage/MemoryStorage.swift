internal import Synchronization

/// An archive in memory, for tests and previews.
public final class MemoryStorage: ArchiveStorage {
  private struct Contents {
    var stored: StoredBytes?
    var isLocked = false
  }

  private let contents: Mutex<Contents>

  /// Creates a storage that holds the bytes, or nothing.
  ///
  /// - Parameter bytes: The bytes of an archive, or nil.
  public init(_ bytes: [UInt8]? = nil) {
    contents = Mutex(Contents(stored: bytes.map(StoredBytes.init)))
  }

  /// The word `memory`.
  public var location: String { "memory" }

  /// The stored bytes, nil if there are none; setting them is like putting
  /// another file in place.
  public var bytes: [UInt8]? {
    get { stored?.bytes }
    set { contents.withLock { $0.stored = newValue.map(StoredBytes.init) } }
  }

  fileprivate var stored: StoredBytes? { contents.withLock { $0.stored } }

  /// Opens the stored bytes; what is cut off them later is gone for the reader, too.
  public func open() throws(ArchiveError) -> (any ArchiveFile)? {
    try openForAppending()
  }

  /// Opens the bytes for appending.
  public func openForAppending() throws(ArchiveError) -> (any AppendableArchiveFile)? {
    stored.map { MemoryFile(storage: self, stored: $0, byteCount: $0.bytes.count) }
  }

  /// Makes the caller the only writer.
  public func lock() throws(ArchiveError) -> any ArchiveLock {
    let isFree = contents.withLock { contents in
      defer { contents.isLocked = true }
      return !contents.isLocked
    }
    guard isFree else { throw ArchiveError(.locked, subject: ArchiveError.thisProcess) }
    return MemoryLock(storage: self)
  }

  /// Whether there is a writer.
  public func isLocked() throws(ArchiveError) -> Bool {
    contents.withLock { $0.isLocked }
  }

  fileprivate func unlock() {
    contents.withLock { $0.isLocked = false }
  }

  /// Replaces the bytes when the body has returned.
  public func replace(
    _ body: (any ArchiveSink) throws(ArchiveError) -> Void
  ) throws(ArchiveError) {
    let sink = MemorySink()
    try body(sink)
    bytes = sink.bytes
  }

  /// Removes the bytes.
  public func remove() throws(ArchiveError) {
    bytes = nil
  }
}

/// The bytes of one archive.
///
/// Like a file, they stay for readers that have opened them, also when another
/// archive replaces them.
private final class StoredBytes: Sendable {
  private let content: Mutex<[UInt8]>

  init(_ bytes: [UInt8]) {
    content = Mutex(bytes)
  }

  var bytes: [UInt8] { content.withLock { $0 } }

  func change(_ body: (inout [UInt8]) -> Void) {
    content.withLock { body(&$0) }
  }
}

private struct MemoryFile: AppendableArchiveFile {
  let storage: MemoryStorage
  let stored: StoredBytes
  let byteCount: Int

  func read(at offset: Int, count: Int) throws(ArchiveError) -> [UInt8] {
    let bytes = stored.bytes
    guard offset >= 0, count >= 0, offset <= bytes.count, count <= bytes.count - offset else {
      throw ArchiveError(.truncated, offset: bytes.count)
    }
    return Array(bytes[offset..<offset + count])
  }

  func storedByteCount() throws(ArchiveError) -> Int? {
    storage.stored === stored ? stored.bytes.count : nil
  }

  func write(_ bytes: [UInt8], at offset: Int) throws(ArchiveError) {
    guard offset >= 0 else { throw ArchiveError(.inputOutput, offset: offset) }
    stored.change { stored in
      stored.removeSubrange(min(offset, stored.count)...)
      stored += bytes
    }
  }

  func truncate(to byteCount: Int) throws(ArchiveError) {
    guard byteCount >= 0 else { throw ArchiveError(.inputOutput, offset: byteCount) }
    stored.change { stored in stored.removeSubrange(min(byteCount, stored.count)...) }
  }

  func synchronize() throws(ArchiveError) {}
}

/// The lock of a memory: nobody can take it away, so it is held as long as the object lives.
private final class MemoryLock: ArchiveLock {
  private let storage: MemoryStorage

  init(storage: MemoryStorage) {
    self.storage = storage
  }

  deinit {
    storage.unlock()
  }

  func isHeld() throws(ArchiveError) -> Bool { true }
}

/// Collects the written bytes in one piece.
package final class MemorySink: ArchiveSink {
  package private(set) var bytes: [UInt8] = []

  package init() {}

  // Growing step by step would copy all bytes several times (benchmark: encode and seal
  // keyed records).
  func reserve(byteCount: Int) {
    bytes.reserveCapacity(byteCount)
  }

  package func write(_ more: [UInt8]) throws(ArchiveError) {
    bytes += more
  }

  /// Lets the body write bytes into the memory; the body must fill all of them.
  ///
  /// So the bytes need not be copied (benchmark: encode and seal keyed records).
  @unsafe func write(byteCount: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Void) {
    bytes.append(addingCapacity: byteCount) { span in
      unsafe span.withUnsafeMutableBufferPointer { memory, count in
        // Exactly as many bytes as were asked for: the memory may have more.
        unsafe fill(UnsafeMutableRawBufferPointer(start: memory.baseAddress, count: byteCount))
        count = byteCount
      }
    }
  }
}
