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

  /// Four coefficients are taken at a time, since their products do not wait for each other: that takes
  /// 44 ns instead of 72 for 184 bytes.
  ///
  /// - Parameters:
  ///   - bytes: The bytes of a record.
  ///   - powers: The first four powers of the place, as ``powers(of:)`` gives them.
  /// - Complexity: O(*n*) in the number of bytes.
  package init(_ bytes: Span<UInt8>, at powers: InlineArray<4, UInt64> = Self.powers) {
    let raw = unsafe bytes.bytes
    let count = raw.byteCount
    func coefficient(_ start: Int) -> UInt64 {
      let word = unsafe raw.unsafeLoadUnaligned(fromUncheckedByteOffset: start, as: UInt64.self)
      return UInt64(littleEndian: word) & (1 << 56 - 1)
    }
    var value: UInt64 = 0
    var next = 0
    while next <= count - 29 {
      var sum = Self.product(value + coefficient(next), powers[3])
      for place in 1..<4 { sum += Self.product(coefficient(next + 7 * place), powers[3 - place]) }
      value = Self.folded(sum)
      next += 28
    }
    while next <= count - 8 {
      value = Self.product(value + coefficient(next), powers[0])
      next += 7
    }
    var rest: UInt64 = 0
    for number in next..<count { rest |= UInt64(bytes[number]) << UInt64(8 * (number - next)) }
    value = Self.product(value + rest, powers[0])
    value = Self.product(value + UInt64(count), powers[0])
    self.value = value % Self.modulus + 2
  }

  /// The powers of a place, which is at least 1 and less than 2^61 − 1.
  package static func powers(of place: UInt64) -> InlineArray<4, UInt64> {
    InlineArray(first: place) { product($0, place) % modulus }
  }

  private static let modulus: UInt64 = 1 << 61 - 1
  package static let powers = powers(of: UInt64.random(in: 1..<modulus))

  /// The product modulo 2^61 − 1, plus at most a few times the modulus.
  ///
  /// - Parameters:
  ///   - value: Less than 2^62.
  ///   - place: Less than the modulus.
  /// - Returns: At most 2^61 + 2, so that a coefficient can be added.
  @inline(__always)
  private static func product(_ value: UInt64, _ place: UInt64) -> UInt64 {
    let (high, low) = value.multipliedFullWidth(by: place)
    return folded((low & modulus) + (high << 3 | low >> 61))
  }

  /// The same number modulo 2^61 − 1, at most 2^61 + 7.
  @inline(__always)
  private static func folded(_ value: UInt64) -> UInt64 { (value & modulus) + value >> 61 }
}
