import ProductCatalogKit
import XCTest

final class ScriptTests: XCTestCase {
  func testReadsEveryKindOfWord() throws {
    let script = try Script(
      """
      down enter shift-tab e ctrl-s  # a comment: "with a quote
      text:"é \\"q\\"" wait:200ms wait:2s screen resize:100x30 up*2
      """)
    XCTAssertEqual(
      script.steps,
      [
        .key(.down), .key(.enter), .key(.backTab), .key(.text("e")), .key(.control("s")),
        .paste([.text("é"), .text(" "), .text("\""), .text("q"), .text("\"")]),
        .wait(.milliseconds(200)), .wait(.seconds(2)), .snapshot,
        .resize(Size(columns: 100, rows: 30)), .key(.up), .key(.up),
      ])
  }

  func testLineBreaksAndTabsInTextAreKeys() throws {
    XCTAssertEqual(
      try Script(#"text:"a\n\t\\" text:b"#).steps,
      [.paste([.text("a"), .enter, .tab, .text("\\")]), .paste([.text("b")])])
  }

  func testEmptyScriptHasNoSteps() throws {
    XCTAssertEqual(try Script(" \n# nothing\n").steps, [])
  }

  func testMistakesAreReportedWithTheirLine() {
    let mistakes: [(String, ScriptError)] = [
      ("down\nsideways", ScriptError(line: 2, problem: .unknownWord("sideways"))),
      ("wait:soon", ScriptError(line: 1, problem: .unknownWord("wait:soon"))),
      ("wait:9999999999s", ScriptError(line: 1, problem: .unknownWord("wait:9999999999s"))),
      ("resize:0x5", ScriptError(line: 1, problem: .unknownWord("resize:0x5"))),
      ("up*0", ScriptError(line: 1, problem: .unknownWord("up*0"))),
      ("\n\ntext:\"abc", ScriptError(line: 3, problem: .unclosedQuote)),
      (#"text:"\q""#, ScriptError(line: 1, problem: .unknownEscape)),
    ]
    for (text, expected) in mistakes {
      XCTAssertThrowsError(try Script(text)) { XCTAssertEqual($0 as? ScriptError, expected) }
    }
  }

  func testErrorSaysWhatIsWrong() {
    XCTAssertEqual(
      ScriptError(line: 2, problem: .unknownWord("sideways")).description,
      "Line 2 of the script: there is no key or command named “sideways”.")
  }
}
