extension ArchiveWriter {
  func rewrite(
    _ records: RecordBatch, schema: UInt32?, _ state: inout State
  ) throws(ArchiveError) -> Archive.Summary {
    var symbols = SymbolTable()
    if records.knownSymbolCount > 0 {
      symbols = state.open?.history.symbols ?? SymbolTable()
      guard records.continues(symbols) else { throw ArchiveError(.outdated) }
    }
    try symbols.append(decoding: records.symbols, limits: limits)
    return try replace(schema: schema, symbols, &state) { writer throws(ArchiveError) in
      try writer.append(records)
      return records.count
    }
  }

  /// Writes the present records to a new file.
  ///
  /// The frames are copied as they are: the new file keeps the numbers of the names.
  ///
  /// With slots, only they open the new file, which has a new data key.
  func compact(_ state: inout State, slots: [NewSlot]? = nil) throws(ArchiveError) {
    guard let history = state.open?.history else { return }
    let archive = Archive(history, limits: limits, isWritable: true)
    _ = try replace(schema: nil, history.symbols, slots: slots, &state) {
      writer throws(ArchiveError) in
      var count = 0
      try archive.visitFrames { (record, read) throws(ArchiveError) in
        let frame = try read([])
        count += 1
        try writer.append(frame, of: record)
      }
      return count
    }
  }

  /// Writes a file anew that ends with a part of a commit and has another name, and does not write into that
  /// part.
  ///
  /// Where the new file cannot be written, the part is cut off.
  func compactIfTorn(_ state: inout State) {
    guard let open = state.open, let byteCount = open.byteCount, byteCount > open.history.end,
      open.file.hasOtherNames
    else { return }
    do {
      try compact(&state)
    } catch {
      if error.code == .notDurable { state.compactionFailure = error }
    }
  }

  /// Compacts a journal that is too long.
  ///
  /// A failure does not fail the change before, which is stored.
  func compactIfDue(_ state: inout State) {
    // Read in place: a copy would count a reference for each part of the history.
    guard state.open?.history.isJournalTooLong(limits) == true, let history = state.open?.history,
      history.end >= state.nextCompaction.byteCount
        || history.versions.count >= state.nextCompaction.commitCount
    else { return }
    do {
      try compact(&state)
    } catch {
      state.compactionFailure = error
      state.nextCompaction = (
        byteCount: history.end + history.longestJournal,
        commitCount: history.versions.count + max(1, limits.commitCount / 8)
      )
    }
  }

  /// Compacts a journal that takes no more changes, before the next one: who wrote the last one was
  /// ended before it compacted the journal, or could not.
  ///
  /// - Throws: `outdated`, and `poisoned` after `notDurable`, which would say that the change is there.
  ///   After another failure the journal stays full, and the change says so.
  func compactIfFull(_ state: inout State) throws(ArchiveError) {
    guard state.open?.history.isFull(limits) == true else { return }
    do throws(ArchiveError) {
      try compact(&state)
    } catch {
      state.compactionFailure = error
      if let poison = state.poison { throw poison }
      if error.code == .outdated { throw error }
    }
  }

  private func replace(
    schema: UInt32?, _ symbols: SymbolTable, slots: [NewSlot]? = nil, _ state: inout State,
    _ body: (CommitWriter) throws(ArchiveError) -> Int
  ) throws(ArchiveError) -> Archive.Summary {
    let old = state.open?.history
    let file = try newFile(slots: slots, after: state.open)
    var summary: Archive.Summary?
    // Also after `notDurable`, since the file is there then.
    defer { if state.unopened != nil { state.unopenedVersion = summary?.version } }
    try replaceStorage(by: file, &state) { sink throws(ArchiveError) in
      let writer = try CommitWriter(file, random: random, moment: moment ?? .now, sink: sink)
      let count = try body(writer)
      let version = try writer.finish(
        symbols: symbols.encoded(from: 0), schema: schema ?? old?.schema ?? 0)
      summary = Archive.Summary(
        version: version, byteCount: writer.fileByteCount, recordCount: count)
    }
    guard let summary else { throw ArchiveError(.inputOutput, subject: "storage wrote nothing") }
    return summary
  }

  /// Replaces the file and goes on with the new one.
  ///
  /// The writer also does so after `notDurable`. But a power cut may take the name of that
  /// file, and with it later appends, so nothing is appended until a later replacement.
  ///
  /// If the new file cannot be opened, it was written all the same; the next change tries
  /// again to open it. If another writer has replaced it meanwhile, that change finds out.
  func replaceStorage(
    by file: UnlockedHeader, _ state: inout State,
    _ body: (any ArchiveSink) throws(ArchiveError) -> Void
  ) throws(ArchiveError) {
    var failure: ArchiveError?
    do throws(ArchiveError) {
      try storage.replace { sink throws(ArchiveError) in
        try body(sink)
        try willReplace()
      }
    } catch {
      guard error.code == .notDurable else { throw error }
      failure = error
    }
    do {
      try reopen(file, &state)
    } catch {
      state.unopened = file
    }
    guard let failure else { return }
    state.poison = ArchiveError(.poisoned, systemError: failure.systemError)
    throw failure
  }

  /// Opens the file that was put in place by the last replacement, if it could
  /// not be opened then.
  func reopenIfDue(_ state: inout State) throws(ArchiveError) {
    guard let file = state.unopened else { return }
    let (poison, failure) = (state.poison, state.compactionFailure)
    try reopen(file, &state)
    (state.poison, state.compactionFailure) = (poison, failure)
  }

  private func newFile(
    slots: [NewSlot]?, after old: State.Open?
  ) throws(ArchiveError) -> UnlockedHeader {
    if slots == nil, let old {
      return try old.keys.successor(replacing: old.newestVersion, random: random)
    }
    return try UnlockedHeader(
      making: slots ?? firstSlots, context: context, replacing: old?.newestVersion,
      random: random)
  }

  /// Goes on with a file that this writer has just put in its place.
  private func reopen(_ file: UnlockedHeader, _ state: inout State) throws(ArchiveError) {
    let open = try Self.openFile(storage, limits: limits, recovery: .strict) {
      (stored) throws(ArchiveError) in
      guard file.matches(stored) else {
        throw ArchiveError(.outdated, subject: "the file was replaced or removed")
      }
      return file
    }
    guard var open else {
      throw ArchiveError(.outdated, subject: "the file was replaced or removed")
    }
    // The table of before stays, so that records which were built with it still apply.
    if let symbols = state.open?.history.symbols, symbols.hasSameNames(as: open.history.symbols) {
      open.history.symbols = symbols
    }
    state = State(open: open)
  }
}

extension ArchiveWriter.State.Open {
  /// The last version that a reader can have seen.
  fileprivate var newestVersion: ArchiveVersion { takenBack ?? history.version }
}
