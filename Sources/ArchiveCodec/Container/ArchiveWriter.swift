internal import Synchronization

/// Changes an archive: appends what changed, at the cost of the change.
///
/// It holds the lock of the storage, so there is one writer at a time, in this
/// process or another. Each change is one commit: it is there as a whole or,
/// after a power cut, not at all. When the journal has outgrown the snapshot,
/// the next change rewrites the file under a new data key.
///
///     let writer = try ArchiveWriter.open(storage, key: key, context: context)
///     let builder = writer.builder()
///     try builder.append(record: 7) { $0.encode("changed", forKey: "text") }
///     try writer.append(builder.finish(), removing: [8])
public final class ArchiveWriter: Sendable {
  /// When a change is on stable storage.
  public enum Durability: Hashable, Sendable {
    /// When the call returns.
    case durable

    /// After the delay at the latest; a power cut before costs the change.
    ///
    /// A kill of the process costs nothing.
    case lazy(maximumDelay: Duration)
  }

  private struct State {
    var archive: Archive?
    var keys: FileKeys?
    var chunkByteCount = 0
    var file: (any AppendableArchiveFile)?
    /// Set after a failed write or sync; only a new file helps then.
    var poison: ArchiveError?
    var syncIsDue = false
  }

  private let storage: any ArchiveStorage
  private let key: ArchiveKey
  private let context: ArchiveContext
  private let limits: ArchiveLimits
  private let random: RandomSource
  private let process: Int32
  private let lock: any ArchiveLock
  private let state: Mutex<State>

  /// Locks the storage and opens what is stored.
  ///
  /// - Parameters:
  ///   - storage: Where the archive is or will be.
  ///   - key: The key of the archive.
  ///   - context: The context of the archive.
  ///   - limits: What a record may hold.
  ///   - recovery: What to do with a damaged end of the journal; it is cut off
  ///     with the first change.
  /// - Returns: A writer; nothing stored is not an error.
  /// - Throws: ``ArchiveError`` as ``Archive/open(_:key:context:limits:recovery:)``
  ///   does, `locked` if another writer is open, and `unsupportedFeature` if
  ///   only a newer version may change the archive.
  public static func open(
    _ storage: any ArchiveStorage, key: ArchiveKey, context: ArchiveContext,
    limits: ArchiveLimits = .standard, recovery: ArchiveRecovery = .recover
  ) throws(ArchiveError) -> ArchiveWriter {
    try ArchiveWriter(
      storage, key: key, context: context, limits: limits, recovery: recovery, random: .system)
  }

  package init(
    _ storage: any ArchiveStorage, key: ArchiveKey, context: ArchiveContext,
    limits: ArchiveLimits, recovery: ArchiveRecovery, random: RandomSource
  ) throws(ArchiveError) {
    lock = try storage.lock()
    self.storage = storage
    self.key = key
    self.context = context
    self.limits = limits
    self.random = random
    process = ProcessIdentity.current
    var opened = State()
    do {
      try Self.open(
        storage, key: key, context: context, limits: limits, recovery: recovery, into: &opened)
    } catch {
      throw error.located(at: storage.location)
    }
    state = Mutex(opened)
  }

  deinit {
    state.withLock { state in
      if state.syncIsDue { try? state.file?.synchronize() }
    }
  }

  private static func open(
    _ storage: any ArchiveStorage, key: ArchiveKey, context: ArchiveContext,
    limits: ArchiveLimits, recovery: ArchiveRecovery, into state: inout State
  ) throws(ArchiveError) {
    guard let file = try storage.openForAppending() else { return }
    let stored = try StoredHeader(reading: file)
    guard stored.isWritable else {
      throw ArchiveError(.unsupportedFeature, subject: "feature that a writer must know")
    }
    let keys = FileKeys(try stored.unlock(key, context: context))
    let history = try History.read(
      file, header: stored.header, keys: keys.schedule, limits: limits, recovery: recovery)
    state.archive = Archive(history, limits: limits, isWritable: true)
    state.keys = keys
    state.chunkByteCount = 1 << Int(stored.header.chunkSize)
    state.file = file
  }

  /// The archive as of the last change; nil if nothing is stored.
  public var archive: Archive? {
    state.withLock { $0.archive }
  }

  /// A builder for records that change this archive.
  ///
  /// What it finishes fits on the archive as it is now, until a change brings
  /// new keys.
  public func builder() -> RecordBuilder {
    state.withLock { state in
      RecordBuilder(limits: limits, continuing: state.archive?.history.symbols)
    }
  }

  /// Appends changed and removed records as one commit.
  ///
  /// If nothing is stored, it writes the first file. If the journal has
  /// outgrown the snapshot, it rewrites the file.
  ///
  /// - Parameters:
  ///   - changes: Records that are new or take the place of those that are there.
  ///   - removed: Identifiers of records to remove; those that are not there
  ///     are not an error.
  ///   - durability: When it is on stable storage.
  ///   - schema: A number of the application's own; the last one stays if nil.
  /// - Returns: What was written.
  /// - Throws: ``ArchiveError``: `outdated` if the changes were built before
  ///   a change that brought new keys, `forked` in a child process, `poisoned`
  ///   after a failed sync (rewrite then), `malformed` if a record is changed
  ///   and removed, and what the storage throws. Then the archive is as before.
  /// - Complexity: O(*k*) in the size of the changes.
  @discardableResult
  public func append(
    _ changes: RecordBatch, removing removed: [UInt64] = [], durability: Durability = .durable,
    schema: UInt32? = nil
  ) throws(ArchiveError) -> Archive.Summary {
    try changing { (state) throws(ArchiveError) in
      guard let archive = state.archive else {
        return try rewrite(changes, schema: schema ?? 0, &state)
      }
      if let poison = state.poison { throw poison }
      guard changes.knownSymbolCount == archive.history.symbols.names.count else {
        throw ArchiveError(.outdated)
      }
      let summary = try append(
        changes, removing: removed, schema: schema ?? archive.schema, durability, &state)
      if let archive = state.archive, archive.history.isJournalTooLong { try compact(&state) }
      return summary
    }
  }

