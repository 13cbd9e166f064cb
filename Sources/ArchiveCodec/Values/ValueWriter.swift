/// Writes values in their one form; handed to ``ArchiveValue`` conformances.
///
/// The writer is a class so that passing it on costs no exclusivity check: several
/// encoders write into one, in turns.
public final class ValueWriter {
  let output: ByteBuffer
  let limits: ArchiveLimits
  let symbols: SymbolCollector
  /// One more than the longest string whose length is in its tag.
  private let shortStringCount: Int

  /// The first failure to write a value; finishing the record throws it.
  ///
  /// Computed, since a stored property with an observer costs an exclusivity check each
  /// time.
  var failure: Failure? {
    get { storedFailure }
    set {
      storedFailure = newValue
      hasFailed = newValue != nil
    }
  }

  private var storedFailure: Failure?

  /// Read after every value, so this is a bit and not a comparison of the failure.
  private(set) var hasFailed = false
  /// How many containers are open.
  var depth: Int
  /// One more than the greatest symbol that was written.
  var symbolsUsed = 0

  init(limits: ArchiveLimits, symbols: SymbolCollector, depth: Int = 0, capacity: Int = 64) {
    output = ByteBuffer(capacity: capacity)
    self.limits = limits
    shortStringCount = min(ValueTag.shortStrings.count, limits.stringByteCount + 1)
    self.symbols = symbols
    self.depth = depth
  }

  func writeNull() { output.writeByte(ValueTag.null) }

  func write(_ value: some FixedWidthInteger) {
    if value < 0 {
      let magnitude = UInt64(-1 - Int64(truncatingIfNeeded: value))
      if magnitude < UInt64(ValueTag.smallNegatives.count) {
        output.writeByte(ValueTag.smallNegatives.lowerBound + UInt8(magnitude))
      } else {
        output.write(tag: ValueTag.negativeInteger, varint: magnitude)
      }
    } else if value <= ValueTag.smallIntegers.upperBound {
      output.writeByte(UInt8(truncatingIfNeeded: value))
    } else {
      output.write(tag: ValueTag.positiveInteger, varint: UInt64(truncatingIfNeeded: value))
    }
  }

  func write(_ value: String) {
    if let text = ShortText(value), text.byteCount < shortStringCount {
      return output.write(
        ValueTag.shortStrings.lowerBound + UInt8(truncatingIfNeeded: text.byteCount), text)
    }
    writeLonger(value)
  }

  @inline(never)
  private func writeLonger(_ value: String) {
    let byteCount = value.utf8.count
    guard byteCount < shortStringCount else {
      return write(payload: value.utf8.span, tag: ValueTag.string)
    }
    output.write(
      value.utf8,
      behind: Prefix(ValueTag.shortStrings.lowerBound + UInt8(truncatingIfNeeded: byteCount)))
  }

  func write(payload: Span<UInt8>, tag: UInt8) {
    guard payload.count <= limits.stringByteCount else {
      fail(ArchiveError(.limitExceeded, subject: "bytes of a string"))
      return writeNull()
    }
    output.write(payload, behind: Prefix(tag: tag, varint: UInt64(payload.count)))
  }

  func writeReference(to record: UInt64) {
    output.write(tag: ValueTag.recordReference, varint: record)
  }

  /// Writes a string as a symbol, if the archive has room for it.
  func write(name: String) {
    guard name.utf8.count <= limits.keyByteCount else {
      fail(ArchiveError(.limitExceeded, subject: "bytes of a name"))
      return writeNull()
    }
    output.writeByte(ValueTag.name)
    guard let symbol = symbols.enter(name) else { return output.writeKey(inline: name) }
    output.writeKey(symbol: symbol)
    if symbolsUsed <= symbol { symbolsUsed = Int(symbol) + 1 }
  }

  func writePackedIntegers<Integer: FixedWidthInteger & Sendable>(_ values: [Integer]) {
    var low: Int64 = 0
    var high: UInt64 = 0
    for value in values {
      if value < 0 {
        low = min(low, Int64(truncatingIfNeeded: value))
      } else {
        high = max(high, UInt64(truncatingIfNeeded: value))
      }
    }
    let element = PackedElement(holding: low, through: high)
    startPackedArray(element, count: values.count)
    output.writeLowBytes(of: values, count: element.byteCount)
  }

  func startPackedArray(_ element: PackedElement, count: Int) {
    output.write(Prefix(ValueTag.packedArray, element.rawValue))
    output.writeVarint(UInt64(count * element.byteCount))
  }

  /// Begins a container; returns the offset of its first element.
  func openContainer() -> Int {
    depth += 1
    if depth > limits.depth { fail(ArchiveError(.limitExceeded, subject: "depth")) }
    return output.openHeader()
  }

  /// Puts the tag, the count and the length in front of the elements since `start`.
  func closeContainer(_ kind: Container, count: Int, from start: Int) {
    depth -= 1
    if hasFailed { moveFailure(from: start) }
    if count < kind.smallTags.count {
      output.closeHeader(
        tag: kind.smallTags.lowerBound + UInt8(truncatingIfNeeded: count), from: start)
    } else {
      output.closeHeader(tag: kind.largeTag, elementCount: count, from: start)
    }
  }

  /// Notes that the value at the end cannot be written.
  func fail(_ error: ArchiveError) {
    fail(error, at: output.count)
  }

  func fail(_ error: ArchiveError, at place: Int?) {
    if failure == nil { failure = Failure(error: error, place: place) }
  }

  /// A value that could not be written, with the error.
  struct Failure {
    var error: ArchiveError
    /// The offset of the value in the bytes; nil if its record is not open.
    ///
    /// The keys that lead to the value are searched for when they are needed, so values
    /// that can be written need not keep track of their keys.
    var place: Int?
  }

  /// Moves the failure: the elements of a container move when it is closed, but the
  /// container does not.
  @inline(never)
  private func moveFailure(from start: Int) {
    guard let place = failure?.place, place >= start else { return }
    failure?.place = start - ByteBuffer.headerRoom
  }

  enum Container {
    case array, map

    var smallTags: ClosedRange<UInt8> {
      self == .array ? ValueTag.smallArrays : ValueTag.smallMaps
    }

    var largeTag: UInt8 { self == .array ? ValueTag.array : ValueTag.map }
  }
}

@available(*, unavailable, message: "a writer belongs to the code that fills its record")
extension ValueWriter: Sendable {}
