#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// One stored value; handed to ``ArchiveValue`` conformances.
///
/// The bytes were validated with their record, so only the type can be wrong.
public struct ValueReader: Sendable {
  let bytes: [UInt8]
  let header: ValueHeader
  /// Shared by the parts of one value; nil outside of arrays and dictionaries.
  private let budget: HeapBudget?

  init(_ bytes: [UInt8], at offset: Int, budget: HeapBudget? = nil) throws(ArchiveError) {
    self.budget = budget
    var reader = ByteReader(bytes, from: offset)
    header = try reader.readValueHeader()
    self.bytes = bytes
  }

  var isNull: Bool { header.kind == .null }

  func mismatch(_ expected: String) -> ArchiveError {
    ArchiveError(
      .typeMismatch, offset: header.payload.lowerBound,
      subject: "found \(header.name), expected \(expected)")
  }

  func readBool() throws(ArchiveError) -> Bool {
    guard case .bool(let value) = header.kind else { throw mismatch("bool") }
    return value
  }

  func readInteger<Integer: FixedWidthInteger>(
    _ type: Integer.Type = Integer.self
  ) throws(ArchiveError) -> Integer {
    try convert(header.kind)
  }

  private func convert<Integer: FixedWidthInteger>(
    _ kind: ValueHeader.Kind
  ) throws(ArchiveError) -> Integer {
    let converted: Integer?
    switch kind {
    case .integer(let value): converted = Integer(exactly: value)
    case .largeInteger(let value): converted = Integer(exactly: value)
    default: throw mismatch("integer")
    }
    guard let converted else {
      throw ArchiveError(
        .numberOutOfRange, offset: header.payload.lowerBound, subject: "\(Integer.self)")
    }
    return converted
  }

  func readIntegers<Integer: FixedWidthInteger>() throws(ArchiveError) -> [Integer] {
    guard case .packedArray(let element) = header.kind, element != .float, element != .double
    else { return try readElements { element throws(ArchiveError) in try element.readInteger() } }
    try charge(HeapBudget.arrayByteCount + header.count * MemoryLayout<Integer>.stride)
    let integers = PackedIntegers(bytes: bytes, payload: header.payload, element: element)
    var values: [Integer] = []
    values.reserveCapacity(integers.count)
    for index in 0..<integers.count {
      values.append(try convert(integers[index]))
    }
    return values
  }

  /// A float is read as such; a double only if no bit is lost.
  func readFloat() throws(ArchiveError) -> Float {
    if header.kind == .float { return Float(bitPattern: try readBits()) }
    let value = try readDouble()
    let narrowed = Float(value)
    guard Double(narrowed).bitPattern == value.bitPattern else {
      throw ArchiveError(
        .numberOutOfRange, offset: header.payload.lowerBound, subject: "Float")
    }
    return narrowed
  }

  func readDouble() throws(ArchiveError) -> Double {
    switch header.kind {
    case .double: Double(bitPattern: try readBits())
    case .float: Double(Float(bitPattern: try readBits()))
    default: throw mismatch("double")
    }
  }

  func readPacked<Value>(
    _ element: PackedElement, _ convert: (UInt64) -> Value
  ) throws(ArchiveError) -> [Value] {
    guard header.kind == .packedArray(element) else { throw mismatch("packed array") }
    try charge(HeapBudget.arrayByteCount + header.payload.count)
    var reader = ByteReader(bytes, from: header.payload.lowerBound, to: header.payload.upperBound)
    var values: [Value] = []
    values.reserveCapacity(header.count)
    for _ in 0..<header.count {
      values.append(convert(try reader.readLowBytes(count: element.byteCount)))
    }
    return values
  }

  func readDate() throws(ArchiveError) -> Date {
    guard header.kind == .date else { throw mismatch("date") }
    return Date(timeIntervalSinceReferenceDate: Double(bitPattern: try readBits()))
  }

  func readUUID() throws(ArchiveError) -> UUID {
    guard header.kind == .uuid else { throw mismatch("uuid") }
    return UUID(archivedBytes: bytes[header.payload])
  }

  func readURL() throws(ArchiveError) -> URL {
    guard header.kind == .url else { throw mismatch("url") }
    try charge(HeapBudget.urlByteCount)
    let text = try readText()
    // Foundation repairs some texts; what it would write instead is not what is stored.
    guard let url = URL(string: text), url.absoluteString.utf8.elementsEqual(text.utf8) else {
      throw ArchiveError(.malformed, offset: header.payload.lowerBound, subject: "url")
    }
    return url
  }

  func readString() throws(ArchiveError) -> String {
    guard header.kind == .string else { throw mismatch("string") }
    return try readText()
  }

  func readBytes() throws(ArchiveError) -> ArraySlice<UInt8> {
    guard header.kind == .bytes else { throw mismatch("bytes") }
    try charge(HeapBudget.arrayByteCount + header.payload.count)
    return bytes[header.payload]
  }

  func readReference() throws(ArchiveError) -> UInt64 {
    guard case .recordReference(let record) = header.kind else {
      throw mismatch("record reference")
    }
    return record
  }

  func readElements<Value>(
    _ convert: (ValueReader) throws(ArchiveError) -> Value
  ) throws(ArchiveError) -> [Value] {
    guard header.kind == .array else { throw mismatch("array") }
    let budget = try partBudget(
      charging: HeapBudget.arrayByteCount + header.count * MemoryLayout<Value>.stride)
    var values: [Value] = []
    values.reserveCapacity(header.count)
    var offset = header.payload.lowerBound
    while offset < header.payload.upperBound {
      let element = try ValueReader(bytes, at: offset, budget: budget)
      values.append(try convert(element))
      offset = element.header.payload.upperBound
    }
    return values
  }

  /// The budget for the parts of this value, less what the value itself takes.
  func partBudget(charging byteCount: Int) throws(ArchiveError) -> HeapBudget {
    let budget = budget ?? HeapBudget(recordByteCount: bytes.count)
    try budget.charge(byteCount, at: header.payload.lowerBound)
    return budget
  }

  private func charge(_ byteCount: Int) throws(ArchiveError) {
    try budget?.charge(byteCount, at: header.payload.lowerBound)
  }

  private func readText() throws(ArchiveError) -> String {
    var reader = ByteReader(bytes, from: header.payload.lowerBound)
    return try reader.readString(count: header.payload.count)
  }

  private func readBits<Bits: FixedWidthInteger>() throws(ArchiveError) -> Bits {
    var reader = ByteReader(bytes, from: header.payload.lowerBound)
    return try reader.readInteger()
  }
}
