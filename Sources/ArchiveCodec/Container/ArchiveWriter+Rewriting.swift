extension ArchiveWriter {
  func rewrite(
    _ records: RecordBatch, schema: UInt32?, _ state: inout State
  ) throws(ArchiveError) -> Archive.Summary {
    let isWhole = records.knownSymbolCount == 0
    guard isWhole || records.continues(state.open?.history.symbols ?? SymbolTable()) else {
      throw ArchiveError(.outdated)
    }
    let symbols = try records.names(within: limits)
    let encoded = isWhole ? records.symbols : symbols.encoded(from: 0)
    return try replace(schema: schema, (symbols, encoded), &state) { writer throws(ArchiveError) in
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
    let symbols = (history.symbols, history.symbols.encoded(from: 0))
    _ = try replace(schema: nil, symbols, slots: slots, &state) { writer throws(ArchiveError) in
      var count = 0
      try archive.visitFrames { (record, frame) throws(ArchiveError) in
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

  /// Writes a new file with the records that the body writes, and with names, also as they are encoded.
  private func replace(
    schema: UInt32?, _ symbols: (table: SymbolTable, encoded: [UInt8]), slots: [NewSlot]? = nil,
    _ state: inout State, _ body: (CommitWriter) throws(ArchiveError) -> Int
  ) throws(ArchiveError) -> Archive.Summary {
    let schema = schema ?? state.open?.history.schema ?? 0
    let file = try newFile(slots: slots, after: state.open)
    let header = file.encoded
    var written: (writer: CommitWriter, ending: CommitWriter.Ending, recordCount: Int)?
    // Also after `notDurable`, since the file is there then.
    defer { if state.unopened != nil { state.unopenedVersion = written?.ending.trailer.version } }
    try replaceStorage(by: file, &state) { sink throws(ArchiveError) in
      let writer = try CommitWriter(
        file, header, random: random, moment: moment ?? .now, sink: sink)
      let count = try body(writer)
      written = (writer, try writer.finish(symbols: symbols.encoded, schema: schema), count)
    } opening: { () throws(ArchiveError) in
      guard let (writer, ending, _) = written, let stored = try storage.openForAppending(),
        stored.byteCount == writer.fileByteCount,
        try stored.read(at: 0, count: header.count) == header
      else { return nil }
      // What was written is known. To read it once more took a sixth of a first save (benchmark: save
      // small states).
      let history = History(
        replaced: file.header.replaced,
        snapshot: try writer.snapshot(ending, in: stored, limits: limits),
        snapshotRange: header.count..<stored.byteCount, symbols: symbols.table.renumbered,
        versions: [ending.trailer.version], schema: schema, end: stored.byteCount)
      return State.Open(history: history, keys: file, file: stored, byteCount: stored.byteCount)
    }
    guard let (writer, ending, count) = written else {
      throw ArchiveError(.inputOutput, subject: "storage wrote nothing")
    }
    return Archive.Summary(
      version: ending.trailer.version, byteCount: writer.fileByteCount, recordCount: count)
  }

  /// Replaces the file and goes on with the new one, as it is read or as the writer knows it.
  ///
  /// The writer also does so after `notDurable`. But a power cut may take the name of that
  /// file, and with it later appends, so nothing is appended until a later replacement.
  ///
  /// If the new file cannot be opened, it was written all the same; the next change tries
  /// again to open it. If another writer has replaced it meanwhile, that change finds out.
  func replaceStorage(
    by file: UnlockedHeader, _ state: inout State,
    _ body: (any ArchiveSink) throws(ArchiveError) -> Void,
    opening open: () throws(ArchiveError) -> State.Open?
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
    do throws(ArchiveError) {
      try goOn(with: open(), &state)
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
    try goOn(with: read(file), &state)
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

  /// Reads a file that this writer has put in its place.
  func read(_ file: UnlockedHeader) throws(ArchiveError) -> State.Open? {
    try Self.openFile(storage, limits: limits, recovery: .strict) {
      (stored) throws(ArchiveError) in
      guard file.matches(stored) else {
        throw ArchiveError(.outdated, subject: "the file was replaced or removed")
      }
      return file
    }
  }

  private func goOn(with open: State.Open?, _ state: inout State) throws(ArchiveError) {
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
