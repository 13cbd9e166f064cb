/// A commit of an open file: its place, its trailer and its key.
///
/// The trailer was authenticated when the file was opened; each chunk is when
/// it is read. Nothing of a chunk is used before.
final class SealedCommit: Sendable {
  let header: CommitHeader
  let trailer: Trailer
  let layout: ChunkLayout
  private let file: any ArchiveFile
  private let framesOffset: Int
  private let cipher: ChunkCipher

  /// Opens the commit that fills the file from `offset` to its end.
  init(
    file: any ArchiveFile, offset: Int, keys: borrowing KeySchedule, header fileHeader: Header
  ) throws(ArchiveError) {
    let end = file.byteCount
    let framesOffset = offset + CommitHeader.byteCount
    let framesEnd = end - Trailer.byteCount
    let chunkByteCount = 1 << Int(fileHeader.chunkSize)
    guard framesEnd > framesOffset,
      let header = try CommitHeader(
        decoding: try file.read(at: offset, count: CommitHeader.byteCount)),
      let trailer = try Trailer(decoding: try file.read(at: framesEnd, count: Trailer.byteCount)),
      trailer.commitByteCount == UInt64(end - offset),
      let layout = ChunkLayout(
        chunkByteCount: chunkByteCount, framesByteCount: UInt64(framesEnd - framesOffset))
    else {
      throw Self.damage(of: file, from: offset, chunkByteCount: chunkByteCount)
    }
    let previousMAC = keys.genesis
    guard
      isEqualInConstantTime(
        keys.chainMAC(header, trailer, previousMAC: previousMAC), trailer.mac)
    else {
      throw Self.damage(of: file, from: offset, chunkByteCount: chunkByteCount)
    }
    guard header.flags == CommitHeader.snapshot else {
      throw ArchiveError(.unsupportedFeature, offset: offset, subject: "commit flags")
    }
    guard header.generation == trailer.generation,
      fileHeader.baseGeneration < .max, header.generation == fileHeader.baseGeneration + 1
    else { throw ArchiveError(.malformed, offset: offset, subject: "generation") }
    self.header = header
    self.trailer = trailer
    self.layout = layout
    self.file = file
    self.framesOffset = framesOffset
    cipher = ChunkCipher(try keys.commitKey(header, previousMAC: previousMAC))
  }

  /// Reads and opens one chunk.
  func chunk(_ number: Int) throws(ArchiveError) -> [UInt8] {
    let range = layout.frameRange(number)
    let isLast = layout.isLast(number)
    let offset = framesOffset + range.lowerBound
    let frame = try file.read(at: offset, count: range.count)
    let sealed = Array(frame[ChunkLayout.frameHeaderByteCount...])
    guard
      frame.starts(
        with: ChunkLayout.frameHeader(sealedByteCount: sealed.count, isLast: isLast)),
      let plaintext = cipher.open(sealed, number: UInt64(number), isLast: isLast)
    else { throw ArchiveError(.damaged, offset: offset, subject: "chunk \(number)") }
    return plaintext
  }

  /// Tells a file that ends too early from one that was changed.
  ///
  /// Nothing here is authentic, so it decides between two refusals only.
  private static func damage(
    of file: any ArchiveFile, from offset: Int, chunkByteCount: Int
  ) -> ArchiveError {
    var position = offset + CommitHeader.byteCount
    let truncated = ArchiveError(.truncated, offset: file.byteCount)
    let damaged = ArchiveError(.damaged, offset: offset, subject: "commit")
    while position < file.byteCount {
      guard file.byteCount - position >= 4 else { return truncated }
      guard let frame = try? file.read(at: position, count: 4) else { return damaged }
      var reader = ByteReader(frame)
      guard let word = try? reader.readInteger(UInt32.self) else { return damaged }
      let length = Int(word & ~ChunkLayout.lastFlag)
      let isLast = word & ChunkLayout.lastFlag != 0
      let full = chunkByteCount + ChunkCipher.tagByteCount
      guard isLast ? length > ChunkCipher.tagByteCount && length <= full : length == full else {
        return damaged
      }
      position += 4 + length
      if isLast {
        return file.byteCount < position + Trailer.byteCount ? truncated : damaged
      }
    }
    return truncated
  }
}
