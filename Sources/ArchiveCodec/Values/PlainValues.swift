/// The forms that most values have, each read where it begins, without a look at all
/// that a value can be (benchmark: restore nodes).
///
/// They are nil, and leave the offset as it is, for all other forms; those are left
/// to ``ValueReader``. The record was checked, so the bytes are those of a value.
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

  /// The bits of a number of eight bytes that has a tag.
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

  /// Where the text of a string lies.
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

  /// Where the bytes of a byte sequence lie.
  @inline(__always)
  func plainBytes(at offset: inout Int) -> Range<Int>? { sized(ValueTag.bytes, at: &offset) }

  /// Where the bytes lie that follow a tag and their number.
  @inline(__always)
  private func sized(_ tag: UInt8, at offset: inout Int) -> Range<Int>? {
    guard offset < count, self[offset] == tag,
      let length = shortVarint(at: offset + 1, before: count), length.value <= count - length.end
    else { return nil }
    offset = length.end + length.value
    return length.end..<offset
  }
}
