/// An open archive: one file of encrypted, authenticated records.
///
/// Opening checks the header, the key, the chain of commits and the whole
/// journal. A record of the snapshot is checked when it is read;
/// ``verifyAll()`` checks every byte. An open archive does not change: it stays
/// readable while others append to the file or replace it.
public final class Archive: Sendable {
  /// The state of the archive; see ``ArchiveVersion``.
  public var version: ArchiveVersion { history.version }

  /// The number that the application gave its schema.
  public var schema: UInt32 { history.schema }

  /// Whether this library may replace the archive without losing data that only
  /// a newer version knows.
  public let isWritable: Bool

  /// Why the end of the journal was left out; nil if nothing was left out, or
  /// only a change that a writer was just appending.
  public var dropped: ArchiveError? { history.dropped }

  let history: History
  let limits: ArchiveLimits

  init(_ history: History, limits: ArchiveLimits, isWritable: Bool) {
    self.history = history
    self.limits = limits
    self.isWritable = isWritable
  }

  /// Opens the stored archive, nil if there is none.
  ///
  /// - Parameters:
  ///   - storage: The storage of the archive.
  ///   - credential: One of the keys and passphrases that the archive was written with.
  ///   - context: The context that the archive was written with.
  ///   - limits: The limits of a record.
  ///   - recovery: The treatment of a damaged end of the journal. A change that a
  ///     writer is just appending is not damage: the archive is then the one before
  ///     that change.
  /// - Returns: The archive, or nil if the storage is empty.
  /// - Throws: ``ArchiveError``: `notAnArchive`, `unsupportedVersion`,
  ///   `unsupportedFeature`, `truncated`, `damaged`, `wrongKey`,
  ///   `wrongPassphrase`, `wrongContext`, `malformed`, `limitExceeded`, and the errors of
  ///   the storage; `locked` if a writer changes the file so fast that it cannot be read.
  ///   An empty storage is not an error.
  /// - Complexity: O(*j* + *s*) in the sizes of the journal and of the symbol
  ///   table, not in the snapshot; and the cost of a passphrase.
  public static func open(
    _ storage: any ArchiveStorage, with credential: ArchiveCredential, context: ArchiveContext,
    limits: ArchiveLimits = .standard, recovery: ArchiveRecovery = .strict
  ) throws(ArchiveError) -> Archive? {
    try open(
      storage, nil, with: credential, context: context, limits: limits, recovery: recovery)
  }

  /// Opens the stored archive, whose file is open already; see
  /// ``open(_:with:context:limits:recovery:)``.
  package static func open(
    _ storage: any ArchiveStorage, _ opened: (any ArchiveFile)?, with credential: ArchiveCredential,
    context: ArchiveContext, limits: ArchiveLimits, recovery: ArchiveRecovery
  ) throws(ArchiveError) -> Archive? {
    var opened = opened
    do throws(ArchiveError) {
      var keys: UnlockedHeader?
      for _ in 0..<largestTryCount {
        let file = if let known = opened.take() { known } else { try storage.open() }
        guard let file else { return nil }
        let stored = try StoredHeader(reading: file)
        let unlocked: UnlockedHeader
        if let keys, keys.matches(stored) {
          // The slow work for a passphrase is done once.
          unlocked = keys
        } else {
          unlocked = try stored.unlock(with: credential, context: context, limits: limits)
          keys = unlocked
        }
        let history = try readHistory(of: file, in: storage, unlocked, limits, recovery)
        if let history {
          return Archive(history, limits: limits, isWritable: stored.isWritable)
        }
      }
      throw ArchiveError(.locked, subject: "it changes faster than it can be read")
    } catch {
      throw error.located(at: storage.location)
    }
  }

  /// Opens the stored archive with a key; see
  /// ``open(_:with:context:limits:recovery:)``.
  ///
  /// - Parameters:
  ///   - storage: The storage of the archive.
  ///   - key: One of the keys that the archive was written with.
  ///   - context: The context that the archive was written with.
  ///   - limits: The limits of a record.
  ///   - recovery: The treatment of a damaged end of the journal.
  /// - Returns: The archive, or nil if the storage is empty.
  /// - Throws: ``ArchiveError`` as the other form does.
  public static func open(
    _ storage: any ArchiveStorage, key: ArchiveKey, context: ArchiveContext,
    limits: ArchiveLimits = .standard, recovery: ArchiveRecovery = .strict
  ) throws(ArchiveError) -> Archive? {
    try open(storage, with: .key(key), context: context, limits: limits, recovery: recovery)
  }

  /// Each try but the first means that another writer changed the file meanwhile.
  private static let largestTryCount = 32

