extension ValueWriter {
  /// Writes an integer of 128 bits: as an integer if 64 bits hold it, else as
  /// its 16 bytes, lowest first.
  func write(wide value: some FixedWidthInteger) {
    if let small = Int64(exactly: value) {
      write(small)
    } else if let large = UInt64(exactly: value) {
      write(large)
    } else {
      let bytes = (0..<16).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
      write(payload: bytes.span, tag: ValueTag.bytes)
    }
  }
}

extension ValueReader {
  /// Reads an integer in the one form that `write(wide:)` chooses for it.
  func readWide<Wide: FixedWidthInteger>(_ bytes: Span<UInt8>) throws(ArchiveError) -> Wide {
    guard header.kind == .bytes else { return try readInteger() }
    guard header.payload.count == 16 else { throw mismatch("integer of 128 bits") }
    var value: Wide = 0
    for place in header.payload.reversed() {
      value = value << 8 | Wide(truncatingIfNeeded: bytes[place])
    }
    guard Int64(exactly: value) == nil, UInt64(exactly: value) == nil else {
      throw ArchiveError(.malformed, offset: header.payload.lowerBound)
    }
    return value
  }
}
