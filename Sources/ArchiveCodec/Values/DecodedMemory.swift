internal import RestorationFoundation

/// The memory that decoding one value may take: a short record can promise many
/// elements that are large in memory.
///
/// The sizes are roughly those of the elements, so the limit holds within a small factor.
enum DecodedMemory {
  static func limit(recordByteCount: Int) -> Int {
    ArchiveLimits.decodedByteCount + 4 * recordByteCount
  }

  static func error(at offset: Int) -> ArchiveError {
    ArchiveError(.limitExceeded, offset: offset, subject: "memory of a decoded value")
  }

  /// No value of so few bytes can take more than the limit.
  static let smallByteCount = 1 << 18

  /// The bytes of the heap for an array besides its elements.
  static let array = 32
  /// The bytes of the heap for an entry of a dictionary besides its value.
  static let entry = 64
  /// The bytes of the heap for an instance of a class.
  static let instance = 64
  /// The bytes that Foundation keeps for a URL.
  static let url = 384
}

extension ValueReader {
  /// Whether the value may take more memory than any value may.
  @usableFromInline var isLarge: Bool { header.payload.count > DecodedMemory.smallByteCount }

  /// Refuses a collection that would take too much memory, before it is made.
  func checkMemory<Value: CountsMemory>(
    of type: Value.Type, in bytes: Span<UInt8>
  ) throws(ArchiveError) {
    guard isLarge else { return }
    guard try type.memory(of: self, in: bytes) <= DecodedMemory.limit(recordByteCount: bytes.count)
    else { throw DecodedMemory.error(at: header.payload.lowerBound) }
  }
}

/// A value that takes memory of its own, besides its place in another one.
///
/// A stored value of another type takes none, because reading refuses it.
protocol CountsMemory {
  static func memory(of reader: ValueReader, in bytes: Span<UInt8>) throws(ArchiveError) -> Int
}

extension URL: CountsMemory {
  static func memory(of reader: ValueReader, in bytes: Span<UInt8>) -> Int { DecodedMemory.url }
}

extension Array where Element: ArchiveValue {
  @usableFromInline
  @inline(never)
  static func checkMemory(of reader: ValueReader, in bytes: Span<UInt8>) throws(ArchiveError) {
    try reader.checkMemory(of: Self.self, in: bytes)
  }
}

extension Array: CountsMemory where Element: ArchiveValue {
  static func memory(of reader: ValueReader, in bytes: Span<UInt8>) throws(ArchiveError) -> Int {
    var sum = DecodedMemory.array + reader.elementCount * MemoryLayout<Element>.stride
    guard reader.header.kind == .array, let element = Element.self as? any CountsMemory.Type
    else { return sum }
    var offset = reader.header.payload.lowerBound
    while offset < reader.end {
      let value = try ValueReader(bytes, at: offset)
      sum += try element.memory(of: value, in: bytes)
      offset = value.end
    }
    return sum
  }
}

extension Dictionary: CountsMemory where Key == String, Value: ArchiveValue {
  static func memory(of reader: ValueReader, in bytes: Span<UInt8>) throws(ArchiveError) -> Int {
    guard reader.header.kind == .map else { return 0 }
    var sum = reader.header.count * (DecodedMemory.entry + MemoryLayout<Value>.stride)
    guard let type = Value.self as? any CountsMemory.Type else { return sum }
    var cursor = ByteCursor(bytes, over: reader.header.payload)
    while !cursor.isAtEnd {
      _ = try cursor.readKey(bytes)
      let value = try ValueReader(bytes, at: cursor.offset)
      sum += try type.memory(of: value, in: bytes)
      cursor.offset = value.end
    }
    return sum
  }
}
