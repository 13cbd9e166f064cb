internal import Synchronization

/// Changes an archive by appending each change, at the cost of the change.
///
/// A writer holds the lock of the storage, and checks at each change that it still
/// holds it; so there is one writer at a time, in this process or another. Each change
/// is one commit: after a power cut it is there as a whole or not at all. A change
/// after which the journal is larger than 64 KiB and than half of the snapshot also
/// rewrites the file.
///
///     let writer = try ArchiveWriter.open(storage, key: key, context: context)
///     let builder = writer.builder()
///     try builder.append(record: 7) { $0.encode("changed", forKey: "text") }
///     try writer.append(builder.finish(), removing: [8])
public final class ArchiveWriter: Sendable {
  struct State {
    var open: Open?
    /// Set after a failed write or sync; only a new file helps then.
    var poison: ArchiveError?
    /// Why the last rewrite after a change failed.
    var compactionFailure: ArchiveError?
    /// The size of the file, or the number of its commits, from which a rewrite is tried again.
    var nextCompaction = (byteCount: 0, commitCount: 0)
    /// The file that was put in its place and could not be opened.
    var unopened: UnlockedHeader?
    /// The version of that file, if it differs from the version of the open one.
    var unopenedVersion: ArchiveVersion?

    /// The state of an open file that can be appended to.
    struct Open {
      var history: History
      let keys: UnlockedHeader
      let file: any AppendableArchiveFile
      /// The size of the file if it is as this writer left it; nil if it is not known,
      /// after a failure.
      var byteCount: Int?
      /// Whether a part of a failed commit is still at the end.
      var hasLeftOver = false
      /// A commit that was taken back because its sync failed.
      ///
      /// A reader may have seen that commit, so the next file follows it.
      var takenBack: ArchiveVersion?
    }
  }

  let storage: any ArchiveStorage
  /// The slots of the first file, if nothing is stored.
  let firstSlots: [NewSlot]
  let context: ArchiveContext
  let limits: ArchiveLimits
  let random: RandomSource
  /// Nil for the moment of each write; a test that needs equal bytes gives one.
  let moment: Archive.Moment?
  private let process: Int32
  private let lock: any ArchiveLock
  /// Called when a new file is written, and before that one takes its place, which it does not after an error.
  let willReplace: @Sendable () throws(ArchiveError) -> Void
  let state: Mutex<State>

  /// Locks the storage and opens the stored archive.
  ///
  /// - Parameters:
  ///   - storage: The storage of the archive.
  ///   - credential: A key or passphrase of the archive. If nothing is stored, it will
  ///     open the first file.
  ///   - context: The context of the archive.
  ///   - limits: The limits of a record.
  ///   - recovery: The treatment of a damaged end of the journal. If the end is left
  ///     out, the first change cuts it off.
  /// - Returns: A writer; nothing stored is not an error.
  /// - Throws: ``ArchiveError`` as ``Archive/open(_:with:context:limits:recovery:)``
  ///   does, `locked` if another writer is open, and `unsupportedFeature` if
  ///   only a newer version may change the archive.
  public static func open(
    _ storage: any ArchiveStorage, with credential: ArchiveCredential, context: ArchiveContext,
    limits: ArchiveLimits = .standard, recovery: ArchiveRecovery = .recover
  ) throws(ArchiveError) -> ArchiveWriter {
    try ArchiveWriter(
      storage, with: credential, context: context, limits: limits, recovery: recovery)
  }

  /// Locks the storage and opens the stored archive with a key; see
  /// ``open(_:with:context:limits:recovery:)``.
  ///
  /// - Parameters:
  ///   - storage: The storage of the archive.
  ///   - key: A key of the archive.
  ///   - context: The context of the archive.
  ///   - limits: The limits of a record.
  ///   - recovery: The treatment of a damaged end of the journal.
  /// - Returns: A writer; nothing stored is not an error.
  /// - Throws: ``ArchiveError`` as the other form does.
  public static func open(
    _ storage: any ArchiveStorage, key: ArchiveKey, context: ArchiveContext,
    limits: ArchiveLimits = .standard, recovery: ArchiveRecovery = .recover
  ) throws(ArchiveError) -> ArchiveWriter {
    try open(storage, with: .key(key), context: context, limits: limits, recovery: recovery)
  }

