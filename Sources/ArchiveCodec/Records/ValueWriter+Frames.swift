extension ValueWriter {
  // Not inlined, because the caller would then count references to all objects that
  // these methods use (benchmark: encode and seal keyed records).

  /// Begins the frame of a record; returns the mark before it.
  @inline(never)
  func openFrame(_ record: UInt64) -> Mark {
    if hasFailed { failure = nil }
    let before = mark
    _ = output.openHeader()
    output.writeInteger(record)
    return before
  }

  /// Puts the kind and the length in front of a record; returns the size of its payload in bytes.
  ///
  /// - Throws: The noted failure of a value, or `limitExceeded` for a record that is
  ///   too large as a whole.
  @inline(never)
  func closeFrame(from before: Mark) throws(ArchiveError) -> Int {
    if hasFailed, let failure { throw failure.error }
    let start = before.byteCount + ByteBuffer.headerRoom
    let byteCount = output.count - start
    guard byteCount <= limits.recordByteCount else {
      throw ArchiveError(.limitExceeded, subject: "bytes of a record")
    }
    output.closeHeader(tag: FrameKind.record.rawValue, from: start)
    return byteCount
  }
}
