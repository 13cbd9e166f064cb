import ArchiveCodec

/// What the specification says of a record's form, in the plainest words: one value
/// after the other, each with all of its checks, and no short path.
///
/// It refuses with the code and the offset of the first thing that is wrong.
struct PlainValidator {
  struct Refusal: Error, Hashable {
    let code: ArchiveError.Code
    let offset: Int?
  }

  private let bytes: [UInt8]
  private let names: [String]
  private let limits: ArchiveLimits
  private var offset = 0

  /// What is wrong with the map of a record; nil if nothing is.
  static func refusal(
    of bytes: [UInt8], names: [String], limits: ArchiveLimits = .standard
  ) -> Refusal? {
    var validator = PlainValidator(bytes: bytes, names: names, limits: limits)
    do {
      try validator.record()
      return nil
    } catch {
      return error
    }
  }

  private init(bytes: [UInt8], names: [String], limits: ArchiveLimits) {
    self.bytes = bytes
    self.names = names
    self.limits = limits
  }

  private func malformed(_ offset: Int) -> Refusal { Refusal(code: .malformed, offset: offset) }

  private func exceeded(_ offset: Int) -> Refusal { Refusal(code: .limitExceeded, offset: offset) }

  // MARK: Bytes

  private mutating func take(_ count: UInt64) throws(Refusal) -> Range<Int> {
    guard count <= UInt64(bytes.count - offset) else { throw malformed(offset) }
    defer { offset += Int(count) }
    return offset..<offset + Int(count)
  }

  private mutating func number(_ count: UInt64) throws(Refusal) -> UInt64 {
    try take(count).reversed().reduce(0) { $0 << 8 | UInt64(bytes[$1]) }
  }

  private mutating func varint() throws(Refusal) -> UInt64 {
    let start = offset
    let following = try number(1).trailingZeroBitCount
    let value: UInt64
    if following >= 8 {
      value = try number(8)
      guard value >= 1 << 56 else { throw malformed(start) }
    } else {
      offset = start
      value = try number(UInt64(following) + 1) >> UInt64(following + 1)
      guard following == 0 || value >= 1 << UInt64(7 * following) else { throw malformed(start) }
    }
    return value
  }

  private mutating func count() throws(Refusal) -> UInt64 {
    let start = offset
    let value = try varint()
    guard value <= UInt64(bytes.count - offset) else { throw malformed(start) }
    return value
  }

  private func isUTF8(_ range: Range<Int>) -> Bool {
    String(validating: bytes[range], as: UTF8.self) != nil
  }

  private func hasSymbol(_ range: Range<Int>) -> Int? {
    names.firstIndex { $0.utf8.elementsEqual(bytes[range]) }
  }

  // MARK: Record

  private mutating func record() throws(Refusal) {
    let start = offset
    guard case .map(let count, let payload) = try header() else { throw malformed(start) }
    try elements(count, payload, isMap: true, depth: 1)
    guard offset == bytes.count else { throw malformed(offset) }
  }

  private enum Key {
    case symbol(UInt64)
    case inline(Range<Int>)
  }

  private mutating func key(isChecked: Bool) throws(Refusal) -> Key {
    let start = offset
    let value = try varint()
    guard value & 1 == 1 else {
      if isChecked, value >> 1 >= UInt64(names.count) { throw malformed(start) }
      return .symbol(value >> 1)
    }
    guard value >> 1 <= UInt64(bytes.count - offset) else { throw malformed(start) }
    if isChecked, value >> 1 > UInt64(limits.keyByteCount) { throw exceeded(start) }
    return .inline(try take(value >> 1))
  }

  private func checkName(_ key: Key, limit: Int, _ start: Int) throws(Refusal) {
    switch key {
    case .symbol(let number):
      guard number < UInt64(names.count) else { throw malformed(start) }
      guard names[Int(number)].utf8.count <= limit else { throw exceeded(start) }
    case .inline(let range):
      guard isUTF8(range), hasSymbol(range) == nil else { throw malformed(start) }
      guard range.count <= limit else { throw exceeded(start) }
    }
  }

  private mutating func elements(
    _ count: Int, _ payload: Range<Int>, isMap: Bool, depth: Int
  ) throws(Refusal) {
    offset = payload.lowerBound
    var symbols: [UInt64] = []
    var last: Range<Int>?
    for _ in 0..<count {
      if isMap {
        let start = offset
        switch try key(isChecked: true) {
        case .symbol(let number):
          guard last == nil, number > symbols.last ?? 0 || symbols.isEmpty else {
            throw malformed(start)
          }
          symbols.append(number)
        case .inline(let range):
          if let last, !bytes[last].lexicographicallyPrecedes(bytes[range]) {
            throw malformed(start)
          }
          last = range
          guard isUTF8(range) else { throw malformed(start) }
          if let number = hasSymbol(range), symbols.contains(UInt64(number)) {
            throw malformed(start)
          }
        }
      }
      try value(end: payload.upperBound, depth: depth)
    }
    guard offset == payload.upperBound else { throw malformed(offset) }
  }