  /// Creates a writer.
  ///
  /// A lock that the caller has already must be that of the storage, and no other writer may have
  /// it; a file that it has opened must be the stored one. A writer that begins reads nothing, and its
  /// first call is ``begin(_:schema:)``.
  package init(
    _ storage: any ArchiveStorage, with credential: ArchiveCredential, context: ArchiveContext,
    lock: (any ArchiveLock)? = nil, file opened: (any AppendableArchiveFile)? = nil,
    limits: ArchiveLimits = .standard, recovery: ArchiveRecovery = .recover,
    isBeginning: Bool = false, random: RandomSource = .system, moment: Archive.Moment? = nil,
    process: Int32 = SystemCall.processIdentifier,
    willReplace: @escaping @Sendable () throws(ArchiveError) -> Void = {}
  ) throws(ArchiveError) {
    if let lock { self.lock = lock } else { self.lock = try storage.lock() }
    self.storage = storage
    firstSlots = [NewSlot(credential)]
    self.context = context
    self.limits = limits
    self.random = random
    self.moment = moment
    self.process = process
    self.willReplace = willReplace
    if isBeginning {
      state = Mutex(State())
      return
    }
    do throws(ArchiveError) {
      let open = try Self.openFile(storage, opened, limits: limits, recovery: recovery) {
        (stored) throws(ArchiveError) in
        try stored.unlock(with: credential, context: context, limits: limits)
      }
      state = Mutex(State(open: open))
    } catch {
      throw error.located(at: storage.location)
    }
  }

  deinit {
    state.withLock { state in
      guard let open = state.open else { return }
      // Bytes that could not be cut off after a failed write are not part of the archive.
      if open.hasLeftOver, (try? checkOwnership(state)) != nil {
        try? open.file.truncate(to: open.history.end)
      }
    }
  }

  static func openFile(
    _ storage: any ArchiveStorage, _ opened: (any AppendableArchiveFile)? = nil,
    limits: ArchiveLimits, recovery: ArchiveRecovery,
    unlock: (StoredHeader) throws(ArchiveError) -> UnlockedHeader
  ) throws(ArchiveError) -> State.Open? {
    let stored = if let opened { opened } else { try storage.openForAppending() }
    guard let file = stored else { return nil }
    let header = try StoredHeader(reading: file)
    guard header.isWritable else {
      throw ArchiveError(.unsupportedFeature, subject: "feature that a writer must know")
    }
    let keys = try unlock(header)
    let history = try History.read(file, keys, limits: limits)
    if let dropped = history.dropped, recovery == .strict { throw dropped }
    return State.Open(history: history, keys: keys, file: file, byteCount: file.byteCount)
  }

  /// The archive as of the last change; nil if nothing is stored.
  ///
  /// If the file of a rewrite could not be opened, for example without a free
  /// descriptor, this is the archive before the rewrite until the next change.
  ///
  /// The returned archive does not change. While you keep it, the next change copies
  /// the journal's content in memory.
  public var archive: Archive? {
    state.withLock { $0.open?.history }.map { Archive($0, limits: limits, isWritable: true) }
  }

  /// Why the last rewrite that followed a change failed; nil if it did not
  /// fail.
  ///
  /// The change is stored all the same. The rewrite is tried again when the journal has
  /// grown by as much again. After `notDurable` the rewrite is tried with the next
  /// change, which fails if the rewrite does.
  public var compactionFailure: ArchiveError? {
    state.withLock { $0.compactionFailure?.located(at: storage.location) }
  }

  /// A builder for records that change this archive.
  ///
  /// The records of the builder apply to the current version; a change that adds keys
  /// outdates them, and so does a rewrite with other keys.
  public func builder() -> RecordBuilder {
    state.withLock { state in
      RecordBuilder(limits: limits, continuing: state.open?.history.symbols)
    }
  }

  /// Appends changed and removed records as one commit, which is on stable storage when the
  /// call returns.
  ///
  /// If nothing is stored, the call writes the first file. If the journal is larger
  /// than 64 KiB and than half of the snapshot after the change, the call rewrites the
  /// file; see ``compactionFailure``. A file with as many changes as the limits allow is
  /// rewritten before the change.
  ///
  /// - Parameters:
  ///   - changes: Records that are new or replace the stored ones.
  ///   - removed: Identifiers of records to remove. An unknown one is not an error.
  ///   - schema: A number of the application's own; the last one stays if nil.
  /// - Returns: The new version, and the numbers of bytes and records.
  /// - Throws: ``ArchiveError``: `outdated` if the changes were built before a change
  ///   that brought new keys, or if another writer has replaced or removed the file or
  ///   its lock (open it again then), `forked` in a child process, `poisoned` after a
  ///   failed sync, or after a failed write that could not be taken back (rewrite
  ///   then), `malformed` if an identifier is 0 or twice among the changes and the
  ///   removed, `limitExceeded` if the file has too many changes and could not be
  ///   rewritten, and the errors of the storage. After an error the archive is as
  ///   before, and no reader finds the change. There are three exceptions: a power cut
  ///   at that moment may leave the change; `outdated` may come after the write, if
  ///   somebody has taken the file away meanwhile; and with `notDurable` the change is
  ///   there, and a power cut may undo it.
  /// - Complexity: O(*k*) in the size of the changes; with new keys also O(*s*)
  ///   in the number of keys.
  @discardableResult
  public func append(
    _ changes: RecordBatch, removing removed: [UInt64] = [], schema: UInt32? = nil
  ) throws(ArchiveError) -> Archive.Summary {
    try changing { (state) throws(ArchiveError) in
      guard state.open != nil else {
        try changes.checkKeeps(none: removed)
        return try rewrite(changes, schema: schema, &state)
      }
      if state.compactionFailure?.code == .notDurable {
        // The same again would say that the change is there.
        do throws(ArchiveError) { try compact(&state) } catch { throw state.poison ?? error }
      }
      if let poison = state.poison { throw poison }
      try compactIfFull(&state)
      compactIfTorn(&state)
      // The file that is open here is not the stored one now, if the new one could not be opened.
      try reopenIfDue(&state)
      let summary = try append(changes, removed, schema: schema, &state)
      compactIfDue(&state)
      return summary
    }
  }

