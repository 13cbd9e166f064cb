/// A number that shows whether a record has changed since the number was kept.
///
/// The fingerprint is the value of a polynomial modulo 2^61 − 1 whose coefficients are
/// the bytes, seven at a time, and their count, at a place that is drawn anew in each
/// process. Two records of *n* bytes that differ have the same fingerprint for at most
/// *n* / 7 + 1 of the 2^61 − 2 places, and nobody who chooses values knows the place:
/// for 200 bytes that is less than one chance in 2^55. A hash that keeps its key secret
/// even if its values are seen took a seventh of the instructions of a save (benchmark:
/// save nodes); fingerprints are never shown.
package struct RecordFingerprint: Hashable, Sendable {
  package let value: UInt64

  /// The fingerprint of nothing.
  package static let none = RecordFingerprint(value: 0)
  /// The fingerprint of a record that was not read; it equals that of no record.
  package static let unknown = RecordFingerprint(value: 1)

  private init(value: UInt64) {
    self.value = value
  }

  /// - Complexity: O(*n*) in the number of bytes.
  package init(_ bytes: Span<UInt8>) {
    self.init(bytes, at: Self.place)
  }

  /// The value of the polynomial at a place, which is at least 1 and less than 2^61 − 1.
  package init(_ bytes: Span<UInt8>, at place: UInt64) {
    let raw = unsafe bytes.bytes
    let count = raw.byteCount
    var value: UInt64 = 0
    var next = 0
    while next <= count - 8 {
      let word = unsafe UInt64(
        littleEndian: raw.unsafeLoadUnaligned(fromUncheckedByteOffset: next, as: UInt64.self))
      value = Self.product(value + (word & (1 << 56 - 1)), place)
      next += 7
    }
    var rest: UInt64 = 0
    for number in next..<count {
      rest |= UInt64(bytes[number]) << UInt64(8 * (number - next))
    }
    value = Self.product(value + rest, place)
    value = Self.product(value + UInt64(count), place)
    self.value = value % Self.modulus + 2
  }

  private static let modulus: UInt64 = 1 << 61 - 1
  private static let place = UInt64.random(in: 1..<modulus)

  /// The product modulo 2^61 − 1, plus at most a few times the modulus.
  ///
  /// - Parameters:
  ///   - value: Less than 2^62.
  ///   - place: Less than the modulus.
  /// - Returns: At most 2^61 + 2, so that a coefficient can be added.
  @inline(__always)
  private static func product(_ value: UInt64, _ place: UInt64) -> UInt64 {
    let (high, low) = value.multipliedFullWidth(by: place)
    let sum = (low & modulus) + (high << 3 | low >> 61)
    return (sum & modulus) + sum >> 61
  }
}
