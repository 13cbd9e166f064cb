/// A place that holds one archive: a file, memory, or a faulty one in a test.
///
/// A writer calls its storage under a lock of its own, so a storage must not
/// call its writer.
public protocol ArchiveStorage: Sendable {
  /// Where the archive is, for a person to read; for example the path of a
  /// file.
  var location: String { get }

  /// Opens the stored archive for reading; nil if there is none.
  ///
  /// An open archive stays as it was, also while a new one replaces it.
  ///
  /// - Throws: ``ArchiveError``: `notAFile`, `permissionDenied`, `inputOutput`.
  func open() throws(ArchiveError) -> (any ArchiveFile)?

  /// Replaces the stored archive by the bytes that the body writes, all or nothing.
  ///
  /// When the call returns, the new archive is on stable storage.
  ///
  /// - Parameter body: Writes the bytes in order.
  /// - Throws: The errors of `body`; ``ArchiveError``: `storageFull`,
  ///   `permissionDenied`, `notAFile`, `inputOutput`. Then the earlier archive is
  ///   unchanged. Only with `notDurable` the new archive is in its place, and a power
  ///   cut may bring the old one back.
  func replace(
    _ body: (any ArchiveSink) throws(ArchiveError) -> Void
  ) throws(ArchiveError)

  /// Opens the stored archive for appending; nil if there is none.
  ///
  /// - Throws: ``ArchiveError``: `notAFile`, `permissionDenied`, `inputOutput`.
  func openForAppending() throws(ArchiveError) -> (any AppendableArchiveFile)?

  /// Makes the caller the only writer until it lets go of the lock.
  ///
  /// Readers need no lock, and neither does ``replace(_:)``.
  ///
  /// - Throws: ``ArchiveError`` with `locked` at once if there is a writer, which is
  ///   the subject of the error if it is known; `permissionDenied`, `notAFile`,
  ///   `storageFull`, `inputOutput`.
  func lock() throws(ArchiveError) -> any ArchiveLock

  /// Whether a writer has the lock.
  ///
  /// A reader asks this when the change at the end is not whole: while there is a
  /// writer, that change is on its way.
  ///
  /// - Throws: ``ArchiveError``: `permissionDenied`, `notAFile`, `inputOutput`.
  func isLocked() throws(ArchiveError) -> Bool

  /// Removes the stored archive; if there is none, that is not an error.
  ///
  /// - Throws: ``ArchiveError``: `permissionDenied`, `notAFile`, `inputOutput`;
  ///   `notDurable` if the archive is gone, but a power cut may bring it back.
  func remove() throws(ArchiveError)
}

/// The stored bytes of an archive, open for reading.
public protocol ArchiveFile: Sendable {
  /// The size in bytes when the archive was opened.
  var byteCount: Int { get }

  /// Reads exactly `count` bytes.
  ///
  /// - Throws: ``ArchiveError`` with `truncated` if there are fewer bytes, or
  ///   `inputOutput`.
  func read(at offset: Int, count: Int) throws(ArchiveError) -> [UInt8]
}

/// The stored bytes of an archive, open for reading and appending.
public protocol AppendableArchiveFile: ArchiveFile {
  /// The size in bytes now; nil if the file was replaced or removed since it was opened.
  ///
  /// - Throws: ``ArchiveError`` with `inputOutput`.
  func storedByteCount() throws(ArchiveError) -> Int?

  /// Whether the same bytes have another name, under which somebody may read as many as there are now; false
  /// by default.
  var hasOtherNames: Bool { get }

  /// Writes all of the bytes at an offset, which is the end of the file.
  ///
  /// - Throws: ``ArchiveError`` with `storageFull` or `inputOutput`; some of the bytes
  ///   may be written then.
  func write(_ bytes: [UInt8], at offset: Int) throws(ArchiveError)

  /// Cuts off the bytes after an offset.
  ///
  /// - Throws: ``ArchiveError`` with `inputOutput`.
  func truncate(to byteCount: Int) throws(ArchiveError)

  /// Puts the written bytes on stable storage.
  ///
  /// - Throws: ``ArchiveError`` with `inputOutput` or `storageFull`. Do not try
  ///   again after an error: the system may have dropped the bytes.
  func synchronize() throws(ArchiveError)
}

extension AppendableArchiveFile {
  /// False: by default nobody else has the bytes.
  public var hasOtherNames: Bool { false }
}

/// The right to be the only writer; the right ends when the last reference goes.
public protocol ArchiveLock: AnyObject, Sendable {
  /// Whether the lock still keeps other writers out.
  ///
  /// A lock whose file was removed keeps nobody out.
  ///
  /// - Throws: ``ArchiveError`` with `inputOutput`.
  func isHeld() throws(ArchiveError) -> Bool
}

/// Takes the bytes of an archive in order.
public protocol ArchiveSink: AnyObject {
  /// Writes all of the bytes.
  ///
  /// - Throws: ``ArchiveError`` with `storageFull` or `inputOutput`.
  func write(_ bytes: [UInt8]) throws(ArchiveError)
}

extension ArchiveSink {
  /// Writes a part of a file in pieces, so that the file need not fit into memory.
  package func write(_ range: Range<Int>, of file: any ArchiveFile) throws(ArchiveError) {
    var offset = range.lowerBound
    while offset < range.upperBound {
      let count = min(copiedAtOnce, range.upperBound - offset)
      try write(try file.read(at: offset, count: count))
      offset += count
    }
  }
}

private let copiedAtOnce = 1 << 16
