#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A place that holds one archive: a file, memory, or a faulty one in a test.
///
/// A writer calls it while nobody else can use the writer, so a storage must not
/// ask its writer for anything.
public protocol ArchiveStorage: Sendable {
  /// Where the archive is, for a person to read: the path of a file.
  var location: String { get }

  /// Opens the stored archive for reading; nil if there is none.
  ///
  /// An open archive stays as it was while a new one replaces it.
  ///
  /// - Throws: ``ArchiveError``: `notAFile`, `permissionDenied`, `inputOutput`.
  func open() throws(ArchiveError) -> (any ArchiveFile)?

  /// Replaces the stored archive by the bytes that the body writes, all or nothing.
  ///
  /// When it returns, the new archive is on stable storage.
  ///
  /// - Parameter body: Writes the bytes in order.
  /// - Throws: What `body` throws; ``ArchiveError``: `storageFull`,
  ///   `permissionDenied`, `notAFile`, `inputOutput`. What was stored before is
  ///   unchanged then. Only with `notDurable` the new archive is in its place,
  ///   and a power cut may bring the old one back.
  func replace(
    _ body: (any ArchiveSink) throws(ArchiveError) -> Void
  ) throws(ArchiveError)

  /// Opens the stored archive for appending; nil if there is none.
  ///
  /// - Throws: ``ArchiveError``: `notAFile`, `permissionDenied`, `inputOutput`.
  func openForAppending() throws(ArchiveError) -> (any AppendableArchiveFile)?

  /// Makes the caller the only writer, until it lets the lock go.
  ///
  /// Readers need no lock, and neither does ``replace(_:)``.
  ///
  /// - Throws: ``ArchiveError`` with `locked` if there is a writer, without
  ///   waiting for it, and the writer as its subject where it is known;
  ///   `permissionDenied`, `notAFile`, `storageFull`, `inputOutput`.
  func lock() throws(ArchiveError) -> any ArchiveLock

  /// Whether a writer has the lock.
  ///
  /// A reader asks this when the change at the end is not whole: beside a writer
  /// that change is on its way.
  ///
  /// - Throws: ``ArchiveError``: `permissionDenied`, `notAFile`, `inputOutput`.
  func isLocked() throws(ArchiveError) -> Bool

  /// Removes the stored archive; if there is none, that is not an error.
  ///
  /// - Throws: ``ArchiveError``: `permissionDenied`, `notAFile`, `inputOutput`;
  ///   `notDurable` if it is gone, but a power cut may bring it back.
  func remove() throws(ArchiveError)

  /// Moves the stored archive out of the way and keeps it.
  ///
  /// Use it for an archive that could not be opened, so that the next one does not
  /// destroy it. If there is none, that is not an error.
  ///
  /// - Returns: Where it is now, for a person to read; nil if there was none.
  /// - Throws: ``ArchiveError``: `permissionDenied`, `notAFile`, `inputOutput`.
  func setAside() throws(ArchiveError) -> String?

  /// Moves the stored archive out of the way, and keeps with it why and when.
  ///
  /// By default it does what ``setAside()`` does.
  ///
  /// - Parameters:
  ///   - reason: Why.
  ///   - date: When, by the clock of the caller.
  /// - Returns: Where it is now, for a person to read; nil if nothing was stored.
  /// - Throws: ``ArchiveError``: `permissionDenied`, `notAFile`, `inputOutput`.
  func setAside(_ reason: SetAsideReason, at date: Date) throws(ArchiveError) -> String?

  /// The archives that were set aside here and are still there, the oldest first,
  /// without the ``generations()``.
  ///
  /// - Returns: All of them; none if the storage cannot tell, as by default.
  /// - Throws: ``ArchiveError``: `permissionDenied`, `inputOutput`.
  func setAsideArchives() throws(ArchiveError) -> [SetAsideArchive]

