/// Writes a whole new file: header and snapshot.
final class SnapshotWriter {
  private let commit: CommitWriter
  private let file: UnlockedHeader
  private let sink: any ArchiveSink

  /// Writes the header.
  init(
    _ file: UnlockedHeader, random: RandomSource, moment: Archive.Moment, sink: any ArchiveSink
  ) throws(ArchiveError) {
    self.file = file
    self.sink = sink
    try sink.write(file.encoded)
    commit = try CommitWriter(
      flags: CommitHeader.snapshot,
      after: ArchiveVersion(generation: file.header.baseGeneration, mac: file.schedule.genesis),
      keys: file, chunkByteCount: 1 << Int(file.header.chunkSize), random: random,
      witness: moment.witness, sink: sink)
  }

  /// Makes room for records, where the sink can.
  func reserve(for records: RecordBatch) {
    sink.reserve(byteCount: file.header.byteCount + CommitWriter.byteCount(of: records))
  }

  /// Writes record frames; the entries say where each lies in these bytes.
  func append(_ blocks: [[UInt8]], _ entries: some Sequence<IndexEntry>) throws(ArchiveError) {
    try commit.append(blocks, entries)
  }

  func finish(symbols: [UInt8], schema: UInt32) throws(ArchiveError) -> ArchiveVersion {
    try commit.finish(symbols: symbols, schema: schema)
  }

  /// The bytes of the file so far.
  var byteCount: Int { file.header.byteCount + commit.byteCount }
}
