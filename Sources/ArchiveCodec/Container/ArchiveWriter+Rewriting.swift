extension ArchiveWriter {
  func rewrite(
    _ records: RecordBatch, schema: UInt32?, _ state: inout State
  ) throws(ArchiveError) -> Archive.Summary {
    var symbols = SymbolTable()
    if records.knownSymbolCount > 0 {
      symbols = state.open?.archive.history.symbols ?? SymbolTable()
      guard records.knownSymbolCount == symbols.names.count else { throw ArchiveError(.outdated) }
    }
    try symbols.append(decoding: records.symbols, limits: limits)
    return try replace(schema: schema, symbols, &state) { writer throws(ArchiveError) in
      try writer.append(records.frames, records.index)
      return records.count
    }
  }

  /// The frames are copied as they are: the new file keeps the names' numbers.
  func compact(_ state: inout State) throws(ArchiveError) {
    guard let archive = state.open?.archive else { return }
    _ = try replace(schema: nil, archive.history.symbols, &state) { writer throws(ArchiveError) in
      var count = 0
      try archive.visitFrames { (record, read) throws(ArchiveError) in
        let frame = try read()
        count += 1
        try writer.append(frame.bytes, [frame.entry(record)])
      }
      return count
    }
  }

  private func replace(
    schema: UInt32?, _ symbols: SymbolTable, _ state: inout State,
    _ body: (SnapshotWriter) throws(ArchiveError) -> Int
  ) throws(ArchiveError) -> Archive.Summary {
    let old = state.open?.archive
    var summary: Archive.Summary?
    try storage.replace { sink throws(ArchiveError) in
      let writer = try SnapshotWriter(
        key: key, context: context, replacing: old?.version, random: random,
        moment: moment ?? .now, sink: sink)
      let count = try body(writer)
      let version = try writer.finish(
        symbols: symbols.encoded(from: 0), schema: schema ?? old?.schema ?? 0)
      summary = Archive.Summary(
        version: version, byteCount: writer.byteCount, recordCount: count)
    }
    state = State(
      open: try Self.openFile(
        storage, key: key, context: context, limits: limits, recovery: .strict))
    guard let summary, state.open?.archive.version == summary.version else {
      throw ArchiveError(.inputOutput, subject: "storage wrote nothing")
    }
    return summary
  }
}
