/// Writes a whole file: header, one commit in chunks, trailer.
final class SnapshotWriter {
  private static let chunkSize: UInt8 = 14

  private let sink: any ArchiveSink
  private let keys: KeySchedule
  private let header: CommitHeader
  private let cipher: ChunkCipher
  private let previousMAC: [UInt8]

  /// Content that is not sealed yet; at most one chunk.
  private var pending: [UInt8] = []
  private var chunkCount: UInt64 = 0
  private var contentByteCount = 0
  private var fileByteCount = 0

  init(
    key: ArchiveKey, context: ArchiveContext, replacing: ArchiveVersion?, random: RandomSource,
    moment: Archive.Moment, sink: any ArchiveSink
  ) throws(ArchiveError) {
    let base = replacing?.generation ?? 0
    guard base < .max else { throw ArchiveError(.limitExceeded, subject: "generation") }
    guard (replacing?.mac.count ?? 32) == 32 else {
      throw ArchiveError(.malformed, subject: "version to replace")
    }
    self.sink = sink
    var header = Header(
      chunkSize: Self.chunkSize, archiveID: random.bytes(count: 16),
      fileSalt: random.bytes(count: 16), baseGeneration: base,
      predecessorMAC: replacing?.mac ?? [UInt8](repeating: 0, count: 32))
    let dataKey = try SecretBytes(random, count: ArchiveKey.byteCount)
    let head = header.head
    header.slots = [
      try KeySlot(wrapping: dataKey, with: key, head: head, context: context, random: random)
    ]
    keys = try KeySchedule(
      dataKey: dataKey, fileSalt: header.fileSalt, head: head, context: context)
    previousMAC = keys.genesis
    let commit = CommitHeader(
      flags: CommitHeader.snapshot, generation: base + 1,
      salt: keys.commitSalt(
        random: random, previousMAC: previousMAC, generation: base + 1, witness: moment.witness))
    self.header = commit
    cipher = ChunkCipher(try keys.commitKey(commit, previousMAC: previousMAC))
    try write(header.encoded(mac: keys.headerMAC(header.authenticatedBytes)))
    try write(commit.encoded)
  }

  /// Writes the records and all that follows them.
  func write(_ records: RecordBatch, schema: UInt32) throws(ArchiveError) -> Archive.Summary {
    let commitStart = fileByteCount - CommitHeader.byteCount
    try append(records.frames)
    let symbols = try appendFrame(.symbols, records.symbols)
    var index = ByteWriter()
    for entry in records.index { entry.write(to: &index) }
    let indexRange = try appendFrame(.index, index.bytes)
    let footerStart = contentByteCount
    let footer = Footer(
      schema: schema, recordCount: records.count,
      liveByteCount: records.index.reduce(0) { $0 + $1.byteCount }, symbols: symbols,
      index: indexRange)
    _ = try appendFrame(.footer, footer.encoded)
    let footerByteCount = contentByteCount - footerStart
    try sealPending(isLast: true)

    var trailer = Trailer(
      footerByteCount: UInt32(footerByteCount), generation: header.generation,
      commitByteCount: UInt64(fileByteCount - commitStart + Trailer.byteCount), mac: [])
    trailer.mac = keys.chainMAC(header, trailer, previousMAC: previousMAC)
    try write(trailer.encoded)
    return Archive.Summary(
      version: ArchiveVersion(generation: header.generation, mac: trailer.mac),
      byteCount: fileByteCount, recordCount: records.count)
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
    let chunkByteCount = 1 << Int(Self.chunkSize)
    contentByteCount += bytes.count
    guard contentByteCount <= IndexEntry.largestOffset else {
      throw ArchiveError(.limitExceeded, subject: "bytes of an archive")
    }
    var position = 0
    while position < bytes.count {
      if pending.count == chunkByteCount { try sealPending(isLast: false) }
      let count = min(chunkByteCount - pending.count, bytes.count - position)
      pending += bytes[position..<position + count]
      position += count
    }
  }

  private func sealPending(isLast: Bool) throws(ArchiveError) {
    let sealed = cipher.seal(pending, number: chunkCount, isLast: isLast)
    try write(ChunkLayout.frameHeader(sealedByteCount: sealed.count, isLast: isLast))
    try write(sealed)
    chunkCount += 1
    pending.removeAll(keepingCapacity: true)
  }

  private func write(_ bytes: [UInt8]) throws(ArchiveError) {
    try sink.write(bytes)
    fileByteCount += bytes.count
  }
}
