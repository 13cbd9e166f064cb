internal import Synchronization

/// Bytes that no longer change, in the memory that they were written to.
@safe final class ByteBlock: @unchecked Sendable {
  // Nobody writes to the memory any more, so threads may share it.
  private let memory: BlockMemory
  let count: Int

  /// Takes over memory whose first bytes were written.
  init(_ memory: BlockMemory, count: Int) {
    precondition(count >= 0 && count <= memory.byteCount, "outside of the memory")
    self.memory = memory
    self.count = count
  }

  deinit {
    memory.giveBack()
  }

  @inline(__always)
  func withBytes<Result, Failure: Error>(
    _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let bytes = unsafe UnsafeRawBufferPointer(start: memory.base, count: count)
    return try body(unsafe Span(_unsafeBytes: bytes))
  }
}

/// Memory for bytes, which has one owner.
///
/// Some returned memory is kept: the system clears every page that it gives, which takes
/// longer than encoding the bytes for it (benchmark: encode and seal keyed records).
@safe struct BlockMemory: @unchecked Sendable {
  // Sendable since one owner at a time has the memory, and passes it on to the next.
  let base: UnsafeMutableRawPointer
  let byteCount: Int

  /// The size in bytes of the memory that is kept: it stays in the processor's cache.
  static let keptByteCount = 9 << 13
  /// As many blocks as the state of ten thousand screens takes.
  private static let keptCount = 48
  private static let kept = Mutex<[BlockMemory]>([])

  static func take(_ byteCount: Int) -> BlockMemory {
    precondition(byteCount > 0, "no memory")
    if byteCount == keptByteCount, let memory = kept.withLock({ $0.popLast() }) { return memory }
    return unsafe BlockMemory(
      base: .allocate(byteCount: byteCount, alignment: 16), byteCount: byteCount)
  }

  func giveBack() {
    let isKept =
      byteCount == Self.keptByteCount
      && Self.kept.withLock { kept in
        guard kept.count < Self.keptCount else { return false }
        kept.append(self)
        return true
      }
    if !isKept { unsafe base.deallocate() }
  }
}

/// Bytes one after the other, in blocks.
///
/// Blocks stay in place when there are more of them. One array that grows is copied
/// again and again, and each time the system clears the pages of the new place
/// (benchmark: encode and seal keyed records).
struct ByteBlocks: Sendable {
  private(set) var blocks: [ByteBlock] = []
  /// The offset of each block; the first one is less than 0 if bytes of it were removed.
  private var starts: [Int] = []
  private(set) var byteCount = 0

  mutating func append(_ block: ByteBlock) {
    guard block.count > 0 else { return }
    starts.append(byteCount)
    blocks.append(block)
    byteCount += block.count
  }

  mutating func append(_ more: ByteBlocks) {
    precondition(more.starts.first ?? 0 == 0, "a block without its first bytes")
    for block in more.blocks { append(block) }
  }

  /// Removes and returns the first bytes, and lets go of blocks without other bytes.
  mutating func removeFirst(_ count: Int) -> ByteBlocks {
    precondition(count >= 0 && count <= byteCount, "outside of the bytes")
    var removed = self
    guard count < byteCount else {
      self = ByteBlocks()
      return removed
    }
    let first = place(of: count)
    blocks.removeSubrange(..<first)
    starts = starts[first...].map { $0 - count }
    byteCount -= count
    removed.byteCount = count
    return removed
  }

  /// The block in which a byte lies.
  ///
  /// - Complexity: O(log *b*) for *b* blocks.
  private func place(of offset: Int) -> Int {
    max(0, starts.countOfLeading { $0 <= offset } - 1)
  }

  /// Gives a range of the bytes, in one piece for each block that has a part of it.
  func forEachPiece<Failure: Error>(
    of range: Range<Int>, _ body: (Span<UInt8>) throws(Failure) -> Void
  ) throws(Failure) {
    precondition(range.lowerBound >= 0 && range.upperBound <= byteCount, "outside of the bytes")
    var offset = range.lowerBound
    var place = place(of: offset)
    while offset < range.upperBound {
      let start = starts[place]
      let end = Swift.min(range.upperBound, start + blocks[place].count)
      try blocks[place].withBytes { (bytes) throws(Failure) in
        try body(bytes.extracting(offset - start..<end - start))
      }
      offset = end
      place += 1
    }
  }

  /// A copy of a range of the bytes.
  func bytes(_ range: Range<Int>) -> [UInt8] {
    var copy: [UInt8] = []
    copy.reserveCapacity(range.count)
    forEachPiece(of: range) { piece in
      unsafe piece.withUnsafeBufferPointer { unsafe copy.append(contentsOf: $0) }
    }
    return copy
  }
}
