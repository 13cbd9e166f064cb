/// The numbers of a packed array, where they lie.
struct PackedIntegers {
  private let start: Int
  private let element: PackedElement
  let count: Int

  init(_ payload: Range<Int>, _ element: PackedElement) {
    start = payload.lowerBound
    self.element = element
    count = payload.count / element.byteCount
  }

  /// The bits of a number, with its sign extended if it is a signed integer.
  @inline(__always)
  func bits(_ index: Int, in bytes: Span<UInt8>) -> UInt64 {
    let size = element.byteCount
    let place = start + index * size
    let bits = bytes.littleEndian(place..<place + size)
    return switch element {
    case .int8: UInt64(bitPattern: Int64(Int8(truncatingIfNeeded: bits)))
    case .int16: UInt64(bitPattern: Int64(Int16(truncatingIfNeeded: bits)))
    case .int32: UInt64(bitPattern: Int64(Int32(truncatingIfNeeded: bits)))
    case .int64, .uint64, .float, .double: bits
    }
  }

  subscript(index: Int, in bytes: Span<UInt8>) -> ValueHeader.Kind {
    let bits = bits(index, in: bytes)
    guard element == .uint64, bits > UInt64(Int64.max) else {
      return .integer(Int64(bitPattern: bits))
    }
    return .largeInteger(bits)
  }

  /// The element width that the canonical form of these integers has.
  func narrowest(in bytes: Span<UInt8>) -> PackedElement {
    var low: Int64 = 0
    var high: UInt64 = 0
    for index in 0..<count {
      let bits = bits(index, in: bytes)
      if element != .uint64, Int64(bitPattern: bits) < 0 {
        low = min(low, Int64(bitPattern: bits))
      } else {
        high = max(high, bits)
      }
    }
    return PackedElement(holding: low, through: high)
  }
}
