package import ArchiveCodec

extension StateFile {
  /// How many bytes were written, and the moment that another state has become which this one has
  /// replaced since the last change.
  package typealias Appended = (byteCount: Int, kept: Moment?)

  /// The writer of the state, whose builder the records of the next change come from.
  ///
  /// A state that was let go is opened again, unless another one is stored by now. A state that stands in
  /// for the stored one takes its place before.
  ///
  /// - Returns: The writer; nil if there is no state to go on from, so that the next change has all records,
  ///   from a builder of its own.
  /// - Throws: As ``append(_:removing:schema:isCompactionDue:)``.
  package func openWriter() throws(ArchiveError) -> ArchiveWriter? {
    if let writing { return writing.writer }
    if let (version, reason) = former {
      do throws(ArchiveError) {
        if let writer = try goOn(try claim(), try key(), from: version) {
          keeps = reason
          return writer
        }
      } catch {
        guard error.isAboutContent else { throw error }
      }
      former = nil
    }
    guard let standIn else { return nil }
    let (claim, key) = (try claim(), try key())
    try put(standIn, claim, keeping: keeps)
    numbering += 1
    return try goOn(claim, key)
  }

  /// What the next change goes on from, also where nothing can be written.
  func archiveToRead() throws(ArchiveError) -> Archive? {
    do throws(ArchiveError) { return try openWriter()?.archive } catch {
      let archive = try open(nil, try claimToRead(), try key())
      guard let former, archive?.version == former.version else { throw error }
      return archive
    }
  }

  /// Lets what was restored or saved be, since nobody goes on from it: the next change keeps it as a moment.
  package func letBe() {
    (standIn, former) = (nil, nil)
    if writing?.writer.archive?.hasRecords == true { forgetStored() }
  }

  /// Appends changed and removed records as one commit, which is there for good when the call returns.
  ///
  /// What is stored and was not read here becomes a moment before that. If the key is another one by now,
  /// the whole state is sealed anew, as by a compaction.
  ///
  /// - Parameters:
  ///   - records: The records; see ``openWriter()``.
  ///   - removed: The numbers of records that are gone.
  ///   - schema: The time of the save; see `Date.savedSeconds`.
  ///   - isDue: Whether what is removed must leave no trace; the records have
  ///     ``TreeRecord/compactionDue`` then.
  /// - Returns: What was written.
  /// - Throws: `ArchiveError`; then nothing was written, or with `notDurable` a power cut may undo it.
  ///   After `outdated` the records are built again; all of them if there is no ``openWriter()``.
  package func append(
    _ records: RecordBatch, removing removed: [UInt64] = [], schema: UInt32 = 0,
    isCompactionDue isDue: Bool = false
  ) throws(ArchiveError) -> Appended {
    // A writer looks at the lock itself.
    let claim = if writing != nil, let claimed { claimed } else { try self.claim() }
    // Before the change: it may be there though the call fails.
    let wasDue = isCompactionDue
    isCompactionDue = wasDue || isDue
    do throws(ArchiveError) {
      let byteCount =
        if let writer = try preparedWriter() {
          try writer.append(
            records, removing: removed.filter { $0 != TreeRecord.compactionDue }, schema: schema
          ).byteCount
        } else {
          try begin(records, claim, try key(creating: true), schema: schema, keeping: keeps)
        }
      if isCompactionDue { try? compactWithoutTrace() }
      return (byteCount, takeKept(claim))
    } catch {
      if error.code != .outdated, error.code != .notDurable { isCompactionDue = wasDue }
      if error.code == .outdated, let writing { recover(writing.writer) }
      if kept != nil { removeExcess(claim) }
      throw error
    }
  }

  /// The writer of the next change, after all that comes before the change.
  ///
  /// - Throws: Never `notDurable`, which would say that the change is there.
  private func preparedWriter() throws(ArchiveError) -> ArchiveWriter? {
    do throws(ArchiveError) {
      guard let writer = try openWriter() else { return nil }
      // After a sync that failed only a new file is sure to be on the disk.
      if keeps != .replaced || writer.isPoisoned {
        try writer.compact()
        keeps = .replaced
      }
      guard let key = try source.keys.key(creating: true) else { throw noKey }
      if writing?.key.isSame(as: key) == false {
        try writer.rotate(slots: [.key(key)])
        writing?.key = key
      }
      return writer
    } catch {
      throw error.beforeAChange
    }
  }

