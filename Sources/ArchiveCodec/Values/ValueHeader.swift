/// The kind of the value at an offset, and the range of its payload.
struct ValueHeader: Sendable {
  enum Kind: Equatable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    /// An integer over `Int64.max`.
    case largeInteger(UInt64)
    case float, double, date, uuid, url, string, bytes
    case array, map
    case packedArray(PackedElement)
    case recordReference(UInt64)
    /// A type that a later version may know; its values can be skipped.
    case `extension`(UInt64)
    /// A string that is written like a key: the payload is its text, if it has no symbol.
    case name(symbol: UInt32?)
  }

  let kind: Kind
  /// The bytes after the tag and the lengths; for containers, all elements.
  let payload: Range<Int>
  /// The number of elements of an array, or of entries of a map.
  let count: Int

  init(_ kind: Kind, _ payload: Range<Int>, count: Int = 0) {
    self.kind = kind
    self.payload = payload
    self.count = count
  }

  /// The key form of a name; nil for other values.
  var key: ValueKey? {
    guard case .name(let symbol) = kind else { return nil }
    return symbol.map(ValueKey.symbol) ?? .inline(payload)
  }

  var isContainer: Bool { kind == .array || kind == .map }

  /// A number for the kind, without its associated values; packed arrays differ by
  /// their elements.
  var form: UInt8 {
    switch kind {
    case .null: 0
    case .bool: 1
    case .integer, .largeInteger: 2
    case .float: 3
    case .double: 4
    case .date: 5
    case .uuid: 6
    case .url: 7
    case .string: 8
    case .bytes: 9
    case .array: 10
    case .map: 11
    case .recordReference: 12
    case .extension: 13
    case .name: 14
    case .packedArray(let element): 15 + element.rawValue
    }
  }

  /// Names the kind in an error, without the value.
  var name: String { Self.names[min(Int(form), Self.names.count - 1)] }

  /// The names by ``form``; packed arrays have the last one.
  private static let names = [
    "null", "bool", "integer", "float", "double", "date", "uuid", "url", "string", "bytes", "array",
    "map", "record reference", "extension", "name", "packed array",
  ]
}

extension ByteCursor {
  /// Goes past one value of a record that was checked.
  @inline(__always)
  mutating func skipValue(_ bytes: Span<UInt8>) throws(ArchiveError) {
    guard offset < end else { throw malformed(at: offset) }
    guard let byteCount = ValueTag.byteCount(bytes[offset]) else {
      _ = try readValueHeader(bytes)
      return
    }
    _ = try readRange(count: byteCount)
  }

  /// Reads one value's tag and lengths; the cursor ends after the whole value.
  ///
  /// Every length is checked against the bytes that are there, so the payload lies
  /// inside them. The elements of a container are not checked.
  mutating func readValueHeader(_ bytes: Span<UInt8>) throws(ArchiveError) -> ValueHeader {
    let start = offset
    let tag = try readByte(bytes)
    switch tag {
    case ValueTag.smallIntegers:
      return scalar(.integer(Int64(tag)))
    case ValueTag.smallNegatives:
      return scalar(.integer(-1 - Int64(tag - ValueTag.smallNegatives.lowerBound)))
    case ValueTag.shortStrings:
      return ValueHeader(.string, try readRange(count: Int(tag - ValueTag.shortStrings.lowerBound)))
    case ValueTag.smallArrays:
      return try container(bytes, .array, count: Int(tag - ValueTag.smallArrays.lowerBound))
    case ValueTag.smallMaps:
      return try container(bytes, .map, count: Int(tag - ValueTag.smallMaps.lowerBound))
    case ValueTag.null: return scalar(.null)
    case ValueTag.false: return scalar(.bool(false))
    case ValueTag.true: return scalar(.bool(true))
    case ValueTag.positiveInteger:
      let value = try readVarint(bytes)
      guard value > UInt64(ValueTag.smallIntegers.upperBound) else { throw malformed(at: start) }
      return scalar(Int64(exactly: value).map(ValueHeader.Kind.integer) ?? .largeInteger(value))
    case ValueTag.negativeInteger:
      guard let magnitude = Int64(exactly: try readVarint(bytes)), magnitude >= 16 else {
        throw malformed(at: start)
      }
      return scalar(.integer(-1 - magnitude))
    case ValueTag.float: return ValueHeader(.float, try readRange(count: 4))
    case ValueTag.double: return ValueHeader(.double, try readRange(count: 8))
    case ValueTag.date: return ValueHeader(.date, try readRange(count: 8))
    case ValueTag.uuid: return ValueHeader(.uuid, try readRange(count: 16))
    case ValueTag.url: return ValueHeader(.url, try readRange(count: try readCount(bytes)))
    case ValueTag.string:
      let count = try readCount(bytes)
      guard count > Self.longestShortString else { throw malformed(at: start) }
      return ValueHeader(.string, try readRange(count: count))
    case ValueTag.bytes: return ValueHeader(.bytes, try readRange(count: try readCount(bytes)))
    case ValueTag.array: return try largeContainer(bytes, .array, at: start)
    case ValueTag.map: return try largeContainer(bytes, .map, at: start)
    case ValueTag.packedArray:
      guard let element = PackedElement(rawValue: try readByte(bytes)) else {
        throw malformed(at: start)
      }
      let payload = try readRange(count: try readCount(bytes))
      guard payload.count.isMultiple(of: element.byteCount) else { throw malformed(at: start) }
      return ValueHeader(.packedArray(element), payload, count: payload.count / element.byteCount)
    case ValueTag.recordReference:
      let record = try readVarint(bytes)
      return scalar(.recordReference(record))
    case ValueTag.extension:
      let type = try readVarint(bytes)
      guard type & 1 == 0 else {
        throw ArchiveError(.unsupportedFeature, offset: start, subject: "extension \(type)")
      }
      return ValueHeader(.extension(type), try readRange(count: try readCount(bytes)))
    case ValueTag.name:
      let name = try readKey(bytes)
      switch name {
      case .symbol(let symbol): return scalar(.name(symbol: symbol))
      case .inline(let text): return ValueHeader(.name(symbol: nil), text)
      }
    default: throw malformed(at: start)
    }
  }

  static var longestShortString: Int { ValueTag.shortStrings.count - 1 }

  private func scalar(_ kind: ValueHeader.Kind) -> ValueHeader {
    ValueHeader(kind, offset..<offset)
  }

  private mutating func largeContainer(
    _ bytes: Span<UInt8>, _ kind: ValueHeader.Kind, at start: Int
  ) throws(ArchiveError) -> ValueHeader {
    let count = try readCount(bytes)
    guard count >= ValueTag.smallArrays.count else { throw malformed(at: start) }
    return try container(bytes, kind, count: count)
  }

  /// A container.
  ///
  /// An element takes at least a byte and an entry at least two, so a count can never
  /// promise more than its bytes can hold.
  private mutating func container(
    _ bytes: Span<UInt8>, _ kind: ValueHeader.Kind, count: Int
  ) throws(ArchiveError) -> ValueHeader {
    let start = offset
    let payload = try readRange(count: try readCount(bytes))
    guard count <= (kind == .map ? payload.count / 2 : payload.count) else {
      throw malformed(at: start)
    }
    return ValueHeader(kind, payload, count: count)
  }
}
