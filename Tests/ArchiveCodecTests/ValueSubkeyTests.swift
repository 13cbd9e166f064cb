import ArchiveCodec
import XCTest

final class ValueSubkeyTests: XCTestCase {
  private let context = ArchiveContext(["app", "state"])

  func testASealedValueOpensWithItsSubkeyAlone() throws {
    let (subkey, other) = (try ValueSubkey(), try ValueSubkey())
    for count in [0, 1, 31, 32, 1000] {
      let value = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
      let sealed = try subkey.seal(value)
      XCTAssertEqual(sealed.count, count + 40)
      XCTAssertEqual(try subkey.open(sealed), value)
      XCTAssertNil(try other.open(sealed))
    }
  }

  func testEqualValuesOfOneSubkeyHaveEqualBytesAndNoOthers() throws {
    let (subkey, other) = (try ValueSubkey(), try ValueSubkey())
    XCTAssertEqual(try subkey.seal([1, 2, 3]), try subkey.seal([1, 2, 3]))
    XCTAssertNotEqual(try subkey.seal([1, 2, 3]), try other.seal([1, 2, 3]))
    let (first, second) = (try subkey.seal([1, 2, 3]), try subkey.seal([1, 2, 4]))
    XCTAssertNotEqual(first.prefix(24), second.prefix(24), "one nonce is for one value")
  }

  func testNoChangedBitAndNoTruncationOpens() throws {
    let subkey = try ValueSubkey()
    let sealed = try subkey.seal(Array("a secret".utf8))
    for bit in 0..<sealed.count * 8 {
      var changed = sealed
      changed[bit / 8] ^= 1 << UInt8(bit % 8)
      XCTAssertNil(try subkey.open(changed), "bit \(bit)")
    }
    for count in 0..<sealed.count {
      XCTAssertNil(try subkey.open(Array(sealed.prefix(count))), "\(count) bytes")
    }
  }

  func testAWrappedSubkeyOpensWhatTheSubkeySealed() throws {
    let (subkey, key) = (try ValueSubkey(), try ArchiveKey())
    let wrapped = try subkey.wrapped(with: key, context: context)
    XCTAssertEqual(wrapped, try subkey.wrapped(with: key, context: context))
    let again = try ValueSubkey(unwrapping: wrapped, with: key, context: context)
    XCTAssertEqual(try again.open(try subkey.seal([1, 2])), [1, 2])
    XCTAssertEqual(try again.seal([3]), try subkey.seal([3]))
  }

  func testAWrappedSubkeyIsForOneKeyAndOneContext() throws {
    let (subkey, key) = (try ValueSubkey(), try ArchiveKey())
    let wrapped = try subkey.wrapped(with: key, context: context)
    func assertDamaged(_ bytes: [UInt8], _ key: ArchiveKey, _ context: ArchiveContext) {
      XCTAssertThrowsError(try ValueSubkey(unwrapping: bytes, with: key, context: context)) {
        XCTAssertEqual(($0 as? ArchiveError)?.code, .damaged)
      }
    }
    assertDamaged(wrapped, try ArchiveKey(), context)
    assertDamaged(wrapped, key, ArchiveContext(["app", "other"]))
    for count in [0, 40, 71, 73] {
      assertDamaged(Array((wrapped + wrapped).prefix(count)), key, context)
    }
    for byte in wrapped.indices {
      var changed = wrapped
      changed[byte] ^= 1
      assertDamaged(changed, key, context)
    }
  }
}
