/// The integers of a packed array, read where they lie.
struct PackedIntegers {
  let bytes: [UInt8]
  let payload: Range<Int>
  let element: PackedElement

  var count: Int { payload.count / element.byteCount }

  subscript(index: Int) -> ValueHeader.Kind {
    let start = payload.lowerBound + index * element.byteCount
    var bits: UInt64 = 0
    for position in 0..<element.byteCount {
      bits |= UInt64(bytes[start + position]) << UInt64(position * 8)
    }
    switch element {
    case .int8: return .integer(Int64(Int8(truncatingIfNeeded: bits)))
    case .int16: return .integer(Int64(Int16(truncatingIfNeeded: bits)))
    case .int32: return .integer(Int64(Int32(truncatingIfNeeded: bits)))
    case .uint64:
      return Int64(exactly: bits).map(ValueHeader.Kind.integer) ?? .largeInteger(bits)
    case .int64, .float, .double: return .integer(Int64(truncatingIfNeeded: bits))
    }
  }

  /// The element width that the canonical form of these integers has.
  var narrowest: PackedElement {
    var low: Int64 = 0
    var high: UInt64 = 0
    for index in 0..<count {
      switch self[index] {
      case .integer(let value) where value < 0: low = min(low, value)
      case .integer(let value): high = max(high, UInt64(value))
      case .largeInteger(let value): high = max(high, value)
      default: break
      }
    }
    return PackedElement(holding: low, through: high)
  }
}

extension ByteReader {
  func packedIntegers(_ header: ValueHeader, _ element: PackedElement) -> PackedIntegers {
    PackedIntegers(bytes: bytes, payload: header.payload, element: element)
  }
}
