/// Finds the commits of a file by their lengths.
///
/// Nothing here is authentic. The locator proposes where commits lie; the chain of MACs decides.
/// Backwards is fast and works for an intact file, forwards works up to the first damage.
struct CommitLocator {
  let file: any ArchiveFile
  /// Where the first commit begins.
  let start: Int
  let chunkByteCount: Int
  /// The most commits that are looked for.
  let largestCount: Int

  static let leastCommit =
    CommitHeader.byteCount + ChunkLayout.overhead + 1 + Trailer.byteCount

  /// The ends of the commits, found from the trailer at the end of the file to the first commit; nil
  /// if the lengths do not lead there.
  ///
  /// Each commit begins where the one before it ends.
  func backwards() throws(ArchiveError) -> [Int]? {
    var ends: [Int] = []
    var end = file.byteCount
    while end > start {
      guard end - start >= Self.leastCommit,
        let trailer = Trailer(
          decoding: try file.read(at: end - Trailer.byteCount, count: Trailer.byteCount)),
        trailer.commitByteCount >= UInt64(Self.leastCommit),
        trailer.commitByteCount <= UInt64(end - start)
      else { return nil }
      try append(end, to: &ends)
      end -= Int(trailer.commitByteCount)
    }
    return ends.isEmpty ? nil : ends.reversed()
  }

  /// The ends of the commits from the first one as far as lengths make sense, and why not further.
  func forwards() throws(ArchiveError) -> (ends: [Int], ending: ArchiveError?) {
    var ends: [Int] = []
    var begin = start
    while begin < file.byteCount {
      switch try end(ofCommitAt: begin) {
      case .success(let end):
        try append(end, to: &ends)
        begin = end
      case .failure(let ending): return (ends, ending)
      }
    }
    return (ends, ends.isEmpty ? ArchiveError(.truncated, offset: file.byteCount) : nil)
  }

  private func append(_ end: Int, to ends: inout [Int]) throws(ArchiveError) {
    guard ends.count < largestCount else {
      throw ArchiveError(.limitExceeded, subject: "changes of an archive")
    }
    ends.append(end)
  }

  private func end(ofCommitAt begin: Int) throws(ArchiveError) -> Result<Int, ArchiveError> {
    let truncated = ArchiveError(.truncated, offset: file.byteCount)
    let damaged = ArchiveError(.damaged, offset: begin, subject: "commit")
    guard file.byteCount - begin >= CommitHeader.byteCount else { return .failure(truncated) }
    let header = try file.read(at: begin, count: CommitHeader.byteCount)
    guard CommitHeader(decoding: header) != nil else { return .failure(damaged) }
    var position = begin + CommitHeader.byteCount
    let full = chunkByteCount + ChunkCipher.tagByteCount
    while true {
      guard file.byteCount - position >= ChunkLayout.frameHeaderByteCount else {
        return .failure(truncated)
      }
      let frame = try file.read(at: position, count: ChunkLayout.frameHeaderByteCount)
      let word = UInt32(truncatingIfNeeded: frame.span.littleEndian(frame.indices))
      let length = Int(word & ~ChunkLayout.lastFlag)
      let isLast = word & ChunkLayout.lastFlag != 0
      guard isLast ? length > ChunkCipher.tagByteCount && length <= full : length == full else {
        return .failure(damaged)
      }
      position += ChunkLayout.frameHeaderByteCount + length
      guard position <= file.byteCount else { return .failure(truncated) }
      guard isLast else { continue }
      guard file.byteCount - position >= Trailer.byteCount else { return .failure(truncated) }
      return .success(position + Trailer.byteCount)
    }
  }
}
