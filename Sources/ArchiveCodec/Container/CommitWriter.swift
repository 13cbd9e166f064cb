/// Seals one commit while its records come in, and passes it on in order.
///
/// The writer holds a megabyte of content that is not sealed yet, a megabyte of sealed
/// content, and 16 bytes for each record. A small commit is passed on in one piece, since each
/// piece takes a call of the system.
final class CommitWriter {
  private let sink: any ArchiveSink
  /// Why the sink has taken no more: what it lacks is in no later call, also where the app goes on.
  private var failure: ArchiveError?
  /// What is not passed on yet; the sink itself if that is memory, so that nothing is copied.
  private var memory: MemorySink
  private let keys: UnlockedHeader
  private let header: CommitHeader
  private let sealer: ChunkSealer
  private let previous: ArchiveVersion

  /// The entries of all records that were written.
  let index = RecordIndexWriter()
  /// Content that is not sealed yet.
  private var unsealed = ByteBlocks()
  /// The latest content, in small parts.
  private let parts = ByteBuffer()
  private var contentByteCount = 0
  private(set) var byteCount = 0

  /// The bytes of content that are sealed at a time: enough for several processors.
  private static let groupByteCount = 1 << 20
  private static let partsByteCount = 1 << 16

  /// Writes the header of the commit that follows `previous` in the chain, behind that of a new file; the
  /// witness are bytes that no other commit shares.
  init(
    flags: UInt32, after previous: ArchiveVersion, keys: UnlockedHeader, fileHeader: [UInt8] = [],
    random: RandomSource, writingWitness writeWitness: (ByteBuffer) -> Void,
    sink: any ArchiveSink
  ) throws(ArchiveError) {
    guard previous.generation < .max else {
      throw ArchiveError(.limitExceeded, subject: "generation")
    }
    self.sink = sink
    memory = sink as? MemorySink ?? MemorySink()
    self.keys = keys
    self.previous = previous
    let generation = previous.generation + 1
    header = CommitHeader(
      flags: flags, generation: generation,
      salt: keys.schedule.commitSalt(
        random: random, previousMAC: previous.mac, generation: generation,
        writingWitness: writeWitness))
    sealer = ChunkSealer(
      cipher: ChunkCipher(try keys.schedule.commitKey(header, previousMAC: previous.mac)),
      chunkByteCount: keys.header.chunkByteCount)
    try memory.write(fileHeader)
    try write(header.write)
  }

  /// Writes the header of a new file, whose bytes are given, and begins its snapshot.
  convenience init(
    _ file: UnlockedHeader, _ bytes: [UInt8], random: RandomSource, moment: Archive.Moment,
    sink: any ArchiveSink
  ) throws(ArchiveError) {
    try self.init(
      flags: CommitHeader.snapshot,
      after: ArchiveVersion(generation: file.header.baseGeneration, mac: file.schedule.genesis),
      keys: file, fileHeader: bytes, random: random,
      writingWitness: { $0.write(moment.witness) }, sink: sink)
  }

  private var chunkByteCount: Int { keys.header.chunkByteCount }

  /// The bytes of a new file so far.
  var fileByteCount: Int { keys.header.byteCount + byteCount }

  /// About as many bytes as a commit of the records takes; seldom less.
  private static func byteCount(of records: RecordBatch) -> Int {
    let content =
      records.byteCount + records.symbols.count + records.count * IndexEntry.byteCount + 256
    return content + content / 512
  }

  /// Writes records before all others.
  func append(_ records: RecordBatch) throws(ArchiveError) {
    let byteCount = keys.header.byteCount + Self.byteCount(of: records)
    if memory === sink || byteCount <= Self.groupByteCount { memory.reserve(byteCount: byteCount) }
    index.append(records.index, at: contentByteCount)
    try append(records.frames)
  }

  /// Writes the frame of one record.
  func append(_ frame: RecordFrame, of record: UInt64) throws(ArchiveError) {
    index.append(frame.entry(record).moved(by: contentByteCount))
    try append(frame.bytes)
  }

  /// Writes record frames whose entries come later.
  func append(_ frames: ByteBlocks) throws(ArchiveError) {
    try count(frames.byteCount)
    finishParts()
    unsealed.append(frames)
    try sealIfMuch()
  }

  func remove(_ record: UInt64) {
    index.append(IndexEntry(record: record, offset: 0, byteCount: 0))
  }

  typealias Ending = (footer: Footer, trailer: Trailer)

