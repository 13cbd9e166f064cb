internal import Synchronization

extension ArchiveWriter {
  /// Puts what is stored on stable storage, also what another process has written: that one may have ended
  /// before its sync.
  ///
  /// - Throws: `poisoned` after a sync that failed, and as ``append(_:removing:schema:)``.
  package func synchronize() throws(ArchiveError) {
    try changing { (state) throws(ArchiveError) in
      if let poison = state.poison { throw poison }
      try synchronize(&state)
    }
  }

  func append(
    _ changes: RecordBatch, _ removed: [UInt64], schema: UInt32?, _ state: inout State
  ) throws(ArchiveError) -> Archive.Summary {
    guard let (keys, file) = state.open.map({ ($0.keys, $0.file) }),
      let before = state.open?.history.position
    else { throw ArchiveError(.inputOutput, subject: "not open") }
    let schema = schema ?? before.schema
    guard changes.continues(before.symbols) else { throw ArchiveError(.outdated) }
    _ = try changes.names(within: limits)
    guard state.open?.history.isFull(limits) == false else {
      throw ArchiveError(.limitExceeded, subject: "changes of an archive; rewrite it")
    }
    // The commit is collected in memory, so that it is written in one piece.
    let sink = MemorySink()
    let commit = try CommitWriter(
      flags: CommitHeader.journal, after: before.version, keys: keys, random: random,
      writingWitness: { changes.writeWitness(removing: removed, schema: schema, to: $0) },
      sink: sink)
    try commit.append(changes)
    for record in removed { commit.remove(record) }
    let version = try commit.finish(symbols: changes.symbols, schema: schema).trailer.version

    try write(sink.bytes, to: file, at: before.end, &state)
    let failure = try synchronize(before.end, or: version, &state)
    // Changed in place: a second reference would have the whole journal copied.
    state.open?.history.append(
      changes, removing: removed, version, schema: schema, byteCount: sink.bytes.count)
    if let failure { throw failure }
    try checkIsStillThere(file, byteCount: state.open?.byteCount)
    return Archive.Summary(
      version: version, byteCount: sink.bytes.count, recordCount: changes.count)
  }

  /// Writes with one positioned write; bytes that an earlier write left behind are cut off first.
  private func write(
    _ bytes: [UInt8], to file: any AppendableArchiveFile, at end: Int, _ state: inout State
  ) throws(ArchiveError) {
    do {
      if state.open?.byteCount != end { try file.truncate(to: end) }
      try file.write(bytes, at: end)
      state.open?.byteCount = end + bytes.count
    } catch {
      if !takeBack(to: end, &state) { state.poison = ArchiveError(.poisoned) }
      throw error
    }
  }

  /// Checks that nobody has taken the file away meanwhile, or cut it off, and the
  /// change with it.
  ///
  /// The lock is not checked: without the lock the change is there all the same, and
  /// the next change fails. If the check itself fails, the change counts as there: it
  /// was written, and synced if it must be.
  private func checkIsStillThere(
    _ file: any AppendableArchiveFile, byteCount: Int?
  ) throws(ArchiveError) {
    do {
      try check(file, hasByteCount: byteCount)
    } catch {
      if error.code == .outdated { throw error }
    }
  }

  /// Cuts off a commit that was not acknowledged; false if it is still there.
  private func takeBack(to end: Int, _ state: inout State) -> Bool {
    guard let file = state.open?.file else { return false }
    // A cut that fails may have taken place all the same.
    let isCut = (try? file.truncate(to: end)) != nil
    let byteCount = isCut ? end : (try? file.storedByteCount())
    state.open?.byteCount = byteCount
    state.open?.hasLeftOver = byteCount != end
    return byteCount == end
  }

  /// Puts a commit on stable storage; if that fails, takes the commit back and throws.
  ///
  /// If the commit cannot be taken back, readers find it, so it is part of the archive;
  /// the error to throw then is returned.
  private func synchronize(
    _ end: Int, or version: ArchiveVersion, _ state: inout State
  ) throws(ArchiveError) -> ArchiveError? {
    do {
      try synchronize(&state)
      return nil
    } catch {
      guard takeBack(to: end, &state) else {
        return ArchiveError(.notDurable, systemError: error.systemError)
      }
      state.open?.takenBack = version
      throw error
    }
  }

  /// Synchronizes at most once.
  ///
  /// A failed sync may have lost pages, and a second one would not report them.
  private func synchronize(_ state: inout State) throws(ArchiveError) {
    do {
      try state.open?.file.synchronize()
    } catch {
      state.poison = ArchiveError(.poisoned, systemError: error.systemError)
      throw error
    }
  }
}

extension RecordBatch {
  /// Checks that no record is both changed and removed.
  ///
  /// A later commit finds that by its index; the first file of an archive has no
  /// entries for removed records.
  func checkKeeps(none removed: [UInt64]) throws(ArchiveError) {
    let removed = Set(removed)
    guard let both = index.entries.first(where: { removed.contains($0.record) }) else { return }
    throw ArchiveError(.malformed, subject: "record \(both.record) is not unique")
  }

  /// Writes the content of a change, for the salt of its commit: each part after its
  /// length, so that no two changes have the same bytes.
  ///
  /// The index and the footer have no other content.
  fileprivate func writeWitness(
    removing removed: [UInt64], schema: UInt32, to writer: ByteBuffer
  ) {
    writer.writeInteger(schema)
    writer.writeInteger(UInt64(byteCount))
    frames.forEachPiece(of: 0..<byteCount) { writer.write($0) }
    writer.writeInteger(UInt64(symbols.count))
    writer.write(symbols)
    writer.writeInteger(UInt64(removed.count))
    for record in removed { writer.writeInteger(record) }
  }
}
