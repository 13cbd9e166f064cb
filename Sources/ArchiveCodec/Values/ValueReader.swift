/// One stored value, in the bytes of its record; handed to ``ArchiveValue``
/// conformances.
///
/// The bytes were validated with their record, so only the type can be wrong. The reader
/// gets the bytes with each call and does not hold them, because counting references
/// took as long as reading a number (benchmark: open and decode keyed records).
public struct ValueReader: Sendable {
  let header: ValueHeader
  /// The offset of the value.
  let offset: Int

  @usableFromInline
  init(_ bytes: Span<UInt8>, at offset: Int) throws(ArchiveError) {
    var cursor = ByteCursor(bytes, from: offset, to: bytes.count)
    header = try cursor.readValueHeader(bytes)
    self.offset = offset
  }

  private init(_ header: ValueHeader) {
    self.header = header
    offset = header.payload.lowerBound
  }

  /// The offset of the next value.
  @usableFromInline var end: Int { header.payload.upperBound }

  var isNull: Bool { header.kind == .null }

  func mismatch(_ expected: String) -> ArchiveError {
    ArchiveError(
      .typeMismatch, offset: header.payload.lowerBound,
      subject: "found \(header.name), expected \(expected)")
  }

  func readInteger<Integer: FixedWidthInteger>(
    as kind: ValueHeader.Kind? = nil
  ) throws(ArchiveError) -> Integer {
    let converted: Integer?
    switch kind ?? header.kind {
    case .integer(let value): converted = Integer(exactly: value)
    case .largeInteger(let value): converted = Integer(exactly: value)
    default: throw mismatch("integer")
    }
    guard let converted else { throw outOfRange(Integer.self) }
    return converted
  }

  func outOfRange(_ type: Any.Type) -> ArchiveError {
    ArchiveError(.numberOutOfRange, offset: header.payload.lowerBound, subject: "\(type)")
  }

  func readIntegers<Integer: FixedWidthInteger & ArchiveValue>(
    _ bytes: Span<UInt8>
  ) throws(ArchiveError) -> [Integer] {
    guard case .packedArray(let element) = header.kind, element != .float, element != .double
    else {
      return try readElements(bytes, Integer.read)
    }
    let numbers = PackedIntegers(header.payload, element)
    // Creating an array with its capacity takes a third longer than reserving it.
    var values: [Integer] = []
    values.reserveCapacity(numbers.count)
    for index in 0..<numbers.count {
      values.append(try readInteger(as: numbers[index, in: bytes]))
    }
    return values
  }

  /// Reads an array of numbers, packed or not.
  func readPacked<Value: ArchiveValue>(
    _ bytes: Span<UInt8>, _ element: PackedElement, _ convert: (UInt64) -> Value
  ) throws(ArchiveError) -> [Value] {
    guard case .packedArray(element) = header.kind else {
      guard header.kind == .array else { throw mismatch("packed array") }
      return try readElements(bytes, Value.read)
    }
    let numbers = PackedIntegers(header.payload, element)
    var values: [Value] = []
    values.reserveCapacity(numbers.count)
    for index in 0..<numbers.count { values.append(convert(numbers.bits(index, in: bytes))) }
    return values
  }

  /// The range of the bytes in a byte sequence.
  func byteRange() throws(ArchiveError) -> Range<Int> {
    guard header.kind == .bytes else { throw mismatch("bytes") }
    return header.payload
  }

  func readReference() throws(ArchiveError) -> UInt64 {
    guard case .recordReference(let record) = header.kind else {
      throw mismatch("record reference")
    }
    return record
  }

  func readElements<Value>(
    _ bytes: Span<UInt8>,
    _ convert: (ValueReader, Span<UInt8>) throws(ArchiveError) -> Value
  ) throws(ArchiveError) -> [Value] {
    guard header.kind == .array else { throw mismatch("array") }
    var values: [Value] = []
    values.reserveCapacity(header.count)
    var offset = header.payload.lowerBound
    while offset < header.payload.upperBound {
      let element = try ValueReader(bytes, at: offset)
      values.append(try convert(element, bytes))
      offset = element.end
    }
    return values
  }

  func bits<Bits: FixedWidthInteger>(_ bytes: Span<UInt8>) -> Bits {
    Bits(truncatingIfNeeded: bytes.littleEndian(header.payload))
  }
}

// MARK: - Elements

extension ValueReader {
  /// The size of a packed number or of a byte; nil for all other values.
  var packedElementByteCount: Int? {
    switch header.kind {
    case .packedArray(let element): element.byteCount
    case .bytes: 1
    default: nil
    }
  }

  /// The number of elements of an array of any kind.
  var elementCount: Int {
    packedElementByteCount.map { header.payload.count / $0 } ?? header.count
  }

  /// A number of a packed array, or a byte; nil for any other value, and behind the last number.
  func packedElement(_ index: Int, in bytes: Span<UInt8>) -> ValueReader? {
    guard let size = packedElementByteCount, index < elementCount else { return nil }
    let start = header.payload.lowerBound + index * size
    let range = start..<start + size
    return switch header.kind {
    case .bytes: ValueReader(ValueHeader(.integer(Int64(bytes[start])), range))
    case .packedArray(.float): ValueReader(ValueHeader(.float, range))
    case .packedArray(.double): ValueReader(ValueHeader(.double, range))
    case .packedArray(let element):
      ValueReader(ValueHeader(PackedIntegers(header.payload, element)[index, in: bytes], range))
    default: nil
    }
  }
}
