#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Writes values in their one form; handed to ``ArchiveValue`` conformances.
///
/// It is a class so that passing it on costs no exclusivity check: several
/// encoders write into one, in turns.
public final class ValueWriter {
  let output = ByteBuffer()
  let limits: ArchiveLimits
  let symbols: SymbolCollector
  /// The first thing that could not be written; finishing the record throws it.
  var failure: Failure? {
    didSet { hasFailed = failure != nil }
  }

  /// Asked after every value, so it is a bit and not a look at the failure.
  private(set) var hasFailed = false
  /// How many containers are open.
  var depth: Int
  /// One more than the greatest symbol that was written.
  var symbolsUsed = 0

  init(limits: ArchiveLimits, symbols: SymbolCollector, depth: Int = 0) {
    self.limits = limits
    self.symbols = symbols
    self.depth = depth
  }

  func writeNull() { output.writeByte(ValueTag.null) }

  func write(_ value: Bool) {
    output.writeByte(value ? ValueTag.true : ValueTag.false)
  }

  func write(_ value: some FixedWidthInteger) {
    if value < 0 {
      let magnitude = UInt64(-1 - Int64(truncatingIfNeeded: value))
      if magnitude < UInt64(ValueTag.smallNegatives.count) {
        output.writeByte(ValueTag.smallNegatives.lowerBound + UInt8(magnitude))
      } else {
        output.writeByte(ValueTag.negativeInteger)
        output.writeVarint(magnitude)
      }
    } else if value <= ValueTag.smallIntegers.upperBound {
      output.writeByte(UInt8(truncatingIfNeeded: value))
    } else {
      output.writeByte(ValueTag.positiveInteger)
      output.writeVarint(UInt64(truncatingIfNeeded: value))
    }
  }

  func write(_ value: Float) {
    output.writeByte(ValueTag.float)
    output.writeInteger(value.bitPattern)
  }

  func write(_ value: Double) {
    output.writeByte(ValueTag.double)
    output.writeInteger(value.bitPattern)
  }

  func write(_ value: Date) {
    output.writeByte(ValueTag.date)
    output.writeInteger(value.timeIntervalSinceReferenceDate.bitPattern)
  }

  func write(_ value: UUID) {
    output.writeByte(ValueTag.uuid)
    output.write(value.archivedBytes)
  }

  func write(_ value: URL) {
    write(payload: value.absoluteString.utf8, tag: ValueTag.url)
  }

  func write(_ value: String) {
    if value.utf8.count < min(ValueTag.shortStrings.count, limits.stringByteCount + 1) {
      output.writeByte(ValueTag.shortStrings.lowerBound + UInt8(value.utf8.count))
      output.write(value.utf8)
    } else {
      write(payload: value.utf8, tag: ValueTag.string)
    }
  }

  func write(_ value: some Collection<UInt8>) {
    write(payload: value, tag: ValueTag.bytes)
  }

  private func write(payload: some Collection<UInt8>, tag: UInt8) {
    guard payload.count <= limits.stringByteCount else {
      fail(ArchiveError(.limitExceeded, subject: "bytes of a string"))
      return writeNull()
    }
    output.writeByte(tag)
    output.writeVarint(UInt64(payload.count))
    output.write(payload)
  }

  func writeReference(to record: UInt64) {
    output.writeByte(ValueTag.recordReference)
    output.writeVarint(record)
  }

  /// Writes a string as a symbol, if the archive has room for it.
  func write(name: String) {
    guard name.utf8.count <= limits.keyByteCount else {
      fail(ArchiveError(.limitExceeded, subject: "bytes of a name"))
      return writeNull()
    }
    output.writeByte(ValueTag.name)
    writeNameKey(name)
  }

  func writeNameKey(_ name: String) {
    guard let symbol = symbols.internName(name) else { return output.writeKey(inline: name) }
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
    for value in values {
      output.writeLowBytes(of: UInt64(truncatingIfNeeded: value), count: element.byteCount)
    }
  }

  func startPackedArray(_ element: PackedElement, count: Int) {
    output.writeByte(ValueTag.packedArray)
    output.writeByte(element.rawValue)
    output.writeVarint(UInt64(count * element.byteCount))
  }

  /// Begins a container; returns where its first element is.
  func openContainer() -> Int {
    depth += 1
    if depth > limits.depth { fail(ArchiveError(.limitExceeded, subject: "depth")) }
    return output.openHeader()
  }

  /// Puts the tag, the count and the length before the elements since `start`.
  func closeContainer(_ kind: Container, count: Int, from start: Int) {
    depth -= 1
    let end = output.count
    if hasFailed { moveFailure(from: start) }
    if count < kind.smallTags.count {
      output.writeByte(kind.smallTags.lowerBound + UInt8(count))
    } else {
      output.writeByte(kind.largeTag)
      output.writeVarint(UInt64(count))
    }
    output.writeVarint(UInt64(end - start))
    output.closeHeader(from: end, before: start)
  }

  /// Notes what cannot be written here.
  func fail(_ error: ArchiveError) {
    fail(error, at: output.count)
  }

  func fail(_ error: ArchiveError, at place: Int?) {
    if failure == nil { failure = Failure(error: error, place: place) }
  }

  /// What could not be written.
  struct Failure {
    var error: ArchiveError
    /// Where it would be in the bytes; nil if it is of no record that is open.
    ///
    /// The keys that lead to it are looked for when they are needed, so that
    /// values that can be written need not say what key they have.
    var place: Int?
  }

  /// The elements of a container move when it is closed, but it stays itself.
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