  /// Writes a new file with the given records only; the keys and passphrases of the old
  /// file open the new one.
  ///
  /// - Parameters:
  ///   - records: All records, from a builder of this writer or a new one.
  ///   - schema: A number of the application's own; the last one stays if nil.
  /// - Returns: The new version, and the numbers of bytes and records.
  /// - Throws: ``ArchiveError`` as ``Archive/write(_:to:slots:context:replacing:schema:)``
  ///   does, `outdated` and `forked` as ``append(_:removing:schema:)``.
  @discardableResult
  public func rewrite(
    _ records: RecordBatch, schema: UInt32? = nil
  ) throws(ArchiveError) -> Archive.Summary {
    try changing { (state) throws(ArchiveError) in
      try rewrite(records, schema: schema, &state)
    }
  }

  /// Replaces whatever is stored, which nobody need have read, by a first file.
  ///
  /// - Throws: As ``rewrite(_:schema:)``.
  package func begin(
    _ records: RecordBatch, schema: UInt32
  ) throws(ArchiveError) -> Archive.Summary {
    try state.withLock { (state) throws(ArchiveError) in
      do throws(ArchiveError) {
        return try rewrite(records, schema: schema, &state)
      } catch {
        throw error.located(at: storage.location)
      }
    }
  }

  /// Writes a new file with the present records; the keys and passphrases of the old
  /// file open the new one.
  ///
  /// The call needs memory for a chunk, and 16 bytes for each record.
  ///
  /// - Throws: ``ArchiveError`` with `damaged` if a record of the snapshot was changed,
  ///   `outdated` if another writer has replaced or removed the file or its lock, and
  ///   the errors of the storage. Then the archive is as before; only with `notDurable`
  ///   the new file is in its place, and a power cut may bring the old one back.
  /// - Complexity: O(*n*) in the size of the archive.
  public func compact() throws(ArchiveError) {
    try changing { (state) throws(ArchiveError) in try compact(&state) }
  }

  /// Checks that the next change would go on from the state that this writer has stored.
  ///
  /// - Throws: ``ArchiveError`` with `outdated` if another writer has replaced or
  ///   removed the file or its lock, `forked`, and the errors of the storage.
  package func checkIsCurrent() throws(ArchiveError) {
    try changing { _ throws(ArchiveError) in }
  }

  /// Whether what this writer has stored is still there, which takes one call of the system: nothing is
  /// said of the lock.
  package var isStored: Bool {
    state.withLock { state in
      state.open.map { (try? check($0.file, hasByteCount: $0.byteCount)) != nil } ?? true
    }
  }

  /// Whether a sync has failed, or a write that could not be taken back: only a new file helps.
  package var isPoisoned: Bool { state.withLock { $0.poison != nil } }

  /// The size of the stored archive in bytes; 0 if nothing is stored.
  package var storedByteCount: Int {
    state.withLock { $0.open?.history.end ?? 0 }
  }

  /// The version of the stored archive; nil if nothing is stored.
  package var version: ArchiveVersion? {
    state.withLock { $0.unopenedVersion ?? $0.open?.history.version }
  }

  func changing<Result: Sendable>(
    _ body: (inout State) throws(ArchiveError) -> Result
  ) throws(ArchiveError) -> Result {
    guard process == SystemCall.processIdentifier else { throw ArchiveError(.forked) }
    return try state.withLock { (state) throws(ArchiveError) in
      do throws(ArchiveError) {
        try reopenIfDue(&state)
        try checkOwnership(state)
        return try body(&state)
      } catch {
        throw error.located(at: storage.location)
      }
    }
  }

  /// Throws if the file is no longer this writer's: a change of it would be lost, or
  /// would lose another writer's changes.
  func checkOwnership(_ state: State) throws(ArchiveError) {
    guard try lock.isHeld() else {
      throw ArchiveError(.outdated, subject: "the lock was removed")
    }
    guard let file = state.open?.file else {
      guard try storage.open() == nil else {
        throw ArchiveError(.outdated, subject: "a file was put in place")
      }
      return
    }
    try check(file, hasByteCount: state.open?.byteCount)
  }

  /// Checks that a file is the stored one, and has its size, if the size is known.
  func check(
    _ file: any AppendableArchiveFile, hasByteCount expected: Int?
  ) throws(ArchiveError) {
    guard let byteCount = try file.storedByteCount() else {
      throw ArchiveError(.outdated, subject: "the file was replaced or removed")
    }
    guard byteCount == expected ?? byteCount else {
      throw ArchiveError(.outdated, subject: "the file has another size")
    }
  }
}
