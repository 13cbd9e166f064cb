internal import Synchronization

extension ArchiveWriter {
  func append(
    _ changes: RecordBatch, _ removed: [UInt64], schema: UInt32?, _ durability: Durability,
    _ state: inout State
  ) throws(ArchiveError) -> Archive.Summary {
    guard let (keys, file) = state.open.map({ ($0.keys, $0.file) }),
      let before = state.open?.history.position
    else { throw ArchiveError(.inputOutput, subject: "not open") }
    let schema = schema ?? before.schema
    guard changes.continues(before.symbols) else { throw ArchiveError(.outdated) }
    guard before.commitCount < limits.commitCount else {
      throw ArchiveError(.limitExceeded, subject: "changes of an archive; rewrite it")
    }
    // Collected, so that it is written at once.
    let sink = MemorySink()
    sink.reserve(byteCount: CommitWriter.byteCount(of: changes))
    let commit = try CommitWriter(
      flags: CommitHeader.journal, after: before.version, keys: keys,
      chunkByteCount: 1 << Int(keys.header.chunkSize), random: random,
      writingWitness: { changes.writeWitness(removing: removed, schema: schema, to: $0) },
      sink: sink)
    try commit.append(changes)
    for record in removed { commit.remove(record) }
    let version = try commit.finish(symbols: changes.symbols, schema: schema)

    try write(sink.bytes, to: file, at: before.end, &state)
    var failure: ArchiveError?
    switch durability {
    case .durable:
      failure = try synchronize(before.end, or: version, &state)
    case .lazy(let delay):
      synchronizeLater(delay, &state)
    }
    // In place: a second reference would have the whole journal copied.
    try state.open?.history.append(
      changes, removing: removed, version, schema: schema, byteCount: sink.bytes.count,
      limits: limits)
    if let failure { throw failure }
    try checkIsStillThere(file, byteCount: state.open?.byteCount)
    return Archive.Summary(
      version: version, byteCount: sink.bytes.count, recordCount: changes.count)
  }

  /// One positioned write; what an earlier one left behind is cut off first.
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

  /// Whoever took the file away meanwhile, or cut it off, took the change too.
  ///
  /// The lock says nothing of that: without it the change is there all the same,
  /// and the next one fails. If nobody can tell, it is there: it was written, and
  /// synced if it must be.
  private func checkIsStillThere(
    _ file: any AppendableArchiveFile, byteCount: Int?
  ) throws(ArchiveError) {
    do {
      try check(file, hasByteCount: byteCount)
    } catch {
      if error.code == .outdated { throw error }
    }
  }

  /// Cuts off what was not acknowledged; false if it is still there.
  private func takeBack(to end: Int, _ state: inout State) -> Bool {
    guard let file = state.open?.file else { return false }
    var byteCount: Int?
    do {
      do {
        try file.truncate(to: end)
        byteCount = end
      } catch {
        // It may be cut off all the same.
        byteCount = try file.storedByteCount()
      }
    } catch {
      byteCount = nil
    }
    state.open?.byteCount = byteCount
    state.open?.hasLeftOver = byteCount != end
    return byteCount == end
  }

  /// Puts a commit on stable storage; if that fails, takes it back and throws.
  ///
  /// If it cannot be taken back, readers find it, so it is part of the archive;
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

  /// A failed sync may have lost pages that a second one would not miss, so
  /// there is no second one.
  func synchronize(_ state: inout State) throws(ArchiveError) {
    state.syncTask?.cancel()
    state.syncTask = nil
    do {
      try state.open?.file.synchronize()
      state.syncDue = nil
    } catch {
      state.poison = ArchiveError(.poisoned, systemError: error.systemError)
      state.syncDue = nil
      throw error
    }
  }

  /// One sync is enough for all changes before it.
  private func synchronizeLater(_ delay: Duration, _ state: inout State) {
    let delay = min(max(delay, .zero), Self.longestDelay)
    let due = ContinuousClock.now + delay
    if let earlier = state.syncDue, earlier <= due { return }
    state.syncDue = due
    state.syncTask?.cancel()
    state.syncTask = Task.detached { [weak self] in
      do {
        try await Task.sleep(for: delay)
      } catch {
        // Somebody else has synchronized, or will sooner.
        return
      }
      self?.synchronizeIfDue()
    }
  }

  /// A year: the sum of a time and any duration would be a trap.
  private static let longestDelay = Duration.seconds(365 * 24 * 3600)

  /// A failure stays in the state; the next change gives it to the caller.
  private func synchronizeIfDue() {
    state.withLock { state in
      if state.syncDue != nil { try? synchronize(&state) }
    }
  }
}

extension RecordBatch {
  /// A commit finds the same by its index; the first file of an archive has none
  /// of what is removed.
  func checkKeeps(none removed: [UInt64]) throws(ArchiveError) {
    let removed = Set(removed)
    guard let both = index.entries.first(where: { removed.contains($0.record) }) else { return }
    throw ArchiveError(.malformed, subject: "record \(both.record) is not unique")
  }

  /// All that one change says, for the salt of its commit: each part with its
  /// length before it, so that no two changes have the same bytes.
  ///
  /// The index and the footer say nothing else.
  fileprivate func writeWitness(
    removing removed: [UInt64], schema: UInt32, to writer: ByteBuffer
  ) {
    writer.writeInteger(schema)
    writer.writeInteger(UInt64(byteCount))
    frames.blocks.forEachPiece(of: 0..<byteCount) { writer.write($0) }
    writer.writeInteger(UInt64(symbols.count))
    writer.write(symbols)
    writer.writeInteger(UInt64(removed.count))
    for record in removed { writer.writeInteger(record) }
  }
}
