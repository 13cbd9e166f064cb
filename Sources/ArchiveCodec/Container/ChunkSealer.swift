internal import Dispatch
internal import RestorationFoundation

/// Seals the content of one commit, chunk by chunk.
///
/// Content is sealed from the memory where it was written into the memory that is
/// passed on, so it is never copied between (benchmark: encode and seal keyed records).
struct ChunkSealer: ~Copyable, Sendable {
  let cipher: ChunkCipher
  let chunkByteCount: Int
  /// Read once: the system reads files for the answer, which takes longer than reading
  /// a small archive (benchmark: stores, restore of one scene).
  static let processorCount = ProcessInfo.processInfo.activeProcessorCount

  /// Waking another processor takes as long as sealing a few chunks.
  private static let fewestSharedChunks = 8

  /// The bytes of the frames of some content.
  func frameByteCount(of content: ByteBlocks) -> Int {
    content.byteCount + layout(of: content).chunkCount * ChunkLayout.overhead
  }

  private func layout(of content: ByteBlocks) -> ChunkLayout {
    ChunkLayout(chunkByteCount: chunkByteCount, contentByteCount: content.byteCount)
  }

  /// Seals chunks that follow each other, of which all but the last are full.
  ///
  /// Each chunk needs only its number and its content, so processors that are free take one
  /// after the other; this thread is one of them and waits for none that has not begun.
  ///
  /// - Parameters:
  ///   - content: The plaintext of all chunks.
  ///   - frames: The memory for the frames, all of which is filled.
  ///   - first: The number of the first chunk.
  ///   - isEnd: Whether the last chunk ends the commit.
  @unsafe func seal(
    _ content: ByteBlocks, into frames: UnsafeMutableRawBufferPointer, from first: Int, isEnd: Bool
  ) {
    let roomByteCount = frames.count
    precondition(roomByteCount == frameByteCount(of: content), "another size")
    let layout = layout(of: content)
    let count = layout.chunkCount
    // Each frame has a part of the memory for itself, and this call waits for all frames.
    nonisolated(unsafe) let memory = unsafe frames
    @Sendable func seal(_ place: Int) {
      let start = place * chunkByteCount
      let range = start..<min(start + chunkByteCount, content.byteCount)
      let frame = layout.frameRange(place)
      precondition(frame.upperBound <= roomByteCount, "outside of the frames")
      unsafe cipher.sealFrame(
        content, range, number: UInt64(first + place), isLast: isEnd && layout.isLast(place),
        into: UnsafeMutableRawBufferPointer(rebasing: memory[frame]))
    }
    if count >= Self.fewestSharedChunks, Self.processorCount > 1 {
      DispatchQueue.concurrentPerform(iterations: count, execute: seal)
    } else {
      for place in 0..<count { seal(place) }
    }
  }
}

extension ChunkCipher {
  /// Writes the frame of one chunk, which fills the memory.
  @unsafe fileprivate func sealFrame(
    _ content: ByteBlocks, _ range: Range<Int>, number: UInt64, isLast: Bool,
    into frame: UnsafeMutableRawBufferPointer
  ) {
    let sealedByteCount = range.count + Self.tagByteCount
    let header = ChunkLayout.frameHeader(sealedByteCount: sealedByteCount, isLast: isLast)
    precondition(frame.count == header.count + sealedByteCount, "another size")
    unsafe frame.copyBytes(from: header)
    let sealed = unsafe UnsafeMutableRawBufferPointer(rebasing: frame[header.count...])
    var copiedCount = 0
    content.forEachPiece(of: range) { piece in
      unsafe piece.withUnsafeBytes { bytes in
        if bytes.count == range.count {
          unsafe seal(bytes, into: sealed, number: number, isLast: isLast)
        } else {
          // A chunk in several blocks is put together in the place where it is sealed.
          let place = unsafe UnsafeMutableRawBufferPointer(rebasing: sealed[copiedCount...])
          unsafe place.copyBytes(from: bytes)
          copiedCount += bytes.count
        }
      }
    }
    if copiedCount > 0 {
      let bytes = unsafe UnsafeRawBufferPointer(rebasing: sealed[..<copiedCount])
      unsafe seal(bytes, into: sealed, number: number, isLast: isLast)
    }
  }
}
