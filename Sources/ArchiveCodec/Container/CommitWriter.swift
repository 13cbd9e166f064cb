/// Seals one commit while its records come in, and passes it on in order.
///
/// It holds one chunk and 16 bytes for each record.
final class CommitWriter {
  private let sink: any ArchiveSink
  private let keys: UnlockedHeader
  private let header: CommitHeader
  private let cipher: ChunkCipher
  private let previous: ArchiveVersion
  private let chunkByteCount: Int

  private var index = IndexBlocks()
  private var recordByteCount = 0
  /// Content that is not sealed yet; at most one chunk.
  private var pending: ChunkFrame
  private var chunkCount: UInt64 = 0
  private var contentByteCount = 0
  private(set) var byteCount = 0

  /// Writes the header of the commit that follows `previous` in the chain; the
  /// witness is something that no other commit shares.
  init(
    flags: UInt32, after previous: ArchiveVersion, keys: UnlockedHeader, chunkByteCount: Int,
    random: RandomSource, witness: [UInt8], sink: any ArchiveSink
  ) throws(ArchiveError) {
    guard previous.generation < .max else {
      throw ArchiveError(.limitExceeded, subject: "generation")
    }
    self.sink = sink
    self.keys = keys
    self.previous = previous
    self.chunkByteCount = chunkByteCount
    pending = ChunkFrame(chunkByteCount: chunkByteCount)
    let generation = previous.generation + 1
    header = CommitHeader(
      flags: flags, generation: generation,
      salt: keys.schedule.commitSalt(
        random: random, previousMAC: previous.mac, generation: generation, witness: witness))
    cipher = ChunkCipher(try keys.schedule.commitKey(header, previousMAC: previous.mac))
    try write(header.encoded)
  }

  /// About as many bytes as a commit of the records takes; seldom less.
  static func byteCount(of records: RecordBatch) -> Int {
    let content =
      records.byteCount + records.symbols.count + records.count * IndexEntry.byteCount + 256
    return content + content / 512
  }

  /// Writes record frames; the entries say where each lies in these bytes.
  func append(_ blocks: [[UInt8]], _ entries: some Sequence<IndexEntry>) throws(ArchiveError) {
    for entry in entries {
      index.append(
        IndexEntry(
          record: entry.record, offset: contentByteCount + entry.offset,
          byteCount: entry.byteCount))
      recordByteCount += entry.byteCount
    }
    for block in blocks { try append(block) }
  }

  func remove(_ record: UInt64) {
    index.append(IndexEntry(record: record, offset: 0, byteCount: 0))
  }

  /// Writes all that follows the records.
  ///
  /// - Throws: `malformed` if an identifier is 0 or was used twice.
  func finish(symbols: [UInt8], schema: UInt32) throws(ArchiveError) -> ArchiveVersion {
    let symbolRange = try appendFrame(.symbols, symbols)
    let indexByteCount = index.count * IndexEntry.byteCount
    try append(FrameKind.index.header(payloadByteCount: indexByteCount))
    let indexRange = contentByteCount..<contentByteCount + indexByteCount
    try index.write { bytes throws(ArchiveError) in try append(bytes) }
    let footerStart = contentByteCount
    let footer = Footer(
      schema: schema, recordCount: index.count, recordByteCount: recordByteCount,
      symbols: symbolRange, index: indexRange)
    _ = try appendFrame(.footer, footer.encoded)
    try sealPending(isLast: true)
    var trailer = Trailer(
      footerByteCount: UInt32(contentByteCount - footerStart), generation: header.generation,
      commitByteCount: UInt64(byteCount + Trailer.byteCount), mac: [])
    trailer.mac = keys.schedule.chainMAC(header, trailer, previousMAC: previous.mac)
    try write(trailer.encoded)
    return ArchiveVersion(generation: header.generation, mac: trailer.mac)
  }

  /// Returns the range of the payload in the content.
  private func appendFrame(
    _ kind: FrameKind, _ payload: [UInt8]
  ) throws(ArchiveError) -> Range<Int> {
    try append(kind.header(payloadByteCount: payload.count))
    let start = contentByteCount
    try append(payload)
    return start..<contentByteCount
  }

  /// Seals every full chunk that is followed by more.
  private func append(_ bytes: [UInt8]) throws(ArchiveError) {
    contentByteCount += bytes.count
    guard contentByteCount <= IndexEntry.largestOffset else {
      throw ArchiveError(.limitExceeded, subject: "bytes of an archive")
    }
    var position = 0
    while position < bytes.count {
      if pending.count == chunkByteCount { try sealPending(isLast: false) }
      let count = min(chunkByteCount - pending.count, bytes.count - position)
      pending.append(bytes[position..<position + count])
      position += count
    }
  }

  private func sealPending(isLast: Bool) throws(ArchiveError) {
    pending.seal(with: cipher, number: chunkCount, isLast: isLast)
    try write(pending.bytes)
    chunkCount += 1
    pending.clear()
  }

  private func write(_ bytes: [UInt8]) throws(ArchiveError) {
    try sink.write(bytes)
    byteCount += bytes.count
  }
}

/// The entries of an index while its commit is written: 16 bytes each.
///
/// They lie in blocks, because one growing array would hold up to three times
/// as much at the moment it grows.
struct IndexBlocks {
  /// An entry as it will lie in the index.
  private struct Packed {
    let record: UInt64
    let place: UInt64

    init(_ entry: IndexEntry) {
      record = entry.record
      place = UInt64(entry.offset) | UInt64(entry.byteCount) << 40
    }
  }

  private static let blockCount = 1 << 16
  private static let partCount = 1 << 10

  private var blocks: [[Packed]] = []
  private(set) var count = 0
  private var lastRecord: UInt64 = 0
  private var isAscending = true

  mutating func append(_ entry: IndexEntry) {
    if count.isMultiple(of: Self.blockCount) {
      blocks.append([])
      // Small commits have few entries; large ones fill their blocks.
      if count > 0 { blocks[blocks.count - 1].reserveCapacity(Self.blockCount) }
    }
    blocks[blocks.count - 1].append(Packed(entry))
    isAscending = isAscending && entry.record > lastRecord
    lastRecord = entry.record
    count += 1
  }

  /// Gives the bytes of the index in order, a part at a time.
  ///
  /// - Throws: `malformed` if an identifier is 0 or was used twice, and what
  ///   the body throws.
  mutating func write(
    _ body: ([UInt8]) throws(ArchiveError) -> Void
  ) throws(ArchiveError) {
    if !isAscending {
      let sorted = blocks.joined().sorted { $0.record < $1.record }
      blocks = [sorted]
      for (place, entry) in sorted.enumerated() {
        guard entry.record > (place == 0 ? 0 : sorted[place - 1].record) else {
          throw ArchiveError(.malformed, subject: "record \(entry.record) is not unique")
        }
      }
    }
    for block in blocks {
      for start in stride(from: 0, to: block.count, by: Self.partCount) {
        let writer = ByteBuffer()
        for entry in block[start..<min(start + Self.partCount, block.count)] {
          writer.writeInteger(entry.record)
          writer.writeInteger(entry.place)
        }
        try body(writer.bytes)
      }
    }
  }
}

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