  /// Replaces the stored archive, and sets the old one aside.
  ///
  /// The old archive gets its other name when the new one is about to take its own. So it
  /// has everything that was appended to it until then, and whenever the process ends, one
  /// of them is in its place. If a generation cannot be kept, the call still succeeds; see
  /// ``SetAsideReason/isGeneration``. By default no generation is kept, and an archive with
  /// another reason is set aside before the new one is written.
  ///
  /// - Parameters:
  ///   - reason: Why.
  ///   - date: When, by the clock of the caller.
  ///   - body: Writes the bytes in order.
  /// - Throws: As ``replace(_:)``.
  func replace(
    settingAside reason: SetAsideReason, at date: Date,
    _ body: (any ArchiveSink) throws(ArchiveError) -> Void
  ) throws(ArchiveError)

  /// The older generations that are kept here, the oldest first.
  ///
  /// - Returns: All of them; none if the storage keeps none, as by default.
  /// - Throws: ``ArchiveError``: `permissionDenied`, `inputOutput`.
  func generations() throws(ArchiveError) -> [SetAsideArchive]

  /// Makes an archive that was set aside the stored one again.
  ///
  /// It replaces the stored archive, so set that one aside before. Whenever the
  /// process ends, the archive is in its place, or still set aside, or both. By
  /// default it is copied.
  ///
  /// - Parameter archive: One of ``setAsideArchives()`` or ``generations()``.
  /// - Throws: ``ArchiveError`` as ``replace(_:)`` does.
  func putBack(_ archive: SetAsideArchive) throws(ArchiveError)
}

/// The stored bytes of an archive, open for reading.
public protocol ArchiveFile: Sendable {
  /// The size in bytes when it was opened.
  var byteCount: Int { get }

  /// Reads exactly `count` bytes.
  ///
  /// - Throws: ``ArchiveError`` with `truncated` if there are fewer, or
  ///   `inputOutput`.
  func read(at offset: Int, count: Int) throws(ArchiveError) -> [UInt8]
}

/// The stored bytes of an archive, open for reading and appending.
public protocol AppendableArchiveFile: ArchiveFile {
  /// The size in bytes now; nil if the file was replaced or removed since it was opened.
  ///
  /// - Throws: ``ArchiveError`` with `inputOutput`.
  func storedByteCount() throws(ArchiveError) -> Int?

  /// Writes all of the bytes at an offset, which is the end.
  ///
  /// - Throws: ``ArchiveError`` with `storageFull` or `inputOutput`; some of the
  ///   bytes may be there then.
  func write(_ bytes: [UInt8], at offset: Int) throws(ArchiveError)

  /// Cuts off the bytes after an offset.
  ///
  /// - Throws: ``ArchiveError`` with `inputOutput`.
  func truncate(to byteCount: Int) throws(ArchiveError)

  /// Puts the written bytes on stable storage.
  ///
  /// - Throws: ``ArchiveError`` with `inputOutput` or `storageFull`. It must not
  ///   be tried again after that: the system may have dropped the bytes.
  func synchronize() throws(ArchiveError)
}

/// The right to be the only writer; it ends when the last reference goes.
public protocol ArchiveLock: AnyObject, Sendable {
  /// Whether it still keeps other writers out.
  ///
  /// It does not if the file that carries it was removed.
  ///
  /// - Throws: ``ArchiveError`` with `inputOutput`.
  func isHeld() throws(ArchiveError) -> Bool
}

/// Takes the bytes of an archive in order.
public protocol ArchiveSink: AnyObject {
  /// Makes room, where that helps; does nothing if it is not implemented.
  ///
  /// - Parameter byteCount: About as many bytes will be written.
  func reserve(byteCount: Int)

  /// Writes all of the bytes.
  ///
  /// - Throws: ``ArchiveError`` with `storageFull` or `inputOutput`.
  func write(_ bytes: [UInt8]) throws(ArchiveError)
}

extension ArchiveSink {
  /// Does nothing.
  public func reserve(byteCount: Int) {}
}