  // MARK: Values

  private enum Header {
    case array(Int, Range<Int>)
    case map(Int, Range<Int>)
    case text(Range<Int>)
    case bytes(Range<Int>)
    case packed(UInt8, Range<Int>)
    case name(Key)
    case other
  }

  private mutating func value(end: Int, depth: Int) throws(Refusal) {
    let start = offset
    let header = try header()
    guard offset <= end else { throw malformed(offset) }
    switch header {
    case .array(let count, let payload), .map(let count, let payload):
      guard depth < limits.depth else { throw exceeded(offset) }
      var isMap = false
      if case .map = header { isMap = true }
      try elements(count, payload, isMap: isMap, depth: depth + 1)
    case .text(let range):
      guard range.count <= limits.stringByteCount else { throw exceeded(start) }
      guard isUTF8(range) else { throw malformed(start) }
    case .bytes(let range):
      guard range.count <= limits.stringByteCount else { throw exceeded(start) }
    case .packed(let element, let range):
      guard isNarrowest(element, range) else { throw malformed(start) }
    case .name(let key): try checkName(key, limit: limits.keyByteCount, start)
    case .other: break
    }
  }

  private func isNarrowest(_ element: UInt8, _ range: Range<Int>) -> Bool {
    let sizes = [0, 1, 2, 4, 8, 8, 4, 8]
    let size = sizes[Int(element)]
    let numbers = stride(from: range.lowerBound, to: range.upperBound, by: size).map { start in
      (start..<start + size).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64(bytes[$1]) }
    }
    switch element {
    case 2: return numbers.contains { Int8(exactly: Int16(truncatingIfNeeded: $0)) == nil }
    case 3: return numbers.contains { Int16(exactly: Int32(truncatingIfNeeded: $0)) == nil }
    case 4: return numbers.contains { Int32(exactly: Int64(bitPattern: $0)) == nil }
    case 5: return numbers.contains { $0 > UInt64(Int64.max) }
    default: return true
    }
  }

  private mutating func header() throws(Refusal) -> Header {
    let start = offset
    let tag = UInt8(try number(1))
    switch tag {
    case 0...0x4F, 0xA0...0xA2: return .other
    case 0x50...0x7F: return .text(try take(UInt64(tag - 0x50)))
    case 0x80...0x8F: return try container(isMap: false, UInt64(tag - 0x80))
    case 0x90...0x9F: return try container(isMap: true, UInt64(tag - 0x90))
    case 0xA3: guard try varint() >= 64 else { throw malformed(start) }
    case 0xA4:
      let magnitude = try varint()
      guard magnitude >= 16, magnitude <= UInt64(Int64.max) else { throw malformed(start) }
    case 0xA5: _ = try take(4)
    case 0xA6, 0xA7: _ = try take(8)
    case 0xA8: _ = try take(16)
    case 0xA9: return .text(try take(try count()))
    case 0xAA:
      let count = try count()
      guard count >= 48 else { throw malformed(start) }
      return .text(try take(count))
    case 0xAB: return .bytes(try take(try count()))
    case 0xAC, 0xAD:
      let count = try count()
      guard count >= 16 else { throw malformed(start) }
      return try container(isMap: tag == 0xAD, count)
    case 0xAE:
      let element = UInt8(try number(1))
      guard (1...7).contains(element) else { throw malformed(start) }
      let range = try take(try count())
      guard range.count.isMultiple(of: [1, 1, 2, 4, 8, 8, 4, 8][Int(element)]) else {
        throw malformed(start)
      }
      return .packed(element, range)
    case 0xAF: _ = try varint()
    case 0xB2:
      guard try varint().isMultiple(of: 2) else {
        throw Refusal(code: .unsupportedFeature, offset: start)
      }
      _ = try take(try count())
    case 0xB3: return .name(try key(isChecked: false))
    default: throw malformed(start)
    }
    return .other
  }

  private mutating func container(isMap: Bool, _ count: UInt64) throws(Refusal) -> Header {
    let start = offset
    let payload = try take(try self.count())
    guard count <= UInt64(isMap ? payload.count / 2 : payload.count) else {
      throw malformed(start)
    }
    return isMap ? .map(Int(count), payload) : .array(Int(count), payload)
  }
}
