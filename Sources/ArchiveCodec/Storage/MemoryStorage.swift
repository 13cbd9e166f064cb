internal import Synchronization

/// An archive in memory, for tests and previews.
public final class MemoryStorage: ArchiveStorage {
  private struct Contents {
    var bytes: [UInt8]?
    var setAside: [[UInt8]] = []
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

private final class MemorySink: ArchiveSink {
  private(set) var bytes: [UInt8] = []

  func write(_ more: [UInt8]) throws(ArchiveError) {
    bytes += more
  }
}
