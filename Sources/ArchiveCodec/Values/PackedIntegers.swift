/// The numbers of a packed array, read in place.
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

  /// Whether the canonical form of these integers has this width: one of the integers
  /// does not fit into a narrower form.
  func isNarrowest(in bytes: Span<UInt8>) -> Bool {
    let narrower: ClosedRange<Int64>
    switch element {
    case .int8: return true
    case .int16: narrower = Int64(Int8.min)...Int64(Int8.max)
    case .int32: narrower = Int64(Int16.min)...Int64(Int16.max)
    case .int64: narrower = Int64(Int32.min)...Int64(Int32.max)
    // Numbers over the greatest Int64 look negative here.
    case .uint64: narrower = 0...Int64.max
    case .float, .double: return true
    }
    for index in 0..<count where !narrower.contains(Int64(bitPattern: bits(index, in: bytes))) {
      return true
    }
    return false
  }
}