  /// Writes a new file with these records only, under a new data key.
  ///
  /// - Parameters:
  ///   - records: All records, from a builder of this writer or a new one.
  ///   - schema: A number of the application's own; the last one stays if nil.
  /// - Returns: What was written.
  /// - Throws: ``ArchiveError`` as ``Archive/write(_:to:key:context:replacing:schema:)``
  ///   does.
  @discardableResult
  public func rewrite(
    _ records: RecordBatch, schema: UInt32? = nil
  ) throws(ArchiveError) -> Archive.Summary {
    try changing { (state) throws(ArchiveError) in
      try rewrite(records, schema: schema ?? state.archive?.schema ?? 0, &state)
    }
  }

  /// Writes a new file with the records that there are, under a new data key.
  ///
  /// It takes a chunk and 16 bytes for each record in memory.
  ///
  /// - Throws: ``ArchiveError`` with `damaged` if a record of the snapshot was
  ///   changed, and what the storage throws. Then the archive is as before.
  /// - Complexity: O(*n*) in the size of the archive.
  public func compact() throws(ArchiveError) {
    try changing { (state) throws(ArchiveError) in try compact(&state) }
  }

  /// Puts what was appended lazily on stable storage.
  ///
  /// - Throws: ``ArchiveError``: the first failure to do so, also of one that
  ///   ran by itself.
  public func synchronize() throws(ArchiveError) {
    try changing { (state) throws(ArchiveError) in
      if let poison = state.poison { throw poison }
      try synchronize(&state)
    }
  }

  private func changing<Result: Sendable>(
    _ body: (inout State) throws(ArchiveError) -> Result
  ) throws(ArchiveError) -> Result {
    guard process == ProcessIdentity.current else { throw ArchiveError(.forked) }
    return try state.withLock { (state) throws(ArchiveError) in
      do {
        return try body(&state)
      } catch {
        throw error.located(at: storage.location)
      }
    }
  }
}

extension ArchiveWriter {
  private func append(
    _ changes: RecordBatch, removing removed: [UInt64], schema: UInt32, _ durability: Durability,
    _ state: inout State
  ) throws(ArchiveError) -> Archive.Summary {
    guard let archive = state.archive, let keys = state.keys, let file = state.file else {
      throw ArchiveError(.inputOutput, subject: "nothing is open")
    }
    var history = archive.history
    let sink = CommitSink()
    let writer = try CommitWriter(
      flags: CommitHeader.journal, after: history.version, keys: keys,
      chunkByteCount: state.chunkByteCount, random: random,
      witness: ContentHash.of(changes, removed), sink: sink)
    try writer.append(changes.frames, changes.index)
    for record in removed { writer.remove(record) }
    let version = try writer.finish(symbols: changes.symbols, schema: schema)

    try write(sink.bytes, to: file, at: history.end, &state)
    if durability == .durable { try synchronize(&state) } else { state.syncIsDue = true }

    state.archive = nil
    try history.apply(changes, removing: removed, version, schema: schema, count: sink.bytes.count)
    state.archive = Archive(history, limits: limits, isWritable: true)
    if case .lazy(let delay) = durability { synchronizeLater(delay) }
    return Archive.Summary(
      version: version, byteCount: sink.bytes.count, recordCount: changes.count)
  }

  /// One positioned write; what an earlier one left behind is cut off first.
  private func write(
    _ bytes: [UInt8], to file: any AppendableArchiveFile, at end: Int, _ state: inout State
  ) throws(ArchiveError) {
    do {
      if try file.currentByteCount() > end { try file.truncate(to: end) }
      try file.write(bytes, at: end)
    } catch {
      do {
        try file.truncate(to: end)
      } catch {
        state.poison = ArchiveError(.poisoned)
      }
      throw error
    }
  }

  /// A failed sync may have lost pages that a second one would not miss, so
  /// there is no second one.
  private func synchronize(_ state: inout State) throws(ArchiveError) {
    do {
      try state.file?.synchronize()
      state.syncIsDue = false
    } catch {
      state.poison = ArchiveError(.poisoned, systemError: error.systemError)
      throw error
    }
  }

  private func synchronizeLater(_ delay: Duration) {
    Task.detached { [weak self] in
      try? await Task.sleep(for: delay)
      self?.synchronizeIfDue()
    }
  }

  /// The failure stays in the state; the next change gives it to the caller.
  private func synchronizeIfDue() {
    state.withLock { state in
      if state.syncIsDue { try? synchronize(&state) }
    }
  }

  private func rewrite(
    _ records: RecordBatch, schema: UInt32, _ state: inout State
  ) throws(ArchiveError) -> Archive.Summary {
    try Self.prepareToReplace(records, state.archive)
    let summary = try replace(&state) { writer throws(ArchiveError) in
      try writer.append(records.frames, records.index)
      var symbols = records.knownSymbolCount == 0 ? SymbolTable() : state.archive?.history.symbols
      try symbols?.append(decoding: records.symbols, limits: limits)
      return (
        try writer.finish(symbols: symbols?.encoded(from: 0) ?? records.symbols, schema: schema),
        records.count
      )
    }
    return summary
  }
}
