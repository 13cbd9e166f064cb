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

  /// Opens what is stored for reading, nil if nothing is.
  ///
  /// What was opened stays as it was while a new archive replaces it.
  ///
  /// - Throws: ``ArchiveError``: `notAFile`, `permissionDenied`, `inputOutput`.
  func open() throws(ArchiveError) -> (any ArchiveFile)?

  /// Replaces what is stored by what the body writes, all or nothing.
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

  /// Opens what is stored for appending, nil if nothing is.
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

  /// Whether somebody has the lock.
  ///
  /// A reader asks it about a change at the end that is not whole: beside a
  /// writer, it is on its way.
  ///
  /// - Throws: ``ArchiveError``: `permissionDenied`, `notAFile`, `inputOutput`.
  func isLocked() throws(ArchiveError) -> Bool

  /// Removes what is stored; nothing stored is not an error.
  ///
  /// - Throws: ``ArchiveError``: `permissionDenied`, `notAFile`, `inputOutput`;
  ///   `notDurable` if it is gone, but a power cut may bring it back.
  func remove() throws(ArchiveError)

  /// Moves what is stored out of the way and keeps it.
  ///
  /// For an archive that could not be opened, so that the next one does not
  /// destroy it. Nothing stored is not an error.
  ///
  /// - Returns: Where it is now, for a person to read; nil if nothing was stored.
  /// - Throws: ``ArchiveError``: `permissionDenied`, `notAFile`, `inputOutput`.
  func setAside() throws(ArchiveError) -> String?

  /// Moves what is stored out of the way, and keeps with it why and when.
  ///
  /// By default it does what ``setAside()`` does.
  ///
  /// - Parameters:
  ///   - reason: Why.
  ///   - date: When, by the clock of the caller.
  /// - Returns: Where it is now, for a person to read; nil if nothing was stored.
  /// - Throws: ``ArchiveError``: `permissionDenied`, `notAFile`, `inputOutput`.
  func setAside(_ reason: SetAsideReason, at date: Date) throws(ArchiveError) -> String?

  /// What was set aside here and is still there, the oldest first, without the
  /// ``generations()``.
  ///
  /// - Returns: All of them; none if the storage cannot tell, as by default.
  /// - Throws: ``ArchiveError``: `permissionDenied`, `inputOutput`.
  func setAsideArchives() throws(ArchiveError) -> [SetAsideArchive]

  /// Replaces what is stored, and sets aside what was there.
  ///
  /// The old archive gets its other name when the new one is about to take its own, so
  /// it has all that was appended to it until then, and whenever the process ends, one of
  /// them is in its place. That a generation cannot be kept is no reason to fail; see
  /// ``SetAsideReason/isGeneration``. By default none is, and anything else is set aside
  /// before the new archive is written.
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
  /// What is stored is replaced, so set it aside before. Whenever the process
  /// ends, the archive is in its place, or still set aside, or both. By default
  /// it is copied.
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
  /// The size in bytes now, nil if this is not what is stored any more.
  ///
  /// That is so after somebody has replaced or removed it.
  ///
  /// - Throws: ``ArchiveError`` with `inputOutput`.
  func storedByteCount() throws(ArchiveError) -> Int?

  /// Writes all of the bytes at an offset, which is the end.
  ///
  /// - Throws: ``ArchiveError`` with `storageFull` or `inputOutput`; some of the
  ///   bytes may be there then.
  func write(_ bytes: [UInt8], at offset: Int) throws(ArchiveError)

  /// Cuts off what follows an offset.
  ///
  /// - Throws: ``ArchiveError`` with `inputOutput`.
  func truncate(to byteCount: Int) throws(ArchiveError)

  /// Puts what was written on stable storage.
  ///
  /// - Throws: ``ArchiveError`` with `inputOutput` or `storageFull`. It must not
  ///   be tried again after that: the system may have dropped what failed.
  func synchronize() throws(ArchiveError)
}

/// The right to be the only writer; it ends when the last reference goes.
public protocol ArchiveLock: AnyObject, Sendable {
  /// Whether it still keeps other writers out.
  ///
  /// It does not after somebody has removed the file that carries it.
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