  /// Writes the symbols, the index, the footer and the trailer.
  ///
  /// - Throws: `malformed` if an identifier is 0 or was used twice.
  func finish(symbols: [UInt8], schema: UInt32) throws(ArchiveError) -> Ending {
    let symbolRange = try appendFrame(.symbols, symbols)
    let index = try index.finish()
    try appendHeader(.index, payloadByteCount: index.blocks.byteCount)
    let indexRange = contentByteCount..<contentByteCount + index.blocks.byteCount
    try append(index.blocks)
    let footerStart = contentByteCount
    let footer = Footer(
      schema: schema, recordCount: index.count, recordByteCount: index.recordByteCount,
      symbols: symbolRange, index: indexRange)
    _ = try appendFrame(.footer, footer.encoded)
    finishParts()
    try seal((unsealed.byteCount + chunkByteCount - 1) / chunkByteCount)
    var trailer = Trailer(
      footerByteCount: UInt32(contentByteCount - footerStart), generation: header.generation,
      commitByteCount: UInt64(byteCount + Trailer.byteCount), mac: [])
    trailer.mac = keys.schedule.chainMAC(header, trailer, previousMAC: previous.mac)
    try write(trailer.write)
    try passOn()
    return (footer, trailer)
  }

  /// The content of the finished snapshot in its file, which need not be read for that.
  func snapshot(
    _ ending: Ending, in file: any ArchiveFile, limits: ArchiveLimits
  ) throws(ArchiveError) -> CommitContent {
    let layout = ChunkLayout(chunkByteCount: chunkByteCount, contentByteCount: contentByteCount)
    let commit = SealedCommit(
      file, from: keys.header.byteCount, header, ending.trailer, layout, try sealer.cipher.copy())
    return CommitContent(commit, writtenWith: ending.footer, limits: limits)
  }

  /// Appends a frame, and returns the range of its payload in the content.
  private func appendFrame(
    _ kind: FrameKind, _ payload: [UInt8]
  ) throws(ArchiveError) -> Range<Int> {
    try appendHeader(kind, payloadByteCount: payload.count)
    let start = contentByteCount
    try append(payload)
    return start..<contentByteCount
  }

  private func appendHeader(_ kind: FrameKind, payloadByteCount: Int) throws(ArchiveError) {
    let start = parts.count
    parts.writeByte(kind.rawValue)
    parts.writeVarint(UInt64(payloadByteCount))
    try count(parts.count - start)
  }

  private func append(_ bytes: [UInt8]) throws(ArchiveError) {
    try count(bytes.count)
    parts.write(bytes.span)
    if parts.count > Self.partsByteCount {
      finishParts()
      try sealIfMuch()
    }
  }

  private func count(_ byteCount: Int) throws(ArchiveError) {
    contentByteCount += byteCount
    guard contentByteCount <= IndexEntry.largestOffset else {
      throw ArchiveError(.limitExceeded, subject: "bytes of an archive")
    }
  }

  private func finishParts() {
    guard parts.count > 0 else { return }
    unsealed.append(parts.take(leaving: 64))
  }

  /// Seals the full chunks that are not the last, when there is much content.
  private func sealIfMuch() throws(ArchiveError) {
    guard unsealed.byteCount > Self.groupByteCount else { return }
    try seal((unsealed.byteCount - 1) / chunkByteCount)
  }

  /// Seals the first of the unsealed chunks.
  private func seal(_ count: Int) throws(ArchiveError) {
    let groupCount = max(1, Self.groupByteCount / chunkByteCount)
    // All chunks before are full.
    var number = (contentByteCount - unsealed.byteCount - parts.count) / chunkByteCount
    let end = number + count
    while number < end {
      let count = min(groupCount, end - number)
      let content = unsealed.removeFirst(min(count * chunkByteCount, unsealed.byteCount))
      try write(frames: content, from: number)
      number += count
    }
  }

  private func write(frames content: ByteBlocks, from number: Int) throws(ArchiveError) {
    let frameByteCount = sealer.frameByteCount(of: content)
    if memory.bytes.count + frameByteCount > Self.groupByteCount { try passOn() }
    unsafe memory.write(byteCount: frameByteCount) { frames in
      unsafe sealer.seal(content, into: frames, from: number, isEnd: unsealed.byteCount == 0)
    }
    byteCount += frameByteCount
  }

  private func passOn() throws(ArchiveError) {
    guard memory !== sink else { return }
    if let failure { throw failure }
    do {
      try sink.write(memory.bytes)
    } catch {
      failure = error
      throw error
    }
    memory = MemorySink()
  }

  private func write(_ fill: (ByteBuffer) -> Void) throws(ArchiveError) {
    let buffer = ByteBuffer()
    fill(buffer)
    try write(buffer.bytes)
  }

  private func write(_ bytes: [UInt8]) throws(ArchiveError) {
    try memory.write(bytes)
    byteCount += bytes.count
  }
}
