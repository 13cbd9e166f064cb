internal import Synchronization

/// Reads ranges of a commit's content, keeping the chunks it last opened.
final class ContentReader: Sendable {
  private let commit: SealedCommit
  private let recent = Mutex<[Int: [UInt8]]>([:])

  /// Enough for the top of a search through the index and the record itself.
  private static let recentChunkCount = 16

  init(_ commit: SealedCommit) {
    self.commit = commit
  }

  var byteCount: Int { commit.layout.contentByteCount }

  /// Reads bytes of the content.
  ///
  /// The caller has checked the range against ``byteCount`` and the limits.
  func read(_ range: Range<Int>) throws(ArchiveError) -> [UInt8] {
    guard !range.isEmpty else { return [] }
    guard range.upperBound <= byteCount else { throw ArchiveError(.malformed) }
    let size = commit.layout.chunkByteCount
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

  /// The chunk that holds a range, or only the range if it lies in several; and
  /// where that begins.
  func bytes(around range: Range<Int>) throws(ArchiveError) -> (bytes: [UInt8], start: Int) {
    let size = commit.layout.chunkByteCount
    let number = range.lowerBound / size
    guard !range.isEmpty, range.upperBound <= min((number + 1) * size, byteCount) else {
      return (try read(range), range.lowerBound)
    }
    return (try chunk(number), number * size)
  }

  /// Checks bytes that nobody wants to have, a chunk at a time.
  func verify(_ range: Range<Int>) throws(ArchiveError) {
    guard !range.isEmpty else { return }
    let size = commit.layout.chunkByteCount
    for number in range.lowerBound / size...(range.upperBound - 1) / size {
      _ = try chunk(number)
    }
  }

  private func chunk(_ number: Int) throws(ArchiveError) -> [UInt8] {
    if let chunk = recent.withLock({ $0[number] }) { return chunk }
    let chunk = try commit.chunk(number)
    recent.withLock { recent in
      if recent.count >= Self.recentChunkCount { recent.removeAll(keepingCapacity: true) }
      recent[number] = chunk
    }
    return chunk
  }
}
