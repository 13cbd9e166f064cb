import ProductCatalogKit
import XCTest

final class KeyDecoderTests: XCTestCase {
  private static let everything =
    "a\u{1B}[A\u{1B}OB\u{1B}[3~é日\u{1B}[Z\r\t\u{7F}\u{13}😀\u{1B}[1;5C"
  private static let everythingDecoded: [Key] = [
    .text("a"), .up, .down, .delete, .text("é"), .text("日"), .backTab, .enter, .tab, .backspace,
    .control("s"), .text("😀"), .right,
  ]

  private func keys(_ text: String) -> [Key] {
    var decoder = KeyDecoder()
    return decoder.decode(Array(text.utf8)) + decoder.finish()
  }

  func testDecodesEveryNavigationKey() {
    let expected: [(String, Key)] = [
      ("\u{1B}[A", .up), ("\u{1B}[B", .down), ("\u{1B}[C", .right), ("\u{1B}[D", .left),
      ("\u{1B}[H", .home), ("\u{1B}[F", .end), ("\u{1B}[1~", .home), ("\u{1B}[4~", .end),
      ("\u{1B}[7~", .home), ("\u{1B}[8~", .end), ("\u{1B}[5~", .pageUp), ("\u{1B}[6~", .pageDown),
      ("\u{1B}[3~", .delete), ("\u{1B}[Z", .backTab), ("\u{1B}OA", .up), ("\u{1B}OF", .end),
      ("\u{1B}OH", .home), ("\u{8}", .backspace), ("\n", .enter),
    ]
    for (bytes, key) in expected { XCTAssertEqual(keys(bytes), [key], bytes.debugDescription) }
  }

  func testDecodesTheSameKeysHoweverTheBytesAreCut() {
    let bytes = Array(Self.everything.utf8)
    for cut in 0...bytes.count {
      var decoder = KeyDecoder()
      let decoded = decoder.decode(bytes[..<cut]) + decoder.decode(bytes[cut...])
      XCTAssertEqual(decoded, Self.everythingDecoded, "cut at \(cut)")
      XCTAssertFalse(decoder.isMidSequence)
    }
  }

  func testDecodesBytesOneAtATime() {
    var decoder = KeyDecoder()
    let decoded = Self.everything.utf8.flatMap { decoder.decode([$0]) }
    XCTAssertEqual(decoded, Self.everythingDecoded)
  }

  func testLoneEscapeWaitsUntilNothingFollows() {
    var decoder = KeyDecoder()
    XCTAssertEqual(decoder.decode([0x1B]), [])
    XCTAssertTrue(decoder.isMidSequence)
    XCTAssertEqual(decoder.finish(), [.escape])
    XCTAssertFalse(decoder.isMidSequence)
  }

  func testEscapeBeforeACharacterIsBoth() {
    XCTAssertEqual(keys("\u{1B}q"), [.escape, .text("q")])
    XCTAssertEqual(keys("\u{1B}\u{1B}"), [.escape, .escape])
  }

  func testUnknownSequencesAreSkippedWhole() {
    XCTAssertEqual(keys("\u{1B}[15~x"), [.text("x")])
    XCTAssertEqual(keys("\u{1B}[?1;2cx"), [.text("x")])
  }

  func testInvalidBytesBecomeReplacementCharacters() {
    var decoder = KeyDecoder()
    XCTAssertEqual(decoder.decode([0xFF, 0x61]), [.text("\u{FFFD}"), .text("a")])
    XCTAssertEqual(decoder.decode([0xC3, 0x61]), [.text("\u{FFFD}"), .text("a")])
    XCTAssertEqual(decoder.decode([0xED, 0xA0, 0x80]).count, 3)
  }

  func testEveryPairOfBytesIsDecodedWithoutHangingOn() {
    for first in UInt8.min...UInt8.max {
      for second in UInt8.min...UInt8.max {
        var decoder = KeyDecoder()
        _ = decoder.decode([first, second])
        _ = decoder.finish()
        XCTAssertFalse(decoder.isMidSequence, "\(first) \(second)")
      }
    }
  }
}
