import Foundation
import TestSupport
import XCTest

/// Each mistake of a newcomer is a small program, and the whole line that says so is expected.
final class MistakeTests: XCTestCase {
  // MARK: Values

  func testMistakesWithValuesAreSaid() throws {
    let expected = [
      "twoTypes":
        "The value of “count” is not of the type that was asked for, so its default was used: Int is"
        + " stored, String was asked for. Give each type a key of its own.",
      "neverBegun":
        "The value “count” was set, and Restoration.begin was never called, so nothing is stored. Call"
        + " it at the start of the app.",
      "thrownError": "The value of “draft” cannot be encoded, so the stored one stays: Failure",
    ]
    for (mistake, line) in expected {
      XCTAssertEqual(try LaunchedApp.run(mistake, in: TemporaryDirectory()).lines, [line], mistake)
    }
  }

  func testAValueThatIsSetBeforeBeginIsSaidOnceOneIsStored() throws {
    let home = try TemporaryDirectory()
    XCTAssertEqual(try LaunchedApp.run("count", in: home).output, ["1"])
    let (output, lines) = try LaunchedApp.run("setBeforeBegin", in: home)
    XCTAssertEqual(output, ["1"])
    XCTAssertEqual(
      lines,
      [
        "The value “count” was used before the restore. Call Restoration.begin before anything reads or"
          + " sets it."
      ])
  }

  func testAValueWithoutAKeyIsSaidWithThePlaceOfItsDeclaration() throws {
    for mistake in ["keylessStruct", "keylessClass"] {
      let (output, lines) = try LaunchedApp.run(mistake, in: TemporaryDirectory())
      let place = try XCTUnwrap(output.first)
      XCTAssertTrue(place.hasPrefix("LaunchedApps/ValueMistakes.swift:"), place)
      XCTAssertEqual(
        lines,
        [
          "The value that is declared at \(place) has no key, so it is not stored. Give it one, or make"
            + " it a field of a class that conforms to RestorableScreen."
        ])
    }
  }

  func testATextThatIsTooLongIsSaidAndCostsNoOtherValue() throws {
    let home = try TemporaryDirectory()
    let (output, lines) = try LaunchedApp.run("hugeText", in: home)
    XCTAssertEqual(output, ["1", "false"])
    let problem = "The value of “text” cannot be encoded, so the stored one stays:"
    XCTAssertEqual(
      lines,
      [
        problem
          + " A String cannot be encoded at value. A limit was exceeded. Store less in one piece, or"
          + " raise the limit. (limitExceeded: bytes of a string)"
      ])
    XCTAssertEqual(try LaunchedApp.run("count", in: home).output, ["2"])
  }

  func testAMistakeCostsNoOtherValue() throws {
    let home = try TemporaryDirectory()
    for count in ["1", "2"] {
      let (output, lines) = try LaunchedApp.run("besideMistakes", in: home)
      XCTAssertEqual(output, [count])
      XCTAssertEqual(
        lines.map { $0.prefix(36) },
        [
          "The value that is declared at Launch", "The value of “number” is not of the ",
        ])
    }
  }

  func testAValueOfARemovedCaseIsSaidAndStays() throws {
    let home = try TemporaryDirectory()
    XCTAssertEqual(try LaunchedApp.run("newCases", in: home).lines, [])
    let (output, lines) = try LaunchedApp.run("oldCases", in: home)
    XCTAssertEqual(output, ["plain"])
    XCTAssertEqual(
      lines,
      [
        "The value of “mode” is not of the type that was asked for, so its default was used: The value"
          + " at value cannot be decoded."
      ])
    XCTAssertEqual(try LaunchedApp.run("newCases", in: home).output, ["fancy"])
  }

  /// A typo of a key is for the command: another module may read the old key.
  func testWhatIsNoMistakeIsSilent() throws {
    let outputs: [String: [String]?] = [
      "cuont": ["1"], "begunTwice": nil, "inAnActor": ["1"], "inAnExtension": ["1"],
      "local": ["1"], "updatesAtOnce": [], "manyNumbers": ["0"], "oddNames": nil,
      "notANumber": ["1.0"], "namelessChild": [], "exits": ["1"],
      "returns": ["1"],
      "busyShortly": ["1"],
    ]
    let second = [
      "inAnActor": "2", "inAnExtension": "2", "local": "2", "manyNumbers": "2000000",
      "notANumber": "nan", "exits": "2", "returns": "2", "busyShortly": "2",
    ]
    for (mistake, output) in outputs {
      let home = try TemporaryDirectory()
      let first = try LaunchedApp.run(mistake, in: home)
      XCTAssertEqual(first.lines, [], mistake)
      if let output { XCTAssertEqual(first.output, output, mistake) }
      guard let expected = second[mistake] else { continue }
      let again = try LaunchedApp.run(mistake, in: home)
      XCTAssertEqual(again.lines, [], mistake)
      XCTAssertEqual(again.output, [expected], mistake)
    }
    XCTAssertEqual(
      try LaunchedApp.run("begunTwice", in: TemporaryDirectory()).output,
      ["Restoration.begin was called before. Call it once, at the start of the app."])
    XCTAssertEqual(
      try LaunchedApp.run("oddNames", in: TemporaryDirectory()).output,
      ["../evil", ""].map { name in
        "“\(name)” cannot name a state. Use up to 150 bytes without “/”, not beginning with “.”."
      })
  }

  // MARK: Screens

  private let forgotten =
    "A field of a NoteScreen was set, and no root leads to it, so it is not stored. Return it from"
    + " the roots of Restoration.begin, or contain it in a screen that is returned there."

  func testMistakesWithScreensAreSaid() throws {
    let expected = [
      "equalChildren":
        "“WindowScreen/NoteScreen” (NoteScreen): left out, another one has this path; give each of the"
        + " two an identifier of its own",
      "equalRoots":
        "“NoteScreen” (NoteScreen): left out, another one has this path; give each of the two an"
        + " identifier of its own",
      "forgottenRoot": forgotten,
      "namelessRoot":
        "“∅” (NamelessNode): It is a root without restoration identifier, so it is not saved. Give"
        + " it one, or an empty one.",
      // Only a test asks all objects, so no save finds the child.
      "unannouncedChild": forgotten,
    ]
    for (mistake, line) in expected {
      XCTAssertEqual(try LaunchedApp.run(mistake, in: TemporaryDirectory()).lines, [line], mistake)
    }
  }

  // MARK: Ends

  func testValuesThatAreSetAfterTheEndAreSaid() throws {
    XCTAssertEqual(
      try LaunchedApp.run("setAfterEnd", in: TemporaryDirectory()).lines,
      ["count", "draft"].map { key in
        "The value “\(key)” was set after the end of Restoration, so it is not stored. Set it before."
      })
  }

  /// What is lost is what comes in the last quarter of a second; nobody is left to say so.
  func testAnAppThatDiesSaysNothingAndStartsAgain() throws {
    for mistake in ["throws", "dies", "traps"] {
      let home = try TemporaryDirectory()
      let variables = ["SWIFT_BACKTRACE": "enable=no"]
      XCTAssertEqual(
        try LaunchedApp.run(mistake, in: home, ending: nil, variables: variables).lines, [], mistake
      )
      XCTAssertEqual(try LaunchedApp.run("count", in: home).lines, [], mistake)
    }
  }
}
