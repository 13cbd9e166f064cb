internal import Synchronization

/// A commit of an open file: its place, its trailer and its key, and the chunks that were opened last.
///
/// The trailer is authenticated when the commit is opened; each chunk is authenticated
/// when it is read. No byte of a chunk is used before.
final class SealedCommit: Sendable {
  let header: CommitHeader
  let trailer: Trailer
  private let layout: ChunkLayout
  private let file: any ArchiveFile
  private let framesOffset: Int
  private let cipher: ChunkCipher
  /// So few that they are looked for one after the other.
  private let recent = Mutex<[(number: Int, bytes: [UInt8])]>([])

  /// Enough for the first steps of a search through the index, and for the record itself.
  private static let recentChunkCount = 16

  /// Opens the commit that fills a range of the file, in its place in the chain.
  ///
  /// Throws `damaged` if the commit is not the one that follows `previous`.
  init(
    _ file: any ArchiveFile, _ range: Range<Int>, after previous: ArchiveVersion, flags: UInt32,
    keys: borrowing KeySchedule, chunkByteCount: Int
  ) throws(ArchiveError) {
    let framesOffset = range.lowerBound + CommitHeader.byteCount
    let framesEnd = range.upperBound - Trailer.byteCount
    let damaged = ArchiveError(.damaged, offset: range.lowerBound, subject: "commit")
    guard framesEnd > framesOffset,
      let header = CommitHeader(
        decoding: try file.read(at: range.lowerBound, count: CommitHeader.byteCount)),
      let trailer = Trailer(decoding: try file.read(at: framesEnd, count: Trailer.byteCount)),
      trailer.commitByteCount == UInt64(range.count),
      let layout = ChunkLayout(
        chunkByteCount: chunkByteCount, framesByteCount: UInt64(framesEnd - framesOffset)),
      isEqualInConstantTime(
        keys.chainMAC(header, trailer, previousMAC: previous.mac), trailer.mac)
    else { throw damaged }
    guard header.flags == flags else {
      throw ArchiveError(.unsupportedFeature, offset: range.lowerBound, subject: "commit flags")
    }
    guard previous.generation < .max, header.generation == previous.generation + 1,
      trailer.generation == header.generation
    else { throw ArchiveError(.malformed, offset: range.lowerBound, subject: "generation") }
    self.header = header
    self.trailer = trailer
    self.layout = layout
    self.file = file
    self.framesOffset = framesOffset
    cipher = ChunkCipher(try keys.commitKey(header, previousMAC: previous.mac))
  }

  /// The commit that this process has just written from an offset on.
  init(
    _ file: any ArchiveFile, from offset: Int, _ header: CommitHeader, _ trailer: Trailer,
    _ layout: ChunkLayout, _ cipher: consuming ChunkCipher
  ) {
    (self.header, self.trailer, self.layout, self.file) = (header, trailer, layout, file)
    framesOffset = offset + CommitHeader.byteCount
    self.cipher = cipher
  }

  var version: ArchiveVersion { trailer.version }

  /// The bytes of the content.
  var byteCount: Int { layout.contentByteCount }
  var chunkByteCount: Int { layout.chunkByteCount }
}

// MARK: - Reading

extension SealedCommit {
  /// Reads and opens chunks that follow each other, without keeping them.
  ///
  /// A single chunk may be kept already: a small archive has only the one that was opened for its
  /// footer. Opening it twice took a tenth of opening and reading 10 records in memory.
  func open(_ chunks: Range<Int>) throws(ArchiveError) -> [UInt8] {
    chunks.count == 1 ? try chunk(chunks.lowerBound) : try openAnew(chunks)
  }

  /// Reads bytes of the content.
  ///
  /// The caller has checked the range against ``byteCount`` and the limits.
  func read(_ range: Range<Int>) throws(ArchiveError) -> [UInt8] {
    guard !range.isEmpty else { return [] }
    guard range.upperBound <= byteCount else { throw ArchiveError(.malformed) }
    let size = chunkByteCount
    var bytes: [UInt8] = []
    bytes.reserveCapacity(range.count)
    for number in range.lowerBound / size...(range.upperBound - 1) / size {
      let chunk = try chunk(number)
      let start = number * size
      bytes +=
        chunk[max(range.lowerBound - start, 0)..<min(range.upperBound - start, chunk.count)]
    }
    return bytes
  }

  /// The chunk that holds a range, or only the range if it lies in several chunks; and
  /// the position in the content at which these bytes begin.
  func bytes(around range: Range<Int>) throws(ArchiveError) -> (bytes: [UInt8], start: Int) {
    let size = chunkByteCount
    let number = range.lowerBound / size
    guard !range.isEmpty, range.upperBound <= min((number + 1) * size, byteCount) else {
      return (try read(range), range.lowerBound)
    }
    return (try chunk(number), number * size)
  }

  /// Checks bytes that no caller needs, a chunk at a time.
  func verify(_ range: Range<Int>) throws(ArchiveError) {
    guard !range.isEmpty else { return }
    let size = chunkByteCount
    for number in range.lowerBound / size...(range.upperBound - 1) / size { _ = try chunk(number) }
  }

  private func chunk(_ number: Int) throws(ArchiveError) -> [UInt8] {
    let known = recent.withLock { recent in recent.first { $0.number == number } }
    if let known { return known.bytes }
    let chunk = try openAnew(number..<number + 1)
    recent.withLock { recent in
      if recent.count >= Self.recentChunkCount { recent.removeAll(keepingCapacity: true) }
      recent.append((number, chunk))
    }
    return chunk
  }

  private func openAnew(_ chunks: Range<Int>) throws(ArchiveError) -> [UInt8] {
    let byteCount =
      min(chunks.upperBound * layout.chunkByteCount, layout.contentByteCount)
      - chunks.lowerBound * layout.chunkByteCount
    return try [UInt8](capacity: byteCount) { plaintext throws(ArchiveError) in
      for number in chunks { try open(number, to: &plaintext) }
    }
  }

  private func open(
    _ number: Int, to plaintext: inout OutputSpan<UInt8>
  ) throws(ArchiveError) {
    let range = layout.frameRange(number)
    let isLast = layout.isLast(number)
    let offset = framesOffset + range.lowerBound
    let frame = try file.read(at: offset, count: range.count)
    let start = ChunkLayout.frameHeaderByteCount
    guard
      frame.starts(
        with: ChunkLayout.frameHeader(sealedByteCount: frame.count - start, isLast: isLast)),
      cipher.open(
        frame, from: start, number: UInt64(number), isLast: isLast, to: &plaintext)
    else { throw ArchiveError(.damaged, offset: offset, subject: "chunk \(number)") }
  }
}
