internal import Synchronization

/// Reads ranges of a commit's content, keeping the chunks it last opened.
final class ContentReader: Sendable {
  private let commit: SealedCommit
  /// So few that they are looked for one after the other.
  private let recent = Mutex<[(number: Int, bytes: [UInt8])]>([])

  /// Enough for the first steps of a search through the index, and for the record itself.
  private static let recentChunkCount = 16

  init(_ commit: SealedCommit) {
    self.commit = commit
  }

  var byteCount: Int { commit.layout.contentByteCount }
  var chunkByteCount: Int { commit.layout.chunkByteCount }

  /// Reads and opens chunks that follow each other, without keeping them.
  ///
  /// A single chunk may be kept already: a small archive has only the one that was opened for its
  /// footer. Opening it twice took a tenth of opening and reading 10 records in memory.
  func open(_ chunks: Range<Int>) throws(ArchiveError) -> [UInt8] {
    chunks.count == 1 ? try chunk(chunks.lowerBound) : try commit.open(chunks)
  }

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

  /// The chunk that holds a range, or only the range if it lies in several chunks; and
  /// the position in the content at which these bytes begin.
  func bytes(around range: Range<Int>) throws(ArchiveError) -> (bytes: [UInt8], start: Int) {
    let size = commit.layout.chunkByteCount
    let number = range.lowerBound / size
    guard !range.isEmpty, range.upperBound <= min((number + 1) * size, byteCount) else {
      return (try read(range), range.lowerBound)
    }
    return (try chunk(number), number * size)
  }

  /// Checks bytes that no caller needs, a chunk at a time.
  func verify(_ range: Range<Int>) throws(ArchiveError) {
    guard !range.isEmpty else { return }
    let size = commit.layout.chunkByteCount
    for number in range.lowerBound / size...(range.upperBound - 1) / size { _ = try chunk(number) }
  }

  private func chunk(_ number: Int) throws(ArchiveError) -> [UInt8] {
    let known = recent.withLock { recent in recent.first { $0.number == number } }
    if let known { return known.bytes }
    let chunk = try commit.open(number..<number + 1)
    recent.withLock { recent in
      if recent.count >= Self.recentChunkCount { recent.removeAll(keepingCapacity: true) }
      recent.append((number, chunk))
    }
    return chunk
  }
}

/// The part of a commit's content that was read last, for a reader that goes through
/// the content from front to back.
///
/// Most records lie in one chunk, and many share a chunk. They are read in the window,
/// without an array and a look into the kept chunks for each (benchmark: open and
/// decode keyed records).
struct ContentWindow {
  private let reader: ContentReader
  private(set) var bytes: [UInt8] = []
  private var start = 0

  init(_ reader: ContentReader) {
    self.reader = reader
  }

  /// The range of the content that the window has.
  var range: Range<Int> { start..<start + bytes.count }

  /// Loads a range of the content; returns the offset of the range in the window's
  /// bytes.
  ///
  /// The caller has checked the range against the limits.
  mutating func load(_ range: Range<Int>) throws(ArchiveError) -> Int {
    if range.lowerBound < start || range.upperBound > start + bytes.count {
      (bytes, start) = try reader.bytes(around: range)
    }
    return range.lowerBound - start
  }

  /// A copy of the bytes of a range.
  mutating func copy(
    of range: Range<Int>
  ) throws(ArchiveError) -> [UInt8] {
    let start = try load(range)
    // A range over several chunks was put together, so the bytes are exactly the range.
    guard bytes.count > range.count else { return bytes }
    return bytes.span.array(start..<start + range.count)
  }
}
