internal import Synchronization

/// An archive in memory, for tests and previews.
public final class MemoryStorage: ArchiveStorage {
  private struct Contents {
    var bytes: [UInt8]?
    var setAside: [[UInt8]] = []
    var isLocked = false
  }

  private let contents: Mutex<Contents>

  /// Creates a storage that holds the bytes, or nothing.
  ///
  /// - Parameter bytes: The bytes of an archive, or nil.
  public init(_ bytes: [UInt8]? = nil) {
    contents = Mutex(Contents(bytes: bytes))
  }

  /// The word memory.
  public var location: String { "memory" }

  /// The stored bytes, nil if there are none.
  public var bytes: [UInt8]? {
    get { contents.withLock { $0.bytes } }
    set { contents.withLock { $0.bytes = newValue } }
  }

  /// What ``setAside()`` moved away, oldest first.
  public var setAsideBytes: [[UInt8]] {
    contents.withLock { $0.setAside }
  }

  /// Opens the bytes as they are now.
  public func open() throws(ArchiveError) -> (any ArchiveFile)? {
    bytes.map(MemoryFile.init)
  }

  /// Opens the bytes for appending.
  public func openForAppending() throws(ArchiveError) -> (any AppendableArchiveFile)? {
    bytes.map { AppendableMemoryFile(storage: self, byteCount: $0.count) }
  }

  /// Makes the caller the only writer.
  public func lock() throws(ArchiveError) -> any ArchiveLock {
    let isFree = contents.withLock { contents in
      defer { contents.isLocked = true }
      return !contents.isLocked
    }
    guard isFree else { throw ArchiveError(.locked) }
    return MemoryLock(storage: self)
  }

  fileprivate func unlock() {
    contents.withLock { $0.isLocked = false }
  }

  fileprivate func change(_ body: (inout [UInt8]) -> Void) {
    contents.withLock { contents in
      // Taken out, so that there is one reference and no copy is made.
      guard var bytes = contents.bytes.take() else { return }
      body(&bytes)
      contents.bytes = bytes
    }
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
      guard let bytes = contents.bytes else { return nil }
      contents.setAside.append(bytes)
      contents.bytes = nil
      return "memory \(contents.setAside.count)"
    }
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
  let byteCount: Int

  func read(at offset: Int, count: Int) throws(ArchiveError) -> [UInt8] {
    try MemoryFile(bytes: storage.bytes ?? []).read(at: offset, count: count)
  }

  func currentByteCount() throws(ArchiveError) -> Int {
    storage.bytes?.count ?? 0
  }

  func write(_ bytes: [UInt8], at offset: Int) throws(ArchiveError) {
    storage.change { stored in
      stored.removeSubrange(min(offset, stored.count)...)
      stored += bytes
    }
  }

  func truncate(to byteCount: Int) throws(ArchiveError) {
    storage.change { stored in stored.removeSubrange(min(byteCount, stored.count)...) }
  }

  func synchronize() throws(ArchiveError) {}
}

private final class MemoryLock: ArchiveLock {
  private let storage: MemoryStorage

  init(storage: MemoryStorage) {
    self.storage = storage
  }

  deinit {
    storage.unlock()
  }
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
