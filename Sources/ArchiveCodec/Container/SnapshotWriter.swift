/// Writes a whole new file: header and snapshot.
final class SnapshotWriter {
  static let chunkSize: UInt8 = 14

  private let commit: CommitWriter
  let header: Header
  let keys: FileKeys

  /// Writes the header, under a random data key of its own.
  init(
    key: ArchiveKey, context: ArchiveContext, replacing: ArchiveVersion?, random: RandomSource,
    moment: Archive.Moment, sink: any ArchiveSink
  ) throws(ArchiveError) {
    guard (replacing?.mac.count ?? 32) == 32 else {
      throw ArchiveError(.malformed, subject: "version to replace")
    }
    var header = Header(
      chunkSize: Self.chunkSize, archiveID: random.bytes(count: 16),
      fileSalt: random.bytes(count: 16), baseGeneration: replacing?.generation ?? 0,
      predecessorMAC: replacing?.mac ?? [UInt8](repeating: 0, count: 32))
    let dataKey = try SecretBytes(random, count: ArchiveKey.byteCount)
    let head = header.head
    header.slots = [
      try KeySlot(wrapping: dataKey, with: key, head: head, context: context, random: random)
    ]
    keys = FileKeys(
      try KeySchedule(
        dataKey: dataKey, fileSalt: header.fileSalt, head: head, context: context))
    self.header = header
    try sink.write(header.encoded(mac: keys.schedule.headerMAC(header.authenticatedBytes)))
    commit = try CommitWriter(
      flags: CommitHeader.snapshot,
      after: ArchiveVersion(generation: header.baseGeneration, mac: keys.schedule.genesis),
      keys: keys, chunkByteCount: 1 << Int(Self.chunkSize), random: random,
      witness: moment.witness, sink: sink)
  }

  /// Writes record frames; the entries say where each lies in these bytes.
  func append(_ frames: [UInt8], _ entries: some Sequence<IndexEntry>) throws(ArchiveError) {
    try commit.append(frames, entries)
  }

  func finish(symbols: [UInt8], schema: UInt32) throws(ArchiveError) -> ArchiveVersion {
    try commit.finish(symbols: symbols, schema: schema)
  }

  func finish(_ content: UncheckedContent) throws(ArchiveError) -> ArchiveVersion {
    try commit.finish(content)
  }

  /// The bytes of the file so far.
  var byteCount: Int { header.byteCount + commit.byteCount }
}
