/// The forms that most values have, each read at its offset, without a check for all
/// other forms (benchmark: restore nodes).
///
/// For any other form the methods return nil and leave the offset as it is; ``ValueReader``
/// reads that form. The record was checked, so the bytes are those of a value.
extension Span<UInt8> {
  @inline(__always)
  func plainInteger(at offset: inout Int) -> Int? {
    guard offset < count else { return nil }
    let tag = self[offset]
    if tag <= ValueTag.smallIntegers.upperBound {
      offset += 1
      return Int(tag)
    }
    guard tag == ValueTag.positiveInteger,
      let number = shortVarint(at: offset + 1, before: count)
    else { return nil }
    offset = number.end
    return number.value
  }

  /// The bits of a number of eight bytes with a tag.
  @inline(__always)
  func plainBits(_ tag: UInt8, at offset: inout Int) -> UInt64? {
    guard count - offset > 8, self[offset] == tag else { return nil }
    offset += 9
    return littleEndian(offset - 8..<offset)
  }

  @inline(__always)
  func plainBool(at offset: inout Int) -> Bool? {
    guard offset < count, self[offset] == ValueTag.true || self[offset] == ValueTag.false
    else { return nil }
    offset += 1
    return self[offset - 1] == ValueTag.true
  }

  /// The range of a string's text.
  @inline(__always)
  func plainText(at offset: inout Int) -> Range<Int>? {
    guard offset < count else { return nil }
    let tag = self[offset]
    guard ValueTag.shortStrings.contains(tag) else {
      return sized(ValueTag.string, at: &offset)
    }
    let byteCount = Int(tag - ValueTag.shortStrings.lowerBound)
    guard byteCount < count - offset else { return nil }
    offset += byteCount + 1
    return offset - byteCount..<offset
  }

  /// The range of the bytes in a byte sequence.
  @inline(__always)
  func plainBytes(at offset: inout Int) -> Range<Int>? { sized(ValueTag.bytes, at: &offset) }

  /// The range of the bytes that follow a tag and their number.
  @inline(__always)
  private func sized(_ tag: UInt8, at offset: inout Int) -> Range<Int>? {
    guard offset < count, self[offset] == tag,
      let length = shortVarint(at: offset + 1, before: count), length.value <= count - length.end
    else { return nil }
    offset = length.end + length.value
    return length.end..<offset
  }
}
