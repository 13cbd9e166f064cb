import ProductCatalogKit
import XCTest

final class TextBufferTests: XCTestCase {
  func testInsertsAtTheCursor() {
    var buffer = TextBuffer("held", cursor: 3)
    buffer.insert("lo wor")
    XCTAssertEqual(buffer, TextBuffer("hello word", cursor: 9))
  }

  func testCombiningMarkJoinsTheCharacterBefore() {
    var buffer = TextBuffer("e", cursor: 1)
    buffer.insert("\u{301}")
    XCTAssertEqual(buffer.text, "e\u{301}")
    XCTAssertEqual(buffer.cursor, 1)
    buffer.deleteBackward()
    XCTAssertEqual(buffer, TextBuffer(""))
  }

  func testDeletesWholeCharacters() {
    var buffer = TextBuffer("a👩‍🚀日", cursor: 2)
    buffer.deleteBackward()
    XCTAssertEqual(buffer, TextBuffer("a日", cursor: 1))
    buffer.deleteForward()
    XCTAssertEqual(buffer, TextBuffer("a", cursor: 1))
  }

  func testDeletingPastTheEndsChangesNothing() {
    var buffer = TextBuffer("ab", cursor: 0)
    buffer.deleteBackward()
    XCTAssertEqual(buffer, TextBuffer("ab", cursor: 0))
    buffer.moveCursor(to: 2)
    buffer.deleteForward()
    XCTAssertEqual(buffer, TextBuffer("ab", cursor: 2))
  }

  func testCursorIsMovedIntoTheText() {
    XCTAssertEqual(TextBuffer("abc", cursor: 99).cursor, 3)
    XCTAssertEqual(TextBuffer("abc", cursor: -5).cursor, 0)
    XCTAssertEqual(TextBuffer("abc").cursor, 3)
  }

  func testWidthsOfCharacters() {
    let widths: [(Character, Int)] = [
      ("a", 1), ("é", 1), ("e\u{301}", 1), ("─", 1), ("ﾊ", 1), ("日", 2), ("😀", 2), ("👩‍🚀", 2),
      ("한", 2),
    ]
    for (character, columns) in widths {
      XCTAssertEqual(character.columns, columns, "\(character)")
    }
  }
}
