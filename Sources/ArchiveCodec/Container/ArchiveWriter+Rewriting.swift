extension ArchiveWriter {
  func rewrite(
    _ records: RecordBatch, schema: UInt32?, _ state: inout State
  ) throws(ArchiveError) -> Archive.Summary {
    var symbols = SymbolTable()
    if records.knownSymbolCount > 0 {
      symbols = state.open?.history.symbols ?? SymbolTable()
      guard records.knownSymbolCount == symbols.names.count else { throw ArchiveError(.outdated) }
    }
    try symbols.append(decoding: records.symbols, limits: limits)
    return try replace(schema: schema, symbols, &state) { writer throws(ArchiveError) in
      writer.reserve(for: records)
      try writer.append(records.frames.blocks, records.index)
      return records.count
    }
  }

  /// The frames are copied as they are: the new file keeps the names' numbers.
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
        try writer.append([frame.bytes], [frame.entry(record)])
      }
      return count
    }
  }

  private func replace(
    schema: UInt32?, _ symbols: SymbolTable, slots: [NewSlot]? = nil, _ state: inout State,
    _ body: (SnapshotWriter) throws(ArchiveError) -> Int
  ) throws(ArchiveError) -> Archive.Summary {
    let old = state.open?.history
    let file = try newFile(slots: slots, after: state.open)
    var summary: Archive.Summary?
    try replaceStorage(&state) { sink throws(ArchiveError) in
      let writer = try SnapshotWriter(file, random: random, moment: moment ?? .now, sink: sink)
      let count = try body(writer)
      let version = try writer.finish(
        symbols: symbols.encoded(from: 0), schema: schema ?? old?.schema ?? 0)
      summary = Archive.Summary(
        version: version, byteCount: writer.byteCount, recordCount: count)
    }
    try reopen(file, &state)
    guard let summary, state.open?.history.version == summary.version else {
      throw ArchiveError(.inputOutput, subject: "storage wrote nothing")
    }
    return summary
  }

  /// Replaces the file; after a failure, appends only if the old one is there.
  ///
  /// A replacement may fail when the new file is already in place, but not for
  /// good. What were appended to either of them could be lost then.
  func replaceStorage(
    _ state: inout State, _ body: (any ArchiveSink) throws(ArchiveError) -> Void
  ) throws(ArchiveError) {
    do {
      try storage.replace(body)
    } catch {
      if !isInPlace(state.open) { state.poison = ArchiveError(.poisoned) }
      throw error
    }
  }

  private func isInPlace(_ open: State.Open?) -> Bool {
    do {
      guard let file = try storage.open() else { return open == nil }
      return open?.keys.matches(try StoredHeader(reading: file)) ?? false
    } catch {
      return false
    }
  }

  private func newFile(
    slots: [NewSlot]?, after old: State.Open?
  ) throws(ArchiveError) -> UnlockedHeader {
    if slots == nil, let old {
      return try old.keys.successor(replacing: old.history.version, random: random)
    }
    return try UnlockedHeader(
      making: slots ?? firstSlots, context: context, replacing: old?.history.version,
      random: random)
  }

  /// Goes on with a file that this writer has just put in place.
  func reopen(_ file: UnlockedHeader, _ state: inout State) throws(ArchiveError) {
    let open = try Self.openFile(storage, limits: limits, recovery: .strict) {
      (stored) throws(ArchiveError) in
      guard file.matches(stored) else {
        throw ArchiveError(.inputOutput, subject: "storage wrote something else")
      }
      return file
    }
    state = State(open: open)
  }
}
