/// The part of a commit's content that was read last, for a reader that goes through
/// the content from front to back.
///
/// Most records lie in one chunk, and many share a chunk. They are read in the window,
/// without an array and a look into the kept chunks for each (benchmark: open and
/// decode keyed records).
struct ContentWindow {
  private let commit: SealedCommit
  private(set) var bytes: [UInt8] = []
  private var start = 0

  init(_ commit: SealedCommit) {
    self.commit = commit
  }

  /// The range of the content that the window has.
  var range: Range<Int> { start..<start + bytes.count }

  /// Loads a range of the content; returns the offset of the range in the window's
  /// bytes.
  ///
  /// The caller has checked the range against the limits.
  mutating func load(_ range: Range<Int>) throws(ArchiveError) -> Int {
    if range.lowerBound < start || range.upperBound > start + bytes.count {
      (bytes, start) = try commit.bytes(around: range)
    }
    return range.lowerBound - start
  }
}
