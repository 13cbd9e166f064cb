/// The part of a commit's content that was read last, for those who go through
/// it from front to back.
///
/// Most records lie in one chunk, and many lie in the same. They are read there,
/// without an array and a look into the kept chunks for each (benchmark: open
/// and decode keyed records).
struct ContentWindow {
  private let reader: ContentReader
  private(set) var bytes: [UInt8] = []
  private var start = 0

  init(_ reader: ContentReader) {
    self.reader = reader
  }

  /// Makes a range of the content readable; returns where it begins in the
  /// bytes.
  ///
  /// The caller has checked the range against the limits.
  mutating func load(_ range: Range<Int>) throws(ArchiveError) -> Int {
    if range.lowerBound < start || range.upperBound > start + bytes.count {
      (bytes, start) = try reader.bytes(around: range)
    }
    return range.lowerBound - start
  }

  /// The bytes of a range, in memory that is not needed any more.
  mutating func copy(
    of range: Range<Int>, reusing memory: consuming [UInt8]
  ) throws(ArchiveError) -> [UInt8] {
    let start = try load(range)
    // What lies in several chunks was put together for this range alone.
    guard bytes.count > range.count else { return bytes }
    memory.removeAll(keepingCapacity: true)
    memory += bytes[start..<start + range.count]
    return memory
  }
}
