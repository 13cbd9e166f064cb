extension ValueWriter {
  // Not inlined, because the caller would then count references to all that
  // these touch (benchmark: encode and seal keyed records).

  /// Begins the frame of a record; returns the place before it.
  @inline(never)
  func openFrame(_ record: UInt64) -> Mark {
    if hasFailed { failure = nil }
    let before = mark
    _ = output.openHeader()
    output.writeInteger(record)
    return before
  }

  /// Puts the kind and the length before a record.
  ///
  /// - Throws: What could not be written, or `limitExceeded` for a record that
  ///   is too large as a whole.
  @inline(never)
  func closeFrame(from before: Mark) throws(ArchiveError) {
    if hasFailed, let failure { throw failure.error }
    let start = before.byteCount + ByteBuffer.headerRoom
    let end = output.count
    guard end - start <= limits.recordByteCount else {
      throw ArchiveError(.limitExceeded, subject: "bytes of a record")
    }
    output.writeByte(FrameKind.record.rawValue)
    output.writeVarint(UInt64(end - start))
    output.closeHeader(from: end, before: start)
  }

  /// The bytes that were written so far.
  var byteCount: Int { output.count }
}
