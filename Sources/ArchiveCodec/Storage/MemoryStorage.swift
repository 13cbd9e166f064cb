internal import Synchronization

/// An archive in memory, for tests and previews.
public final class MemoryStorage: ArchiveStorage {
  private struct Contents {
    var stored: StoredBytes?
    var setAside: [[UInt8]] = []
    var isLocked = false
  }

  private let contents: Mutex<Contents>

  /// Creates a storage that holds the bytes, or nothing.
  ///
  /// - Parameter bytes: The bytes of an archive, or nil.
  public init(_ bytes: [UInt8]? = nil) {
    contents = Mutex(Contents(stored: bytes.map(StoredBytes.init)))
  }

  /// The word memory.
  public var location: String { "memory" }

  /// The stored bytes, nil if there are none; new ones take the place of the
  /// old, as another file does.
  public var bytes: [UInt8]? {
    get { stored?.bytes }
    set { contents.withLock { $0.stored = newValue.map(StoredBytes.init) } }
  }

  /// What ``setAside()`` moved away, oldest first.
  public var setAsideBytes: [[UInt8]] {
    contents.withLock { $0.setAside }
  }

  fileprivate var stored: StoredBytes? { contents.withLock { $0.stored } }

  /// Opens the bytes as they are now.
  public func open() throws(ArchiveError) -> (any ArchiveFile)? {
    bytes.map(MemoryFile.init)
  }

  /// Opens the bytes for appending.
  public func openForAppending() throws(ArchiveError) -> (any AppendableArchiveFile)? {
    stored.map { AppendableMemoryFile(storage: self, stored: $0, byteCount: $0.bytes.count) }
  }

  /// Makes the caller the only writer.
  public func lock() throws(ArchiveError) -> any ArchiveLock {
    let isFree = contents.withLock { contents in
      defer { contents.isLocked = true }
      return !contents.isLocked
    }
    guard isFree else { throw ArchiveError(.locked, subject: "this process") }
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

  /// Moves the bytes to ``setAsideBytes``.
  public func setAside() throws(ArchiveError) -> String? {
    contents.withLock { contents in
      guard let stored = contents.stored.take() else { return nil }
      contents.setAside.append(stored.bytes)
      return "memory \(contents.setAside.count)"
    }
  }
}

/// The bytes of one archive, as a file has them: whoever has opened it goes on
/// with it when another one takes its place.
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

private struct MemoryFile: ArchiveFile {
  let bytes: [UInt8]

  var byteCount: Int { bytes.count }

  func read(at offset: Int, count: Int) throws(ArchiveError) -> [UInt8] {
    guard offset >= 0, count >= 0, offset <= bytes.count, count <= bytes.count - offset else {
      throw ArchiveError(.truncated, offset: bytes.count)
    }
    return Array(bytes[offset..<offset + count])
  }
}

private struct AppendableMemoryFile: AppendableArchiveFile {
  let storage: MemoryStorage
  let stored: StoredBytes
  let byteCount: Int

  func read(at offset: Int, count: Int) throws(ArchiveError) -> [UInt8] {
    try MemoryFile(bytes: stored.bytes).read(at: offset, count: count)
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

/// Nobody can take it away, so it is held as long as it is there.
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

private final class MemorySink: ArchiveSink {
  private(set) var bytes: [UInt8] = []

  // Growing step by step costs several copies of all bytes (benchmark: encode
  // and seal keyed records).
  func reserve(byteCount: Int) {
    bytes.reserveCapacity(byteCount)
  }

  func write(_ more: [UInt8]) throws(ArchiveError) {
    bytes += more
  }
}
