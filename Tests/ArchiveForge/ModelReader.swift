/// Reads a ``ModelValue`` in any form that can be understood.
package struct ModelReader {
  private let bytes: ArraySlice<UInt8>
  private var position: Int

  package init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    position = bytes.startIndex
  }

  package struct NotAValue: Error {}

  package var isAtEnd: Bool { position == bytes.endIndex }

  package mutating func byte() throws(NotAValue) -> UInt8 {
    guard position < bytes.endIndex else { throw NotAValue() }
    defer { position += 1 }
    return bytes[position]
  }

  package mutating func take(_ count: UInt64) throws(NotAValue) -> ArraySlice<UInt8> {
    guard count <= UInt64(bytes.endIndex - position) else { throw NotAValue() }
    defer { position += Int(count) }
    return bytes[position..<position + Int(count)]
  }

  private mutating func little(_ count: Int) throws(NotAValue) -> UInt64 {
    try take(UInt64(count)).reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  package mutating func varint() throws(NotAValue) -> UInt64 {
    let following = try byte().trailingZeroBitCount
    guard following < 8 else { return try little(8) }
    position -= 1
    return try little(following + 1) >> UInt64(following + 1)
  }

  package mutating func value(depth: Int = 0) throws(NotAValue) -> ModelValue {
    let tag = try byte()
    return switch tag {
    case 0x00...0x3F: .integer(Int128(tag))
    case 0x40...0x4F: .integer(-1 - Int128(tag - 0x40))
    case 0x50...0x7F: .string(Array(try take(UInt64(tag - 0x50))))
    case 0x80...0x8F: .array(try elements(UInt64(tag - 0x80), depth: depth))
    case 0x90...0x9F: .map(try entries(UInt64(tag - 0x90), depth: depth))
    case 0xA0: .null
    case 0xA1: .bool(false)
    case 0xA2: .bool(true)
    case 0xA3: .integer(Int128(try varint()))
    case 0xA4: .integer(-1 - Int128(Int64(bitPattern: try magnitude())))
    case 0xA5: .float(UInt32(try little(4)))
    case 0xA6: .double(try little(8))
    case 0xA7: .date(try little(8))
    case 0xA8: .uuid(Array(try take(16)))
    case 0xA9: .url(Array(try take(try varint())))
    case 0xAA: .string(Array(try take(try varint())))
    case 0xAB: .bytes(Array(try take(try varint())))
    case 0xAC: .array(try elements(try varint(), depth: depth))
    case 0xAD: .map(try entries(try varint(), depth: depth))
    case 0xAE: try packed()
    case 0xAF: .reference(try varint())
    case 0xB2: .extension(try varint(), Array(try take(try varint())))
    case 0xB3: .name(try key())
    default: throw NotAValue()
    }
  }

  private mutating func magnitude() throws(NotAValue) -> UInt64 {
    let magnitude = try varint()
    guard magnitude < 1 << 63 else { throw NotAValue() }
    return magnitude
  }

  /// The elements, which fill exactly the bytes that are promised.
  private mutating func elements(
    _ count: UInt64, depth: Int
  ) throws(NotAValue) -> [ModelValue] {
    var reader = try inner(count, depth: depth)
    var elements: [ModelValue] = []
    for _ in 0..<count { elements.append(try reader.value(depth: depth + 1)) }
    guard reader.isAtEnd else { throw NotAValue() }
    return elements
  }

  private mutating func entries(
    _ count: UInt64, depth: Int
  ) throws(NotAValue) -> [ModelValue.Entry] {
    var reader = try inner(count, depth: depth)
    var entries: [ModelValue.Entry] = []
    for _ in 0..<count {
      let key = try reader.key()
      entries.append(ModelValue.Entry(key: key, value: try reader.value(depth: depth + 1)))
    }
    guard reader.isAtEnd else { throw NotAValue() }
    return entries
  }

  package mutating func key() throws(NotAValue) -> ModelValue.Key {
    let number = try varint()
    return number & 1 == 0 ? .symbol(number >> 1) : .inline(Array(try take(number >> 1)))
  }

  private mutating func inner(_ count: UInt64, depth: Int) throws(NotAValue) -> ModelReader {
    let bytes = try take(try varint())
    guard depth < 128, count <= UInt64(bytes.count) else { throw NotAValue() }
    return ModelReader(bytes)
  }

  private mutating func packed() throws(NotAValue) -> ModelValue {
    let element = try byte()
    let widths: [UInt8: Int] = [1: 1, 2: 2, 3: 4, 4: 8, 5: 8, 6: 4, 7: 8]
    guard let width = widths[element] else { throw NotAValue() }
    var reader = ModelReader(try take(try varint()))
    var words: [UInt64] = []
    while !reader.isAtEnd { words.append(try reader.little(width)) }
    return switch element {
    case 6: .packedFloats(words.map { UInt32($0) })
    case 7: .packedDoubles(words)
    case 5: .packedIntegers(words.map { Int128($0) })
    default:
      .packedIntegers(
        words.map { word in
          let shift = UInt64(64 - 8 * width)
          return Int128(Int64(bitPattern: word << shift) >> Int64(shift))
        })
    }
  }
}
