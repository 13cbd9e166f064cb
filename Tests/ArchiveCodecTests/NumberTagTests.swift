import ArchiveCodec
import XCTest

/// Tags that only who has a key can make.
final class NumberTagTests: XCTestCase {
  /// From the reference implementation of SipHash-2-4: of the bytes 0, 1, 2 and 3.
  func testItIsTheBeginningOfASipHash() throws {
    let tag = try XCTUnwrap(NumberTag(key: Array(0..<16)))
    XCTAssertEqual(tag.tag(of: "\u{0}\u{1}\u{2}\u{3}"), 0x2771_87b7)
  }

  func testNewKeysDifferAndMakeTheSameTagsAgain() throws {
    let (one, other) = (NumberTag(), NumberTag())
    XCTAssertNotEqual(one.key, other.key)
    XCTAssertEqual(NumberTag(key: one.key)?.tag(of: "7"), one.tag(of: "7"))
    let texts = (0..<8).map(String.init)
    XCTAssertNotEqual(texts.map(one.tag), texts.map(other.tag))
  }

  func testOtherBytesAreNoKey() {
    for count in [0, 15, 17, 32] {
      XCTAssertNil(NumberTag(key: Array(repeating: 0, count: count)))
    }
  }
}
