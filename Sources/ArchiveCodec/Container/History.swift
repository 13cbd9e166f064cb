/// The commits of an open file: the snapshot, and the journal as an overlay.
///
/// The snapshot was written whole and renamed into place, so its chunks are
/// checked when they are read. A journal commit may be torn, so every chunk of
/// it is checked here, and its records stay in memory.
struct History: Sendable {
  enum Change: Sendable {
    case record(RecordFrame)
    case removed
  }

  /// The version of the file that this one replaced.
  let replaced: ArchiveVersion
  let snapshot: CommitContent
  let snapshotRange: Range<Int>
  /// The names of all commits.
  var symbols = SymbolTable()
  /// The changes of the journal, by record.
  var changes: [UInt64: Change] = .init()
  /// The version after each commit, the snapshot's first.
  var versions: [ArchiveVersion]
  var schema: UInt32
  /// The offset at which the last commit of the history ends.
  var end: Int
  /// The reason why later bytes were left out; nil if none were.
  var dropped: ArchiveError?
  /// Whether the bytes that were left out may be the beginning of a commit that is
  /// being written: the file does not end as a commit does.
  var mayGoOn = false

  var version: ArchiveVersion { versions[versions.count - 1] }

  /// Whether the journal costs more to read than it saves to write.
  ///
  /// If the file is rewritten when the journal has reached half of the snapshot, all
  /// writing together is at most three times the changes.
  func isJournalTooLong(_ limits: ArchiveLimits) -> Bool {
    end - snapshotRange.upperBound > longestJournal || versions.count > limits.commitCount / 2
  }

  /// Whether the file has as many changes as can be read.
  func isFull(_ limits: ArchiveLimits) -> Bool { versions.count >= limits.commitCount }

  var longestJournal: Int { max(1 << 16, snapshotRange.count / 2) }
}

extension History {
  /// Verifies the chain of a file; a torn or damaged end of the journal is left
  /// out.
  static func read(
    _ file: any ArchiveFile, _ unlocked: UnlockedHeader, limits: ArchiveLimits
  ) throws(ArchiveError) -> History {
    let header = unlocked.header
    let locator = CommitLocator(
      file: file, start: header.byteCount, chunkByteCount: header.chunkByteCount,
      largestCount: limits.commitCount)
    let whole = try locator.backwards()
    if let ends = whole {
      do throws(ArchiveError) {
        let history = try History(
          file, ends, header: header, keys: unlocked.schedule, limits: limits)
        if history.dropped == nil { return history }
      } catch {
        // The trailers may be wrong; the lengths from the start decide.
        guard error.code == .damaged else { throw error }
      }
    }
    let located = try locator.forwards()
    guard !located.ends.isEmpty else { throw located.ending ?? ArchiveError(.truncated) }
    var history = try History(
      file, located.ends, header: header, keys: unlocked.schedule, limits: limits)
    history.dropped = history.dropped ?? located.ending
    history.mayGoOn = whole == nil && history.dropped?.code == .truncated
    return history
  }

  /// Reads the commits, whose ends are given in order.
  private init(
    _ file: any ArchiveFile, _ ends: [Int], header: Header, keys: borrowing KeySchedule,
    limits: ArchiveLimits
  ) throws(ArchiveError) {
    let chunkByteCount = header.chunkByteCount
    replaced = header.replaced
    let base = ArchiveVersion(generation: header.baseGeneration, mac: keys.genesis)
    snapshotRange = header.byteCount..<ends[0]
    let first = try SealedCommit(
      file, snapshotRange, after: base, flags: CommitHeader.snapshot, keys: keys,
      chunkByteCount: chunkByteCount)
    snapshot = try CommitContent(first, limits: limits)
    versions = [first.version]
    schema = snapshot.footer.schema
    end = ends[0]
    try snapshot.addSymbols(to: &symbols)
    for next in ends.dropFirst() {
      do throws(ArchiveError) {
        let commit = try SealedCommit(
          file, end..<next, after: version, flags: CommitHeader.journal, keys: keys,
          chunkByteCount: chunkByteCount)
        try apply(try CommitContent(commit, limits: limits), commit.version, end: next)
      } catch {
        guard error.code == .damaged || error.code == .truncated else { throw error }
        dropped = error
        return
      }
    }
  }

  /// Lays a verified commit over the commits before.
  mutating func apply(
    _ content: CommitContent, _ version: ArchiveVersion, end: Int
  ) throws(ArchiveError) {
    var latest: [(record: UInt64, change: Change)] = []
    var walk = FrameWalk(content)
    while let entry = try walk.next() {
      latest.append((entry.record, .record(try content.recordFrame(entry, in: &walk.window))))
    }
    if latest.count < content.footer.recordCount {
      latest += try content.index().filter(\.isRemoval).map { ($0.record, .removed) }
    }
    try content.addSymbols(to: &symbols)
    for (record, change) in latest { changes[record] = change }
    versions.append(version)
    schema = content.footer.schema
    self.end = end
  }
}

extension History {
  /// The state that the next change goes on from.
  var position: (version: ArchiveVersion, end: Int, schema: UInt32, symbols: SymbolTable) {
    (version, end, schema, symbols)
  }

  /// Notes a change that this process has just written.
  ///
  /// - Complexity: O(*k*) in the size of the change.
  mutating func append(
    _ batch: RecordBatch, removing removed: [UInt64], _ version: ArchiveVersion, schema: UInt32,
    byteCount: Int
  ) {
    symbols = batch.names
    for entry in batch.index.entries {
      changes[entry.record] = .record(
        RecordFrame(bytes: batch.frames.bytes(entry.frameRange), mapOffset: entry.mapOffset))
    }
    for record in removed { changes[record] = .removed }
    versions.append(version)
    self.schema = schema
    end += byteCount
    dropped = nil
  }
}
