/// A value as the specification describes it, written without the codec.
///
/// It is read generously, in any form that can be understood, and written in
/// the one form that the format allows. So what the codec accepts must be what
/// comes back from here unchanged, and the other way round.
package indirect enum ModelValue: Hashable {
  case null
  case bool(Bool)
  case integer(Int128)
  case float(UInt32)
  case double(UInt64)
  case date(UInt64)
  case uuid([UInt8])
  case url([UInt8])
  case string([UInt8])
  case bytes([UInt8])
  case array([ModelValue])
  case map([Entry])
  case packedIntegers([Int128])
  case packedFloats([UInt32])
  case packedDoubles([UInt64])
  case reference(UInt64)
  case `extension`(UInt64, [UInt8])
  case name(Key)

  package struct Entry: Hashable {
    package let key: Key
    package let value: ModelValue

    package init(key: Key, value: ModelValue) {
      (self.key, self.value) = (key, value)
    }
  }

  package enum Key: Hashable {
    case symbol(UInt64)
    case inline([UInt8])
  }

  package static func varint(_ value: UInt64) -> [UInt8] {
    for following in 0..<8 where value >> (7 * UInt64(following + 1)) == 0 {
      let word = (value << 1 | 1) << UInt64(following)
      return little(word, count: following + 1)
    }
    return [0] + little(value, count: 8)
  }

  package static func little(_ value: UInt64, count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * $0)) }
  }
}

// MARK: - Writing

extension ModelValue {
  /// The one form of the value.
  package var encoded: [UInt8] {
    switch self {
    case .null: [0xA0]
    case .bool(let value): [value ? 0xA2 : 0xA1]
    case .integer(let value): Self.encoded(value)
    case .float(let bits): [0xA5] + Self.little(UInt64(bits), count: 4)
    case .double(let bits): [0xA6] + Self.little(bits, count: 8)
    case .date(let bits): [0xA7] + Self.little(bits, count: 8)
    case .uuid(let bytes): [0xA8] + bytes
    case .url(let text): [0xA9] + Self.varint(UInt64(text.count)) + text
    case .string(let text):
      text.count < 48
        ? [0x50 + UInt8(text.count)] + text : [0xAA] + Self.varint(UInt64(text.count)) + text
    case .bytes(let bytes): [0xAB] + Self.varint(UInt64(bytes.count)) + bytes
    case .array(let elements):
      Self.container(0x80, 0xAC, elements.count, elements.flatMap(\.encoded))
    case .map(let entries):
      Self.container(0x90, 0xAD, entries.count, entries.flatMap(\.encoded))
    case .packedIntegers(let values): Self.packed(values)
    case .packedFloats(let values):
      Self.packed(6, values.flatMap { Self.little(UInt64($0), count: 4) })
    case .packedDoubles(let values): Self.packed(7, values.flatMap { Self.little($0, count: 8) })
    case .reference(let record): [0xAF] + Self.varint(record)
    case .extension(let type, let bytes):
      [0xB2] + Self.varint(type) + Self.varint(UInt64(bytes.count)) + bytes
    case .name(let name): [0xB3] + name.encoded
    }
  }

  private static func encoded(_ value: Int128) -> [UInt8] {
    switch value {
    case 0...63: [UInt8(value)]
    case (-16)...(-1): [0x40 + UInt8(-1 - value)]
    case 64...: [0xA3] + varint(UInt64(value))
    default: [0xA4] + varint(UInt64(-1 - value))
    }
  }

  private static func container(
    _ small: UInt8, _ large: UInt8, _ count: Int, _ elements: [UInt8]
  ) -> [UInt8] {
    let start = count < 16 ? [small + UInt8(count)] : [large] + varint(UInt64(count))
    return start + varint(UInt64(elements.count)) + elements
  }

  private static func packed(_ element: UInt8, _ bytes: [UInt8]) -> [UInt8] {
    [0xAE, element] + varint(UInt64(bytes.count)) + bytes
  }

  private static func packed(_ values: [Int128]) -> [UInt8] {
    let element = PackedElement.narrowest(of: values)
    return packed(
      element.type,
      values.flatMap { little(UInt64(truncatingIfNeeded: $0), count: element.byteCount) })
  }
}

/// How an array of integers is packed.
struct PackedElement {
  let type: UInt8
  let name: String
  let byteCount: Int
  private let range: ClosedRange<Int128>

  private static let all = [
    PackedElement(type: 1, name: "int8", byteCount: 1, range: -0x80...0x7F),
    PackedElement(type: 2, name: "int16", byteCount: 2, range: -0x8000...0x7FFF),
    PackedElement(type: 3, name: "int32", byteCount: 4, range: -0x8000_0000...0x7FFF_FFFF),
    PackedElement(
      type: 4, name: "int64", byteCount: 8, range: Int128(Int64.min)...Int128(Int64.max)),
  ]
  private static let unsigned = PackedElement(
    type: 5, name: "uint64", byteCount: 8, range: 0...Int128(UInt64.max))

  /// The first that holds all of the values.
  static func narrowest(of values: [Int128]) -> PackedElement {
    all.first { element in values.allSatisfy(element.range.contains) } ?? unsigned
  }
}

extension ModelValue.Entry {
  fileprivate var encoded: [UInt8] { key.encoded + value.encoded }
}

extension ModelValue.Key {
  package var encoded: [UInt8] {
    switch self {
    case .symbol(let number): ModelValue.varint(number << 1)
    case .inline(let name): ModelValue.varint(UInt64(name.count) << 1 | 1) + name
    }
  }
}
