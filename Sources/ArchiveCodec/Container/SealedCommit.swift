/// A commit of an open file: its place, its trailer and its key.
///
/// The trailer is authenticated when the commit is opened; each chunk is authenticated
/// when it is read. No byte of a chunk is used before.
final class SealedCommit: Sendable {
  let header: CommitHeader
  let trailer: Trailer
  let layout: ChunkLayout
  private let file: any ArchiveFile
  private let framesOffset: Int
  private let cipher: ChunkCipher

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
      let header = try CommitHeader(
        decoding: try file.read(at: range.lowerBound, count: CommitHeader.byteCount)),
      let trailer = try Trailer(decoding: try file.read(at: framesEnd, count: Trailer.byteCount)),
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

  /// Reads and opens chunks that follow each other.
  func open(_ chunks: Range<Int>) throws(ArchiveError) -> [UInt8] {
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