  /// Waits until what is stored outlasts a power cut: the process that wrote it may have ended before that.
  package func synchronize() throws(ArchiveError) {
    guard let writer = try openWriter() else { return }
    if writer.isPoisoned { try writer.compact() } else { try writer.synchronize() }
  }

  /// Goes on after somebody has taken the file or its lock away.
  ///
  /// The records are read from the file that this instance has open; what lies in its place now
  /// becomes a moment.
  private func recover(_ writer: ArchiveWriter) {
    // The records may have been built before a change that brought new names.
    if (try? writer.checkIsCurrent()) != nil { return }
    let reason = keeps
    forgetStored()
    guard let archive = writer.archive else { return }
    former = (archive.version, reason)
    // After a failure the next save begins anew, and keeps what is stored.
    if let copy = try? copy(of: archive, key(), self.claim()) {
      (standIn, keeps) = (copy, .conflict)
    }
  }

  /// The last moment that another archive has replaced since the last call, if not one that is shorter.
  func takeKept(_ claim: Claim) -> Moment? {
    guard let moment = kept.take() else { return nil }
    removeExcess(claim)
    return moment.reason == .replaced ? nil : moment
  }

  // MARK: No trace

  /// Writes the file anew without what was removed, and without its name, if that is due.
  ///
  /// After a failure the next append, the end and the next launch try again.
  func compactWithoutTrace() throws(ArchiveError) {
    guard isCompactionDue, let writer = writing?.writer, let archive = writer.archive
    else { return }
    let records = try records(of: archive)
    numbering += 1
    try writer.rewrite(records, schema: archive.schema)
    (keeps, isCompactionDue) = (.replaced, false)
  }

  /// The records of an archive with a table of the names that they use.
  private func records(of archive: Archive) throws(ArchiveError) -> RecordBatch {
    let builder = RecordBuilder(limits: source.limits)
    do {
      try archive.forEachRecord { record in
        guard record.identifier != TreeRecord.compactionDue else { return }
        let content = try record.content.get()
        try builder.append(record: record.identifier) { try $0.copyAll(from: content) }
      }
      return try builder.finish()
    } catch {
      throw .content(error)
    }
  }

  /// An archive of its own with the same records.
  func copy(
    of archive: Archive, _ key: ArchiveKey, _ claim: Claim
  ) throws(ArchiveError) -> (any ArchiveFile)? {
    let memory = MemoryStorage()
    _ = try Archive.write(
      try records(of: archive), to: memory, key: key, context: claim.context,
      schema: archive.schema)
    return try memory.open()
  }

  // MARK: The end

  /// Replaces the state by an empty one, and removes all moments that a restore may take.
  ///
  /// - Throws: Why something of the state is still there.
  package func discard() throws(ArchiveError) {
    let claim = try claim()
    var isEmpty = false
    if try claim.main.open() != nil {
      do throws(ArchiveError) {
        try beginEmpty(claim, try key(creating: true))
        isEmpty = true
      } catch {
        guard error.code == .keyLocked else { throw error }
      }
    }
    try claim.moments.remove(try claim.restorable())
    if !isEmpty {
      // A key that is locked seals no empty state, so the state itself goes last.
      try claim.main.remove()
      forgetStored()
    }
    try forgetLaunch(claim)
  }

  /// Notes that the app ends as it should, which the next launch says of this one.
  package func noteEnd() throws(ArchiveError) {
    if let mark { return mark.close() }
    guard let claimed else { return }
    let key = try key()
    try claimed.write(
      try claimed.launchRecord(key) ?? LaunchRecord(), LaunchNote(.closed), key)
  }

  /// Lets the state go, and notes that the launch has ended.
  ///
  /// - Throws: Why something that is to leave no trace still has one; then nothing is let go.
  package func close() throws(ArchiveError) {
    try compactWithoutTrace()
    mark?.end()
    mark = nil
    let former = writing?.writer.version.map { ($0, keeps) } ?? former
    forgetStored()
    self.former = former
    claimed = nil
  }
}
