import CatalogModel
import ProductCatalogKit
import XCTest

@MainActor final class EditScreenTests: XCTestCase {
  private let size = Size(columns: 40, rows: 12)

  func testTypingChangesTheActiveFieldOnly() async throws {
    let screen = try Fixture().editScreen()
    press("!", on: screen)
    XCTAssertEqual(screen.words, ProductEdit(title: "Alpha!", description: "First of all."))
    XCTAssertTrue(screen.hasUnsavedChanges)
  }

  func testUndoneChangesAreNotUnsaved() async throws {
    let screen = try Fixture().editScreen()
    press("! backspace", on: screen)
    XCTAssertFalse(screen.hasUnsavedChanges)
  }

  func testTabAndArrowsMoveBetweenFields() async throws {
    let screen = try Fixture().editScreen()
    press("tab", on: screen)
    XCTAssertEqual(screen.activeFieldIndex, 1)
    press("up", on: screen)
    XCTAssertEqual(screen.activeFieldIndex, 0)
    press("enter", on: screen)
    XCTAssertEqual(screen.activeFieldIndex, 1)
    press("shift-tab shift-tab", on: screen)
    XCTAssertEqual(screen.activeFieldIndex, 1)
  }

  func testUpAndDownKeepTheColumn() async throws {
    let screen = try Fixture().editScreen()
    screen.descriptionField.replace(with: "12345678\n12\n12345678", cursor: 6)
    screen.activateField(1)
    press("down", on: screen)
    XCTAssertEqual(screen.descriptionField.buffer.cursor, 11)
    press("down", on: screen)
    XCTAssertEqual(screen.descriptionField.buffer.cursor, 18)
    press("up up", on: screen)
    XCTAssertEqual(screen.descriptionField.buffer.cursor, 6)
  }

  func testHomeAndEndStayOnTheirLine() async throws {
    let screen = try Fixture().editScreen()
    screen.descriptionField.replace(with: "one\ntwo\nthree", cursor: 5)
    screen.activateField(1)
    press("home", on: screen)
    XCTAssertEqual(screen.descriptionField.buffer.cursor, 4)
    press("end", on: screen)
    XCTAssertEqual(screen.descriptionField.buffer.cursor, 7)
  }

  func testEveryCursorOffsetSurvivesDrawingAndEveryMove() async throws {
    let screen = try Fixture().editScreen()
    let text = "Some  words wrap,\n\n日本日本日本日本日本日本日本日本日本日本 averyveryverylongwordthatcannotwrap."
    for offset in 0...text.count {
      for word in ["up", "down", "home", "end", "left", "right", "delete", "backspace"] {
        screen.descriptionField.replace(with: text, cursor: offset)
        screen.activateField(1)
        press(word, on: screen)
        let buffer = screen.descriptionField.buffer
        XCTAssertTrue((0...buffer.characters.count).contains(buffer.cursor))
        var canvas = Canvas(size: Size(columns: 30, rows: 8))
        screen.draw(into: &canvas)
        XCTAssertNotNil(canvas.cursor)
      }
    }
  }

  func testSaveKeepsTheEditAndLeaves() async throws {
    let fixture = try Fixture()
    let screen = try fixture.editScreen()
    press("!", on: screen)
    guard case .pop = screen.handle(.control("s"), size: size) else { return XCTFail("no pop") }
    let product = try fixture.loadCatalog().product(fixture.firstID)
    XCTAssertEqual(product?.title, "Alpha!")
  }

  func testEmptyTitleIsNotSaved() async throws {
    let fixture = try Fixture()
    let screen = try fixture.editScreen()
    screen.titleField.replace(with: " ", cursor: 0)
    guard case .stay = screen.handle(.control("s"), size: size) else { return XCTFail("left") }
    XCTAssertEqual(screen.failure, "A product needs a title.")
    XCTAssertEqual(fixture.catalog.product(fixture.firstID)?.title, "Alpha")
  }

  func testEscapeLeavesAnEditWithoutChanges() async throws {
    let screen = try Fixture().editScreen()
    press("! backspace", on: screen)
    guard case .pop = screen.handle(.escape, size: size) else { return XCTFail("no pop") }
  }

  func testEscapeAsksBeforeChangesAreLost() async throws {
    let screen = try Fixture().editScreen()
    press("! esc", on: screen)
    XCTAssertTrue(screen.isAskingToLeave)
    XCTAssertEqual(screen.words.title, "Alpha!")
  }

  func testOnlyAnAnswerEndsTheQuestion() async throws {
    let screen = try Fixture().editScreen()
    press("! esc y n q enter tab backspace ctrl-a", on: screen)
    XCTAssertTrue(screen.isAskingToLeave)
    XCTAssertEqual(screen.words.title, "Alpha!")
    XCTAssertEqual(screen.activeFieldIndex, 0)
    press("esc ?", on: screen)
    XCTAssertFalse(screen.isAskingToLeave)
    XCTAssertEqual(screen.words.title, "Alpha!?")
  }

  func testTheQuestionIsAnsweredBySavingOrDiscarding() async throws {
    for (answer, title) in [(Key.control("s"), "Alpha!"), (.control("d"), "Alpha")] {
      let fixture = try Fixture()
      let screen = try fixture.editScreen()
      press("! esc", on: screen)
      guard case .pop = screen.handle(answer, size: size) else { return XCTFail("no pop") }
      XCTAssertEqual(try fixture.loadCatalog().product(fixture.firstID)?.title, title)
    }
  }

  func testDiscardingNeedsTheQuestion() async throws {
    let screen = try Fixture().editScreen()
    press("!", on: screen)
    guard case .stay = screen.handle(.control("d"), size: size) else { return XCTFail("left") }
    XCTAssertEqual(screen.words.title, "Alpha!")
  }

  func testAnAnswerThatCannotBeSavedLeadsBackToTheEdit() async throws {
    let screen = try Fixture().editScreen()
    screen.titleField.replace(with: " ", cursor: 0)
    press("esc ctrl-s", on: screen)
    XCTAssertFalse(screen.isAskingToLeave)
    XCTAssertEqual(screen.failure, "A product needs a title.")
  }

  func testNothingIsAskedAboutWordsThatWereSavedElsewhere() async throws {
    let fixture = try Fixture()
    let screen = try fixture.editScreen()
    press("! esc", on: screen)
    try fixture.catalog.save(screen.words, of: fixture.firstID, over: fixture.firstWords)
    XCTAssertFalse(screen.isAskingToLeave)
    press("?", on: screen)
    XCTAssertFalse(screen.isAskingToLeave)
    XCTAssertEqual(screen.words.title, "Alpha!?")
  }

  func testRestoredIndexIsClamped() async throws {
    let screen = try Fixture().editScreen()
    screen.activateField(7)
    XCTAssertEqual(screen.activeFieldIndex, 1)
    screen.activateField(-1)
    XCTAssertEqual(screen.activeFieldIndex, 0)
  }

  private func press(_ names: String, on screen: EditScreen) {
    for name in names.split(separator: " ") {
      guard let key = Key(named: String(name)) else { return XCTFail("\(name) is not a key") }
      _ = screen.handle(key, size: size)
    }
  }
}
