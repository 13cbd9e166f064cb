import ArchiveCodec
import TestSupport
import XCTest

final class FingerprintTests: XCTestCase {
  private let modulus: UInt64 = 1 << 61 - 1

  private func fingerprint(_ bytes: [UInt8]) -> RecordFingerprint { RecordFingerprint(bytes.span) }

  func testEveryBitCounts() {
    for count in 0...64 {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37) }
      let whole = fingerprint(bytes)
      for bit in 0..<count * 8 {
        var other = bytes
        other[bit / 8] ^= 1 << (bit % 8)
        XCTAssertNotEqual(fingerprint(other), whole, "bit \(bit) of \(count) bytes")
      }
    }
  }

  func testEveryCountOfZeroesHasItsOwn() {
    let all = (0...256).map { fingerprint(Array(repeating: 0, count: $0)) }
    XCTAssertEqual(Set(all + [.none, .unknown]).count, all.count + 2)
  }

  func testEqualBytesHaveEqualOnes() {
    let bytes = (0..<200).map { UInt8($0) }
    XCTAssertEqual(fingerprint(bytes), fingerprint(Array(bytes)))
  }

  func testItIsThePolynomialOfItsBytesAndTheirCount() {
    var random = SeededGenerator()
    let places =
      [1, 2, modulus - 1, modulus / 2]
      + (0..<20).map { _ in
        UInt64.random(in: 1..<modulus, using: &random)
      }
    for count in 0...80 {
      let contents = [
        Array(repeating: UInt8.max, count: count), Array(repeating: 0, count: count),
        (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) },
      ]
      for bytes in contents {
        for place in places {
          let powers = RecordFingerprint.powers(of: place)
          XCTAssertEqual(
            RecordFingerprint(bytes.span, at: powers).value, polynomial(of: bytes, at: place),
            "\(count) bytes at \(place), TEST_SEED=\(random.seed)")
        }
      }
    }
  }

  /// The same by long division.
  private func polynomial(of bytes: [UInt8], at place: UInt64) -> UInt64 {
    var coefficients: [UInt64] = []
    var rest = bytes[...]
    while rest.count >= 8 {
      coefficients.append(number(rest.prefix(7)))
      rest = rest.dropFirst(7)
    }
    coefficients += [number(rest), UInt64(bytes.count)]
    return coefficients.reduce(0) { value, coefficient in
      modulus.dividingFullWidth((value + coefficient).multipliedFullWidth(by: place)).remainder
    } + 2
  }

  private func number(_ bytes: some BidirectionalCollection<UInt8>) -> UInt64 {
    bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }
}