  /// Reads the history; nil if a writer has gone on since the file was opened, so that
  /// an incomplete end may be complete now.
  private static func readHistory(
    of file: any ArchiveFile, in storage: any ArchiveStorage, _ keys: UnlockedHeader,
    _ limits: ArchiveLimits, _ recovery: ArchiveRecovery
  ) throws(ArchiveError) -> History? {
    func hasChanged() throws(ArchiveError) -> Bool {
      try storage.open()?.byteCount != file.byteCount
    }
    do throws(ArchiveError) {
      var history = try History.read(file, keys, limits: limits)
      guard let dropped = history.dropped else { return history }
      if history.mayGoOn, try storage.isLocked() {
        // The end is a commit that a writer is about to finish, or will cut off.
        history.dropped = nil
        return history
      }
      if try hasChanged() { return nil }
      if recovery == .strict { throw dropped }
      return history
    } catch {
      if error.code == .truncated, try hasChanged() { return nil }
      throw error
    }
  }

  /// Opens the record with this identifier, nil if there is none.
  ///
  /// - Parameter record: The identifier that the record was written with.
  /// - Returns: A decoder for the values of the record, or nil.
  /// - Throws: ``ArchiveError`` with `damaged` if a chunk that holds the record was
  ///   changed, `malformed` or `limitExceeded` if the record breaks a rule.
  /// - Complexity: O(log *n*) chunks for *n* records, and the chunks of the record.
  public func record(_ record: UInt64) throws(ArchiveError) -> KeyedDecoder? {
    let frame: RecordFrame
    switch history.changes[record] {
    case .record(let changed): frame = changed
    case .removed: return nil
    case nil:
      guard let entry = try history.snapshot.entry(for: record) else { return nil }
      frame = try history.snapshot.recordFrame(entry)
    }
    return try frame.decoder(symbols: history.symbols, limits: limits)
  }

  /// The identifiers of all records, ascending.
  ///
  /// - Throws: ``ArchiveError`` with `damaged` or `malformed`.
  /// - Complexity: O(*n* + *j* log *j*) for *n* records and *j* changed ones.
  public func recordIdentifiers() throws(ArchiveError) -> [UInt64] {
    let kept = try history.snapshot.index().map(\.record).filter { history.changes[$0] == nil }
    guard !history.changes.isEmpty else { return kept }
    return (kept + changedRecords()).sorted()
  }

  /// The records that the journal wrote and did not remove, ascending.
  func changedRecords() -> [UInt64] {
    history.changes.compactMap { record, change in
      if case .record = change { record } else { nil }
    }.sorted()
  }

  /// Compares this archive with a version of it that you have kept.
  ///
  /// - Parameter kept: The version that was seen last, from a safe place.
  /// - Returns: `rollback` if this archive is older than the kept version, `fork` if
  ///   this archive does not follow from that version, otherwise `ok`. If the file was
  ///   written anew since, the kept version may be older than the file itself; then
  ///   only the number can be compared.
  package func verdict(against kept: ArchiveVersion) -> ArchiveVerdict {
    guard kept.generation <= version.generation else { return .rollback }
    let known =
      history.versions.first { $0.generation == kept.generation } ?? history.replaced
    guard known.generation == kept.generation else { return .ok }
    return known == kept ? .ok : .fork
  }

  /// Whether this archive proves to be a version that was kept, or to come after it.
  ///
  /// Unlike ``verdict(against:)`` the method needs more proof than the number. A file
  /// that was written anew twice since then proves nothing.
  package func comes(from kept: ArchiveVersion) -> Bool {
    history.replaced == kept || history.versions.contains(kept)
  }
}

/// The identity of one state of an archive: a number that grows, and a MAC.
///
/// Keep the last one in a safe place to notice that somebody put back an older
/// file, and pass it on when you replace an archive.
public struct ArchiveVersion: Hashable, Codable, Sendable {
  /// Grows by one with every commit.
  public let generation: UInt64

  /// Depends on the whole history of the file; 32 bytes, not secret.
  public let mac: [UInt8]

  /// Creates a version from values that were kept.
  ///
  /// - Parameters:
  ///   - generation: The number.
  ///   - mac: The 32 bytes that belong to it.
  public init(generation: UInt64, mac: [UInt8]) {
    self.generation = generation
    self.mac = mac
  }
}

/// The relation of an archive to a version of it that was seen before.
package enum ArchiveVerdict: Equatable, Sendable {
  /// The archive is that version, or comes after it.
  case ok

  /// The archive is older: somebody put back an earlier file.
  case rollback

  /// The archive has another history: a copy was changed elsewhere and put
  /// here.
  case fork
}

/// The treatment of a torn or damaged end of a journal.
///
/// A power cut or a kill during an append leaves an end like this. All earlier commits
/// that were on stable storage are intact.
public enum ArchiveRecovery: Hashable, Sendable {
  /// Opening throws.
  case strict

  /// The changes up to the damage are used; ``Archive/dropped`` tells of the rest.
  ///
  /// Damage of the snapshot itself is always an error.
  case recover
}
