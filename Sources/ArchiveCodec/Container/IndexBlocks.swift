/// The entries of an index while its commit is written: 16 bytes each.
///
/// They lie in blocks, because one growing array would hold up to three times
/// as much at the moment it grows.
struct IndexBlocks {
  /// An entry as it will lie in the index.
  private struct Packed {
    let record: UInt64
    let place: UInt64

    init(_ entry: IndexEntry) {
      record = entry.record
      place = UInt64(entry.offset) | UInt64(entry.byteCount) << 40
    }
  }

  private static let blockCount = 1 << 16
  private static let partCount = 1 << 10

  private var blocks: [[Packed]] = []
  private(set) var count = 0
  private var lastRecord: UInt64 = 0
  private var isAscending = true

  mutating func append(_ entry: IndexEntry) {
    if count.isMultiple(of: Self.blockCount) {
      blocks.append([])
      // Small commits have few entries; large ones fill their blocks.
      if count > 0 { blocks[blocks.count - 1].reserveCapacity(Self.blockCount) }
    }
    blocks[blocks.count - 1].append(Packed(entry))
    isAscending = isAscending && entry.record > lastRecord
    lastRecord = entry.record
    count += 1
  }

  /// Gives the bytes of the index in order, a part at a time.
  ///
  /// - Throws: `malformed` if an identifier is 0 or was used twice, and what
  ///   the body throws.
  mutating func write(
    _ body: ([UInt8]) throws(ArchiveError) -> Void
  ) throws(ArchiveError) {
    if !isAscending {
      let sorted = blocks.joined().sorted { $0.record < $1.record }
      blocks = [sorted]
      for (place, entry) in sorted.enumerated() {
        guard entry.record > (place == 0 ? 0 : sorted[place - 1].record) else {
          throw ArchiveError(.malformed, subject: "record \(entry.record) is not unique")
        }
      }
    }
    for block in blocks {
      for start in stride(from: 0, to: block.count, by: Self.partCount) {
        let writer = ByteBuffer()
        for entry in block[start..<min(start + Self.partCount, block.count)] {
          writer.writeInteger(entry.record)
          writer.writeInteger(entry.place)
        }
        try body(writer.bytes)
      }
    }
  }
}
