import CatalogModel
import RestorationDrafts
import XCTest

final class WordsEditTests: XCTestCase {
  private let base = ProductEdit(title: "Base", description: "Base text.")
  private let theirs = ProductEdit(title: "Theirs", description: "Their text.")
  private let later = ProductEdit(title: "Later", description: "Later text.")

  private var typed: WordsEdit {
    var edit = WordsEdit(of: base)
    edit.words = ProductEdit(title: "Mine", description: "My text.")
    return edit
  }

  func testNothingIsToBeDecidedWhileTheProductHasTheWordsOfTheBase() {
    var edit = typed
    edit.look(at: base)
    XCTAssertNil(edit.theirs)
    XCTAssertEqual(edit, typed)
    XCTAssertEqual(edit.state(given: base), .clean)
    XCTAssertTrue(edit.isUnsaved(given: base))
  }

  func testOtherWordsAreToBeDecidedAboutUntilTheyAreTakenBack() {
    var edit = typed
    edit.look(at: theirs)
    XCTAssertEqual(edit.theirs, theirs)
    XCTAssertEqual(edit.words, typed.words)
    XCTAssertEqual(edit.state(given: theirs), .conflict)
    edit.look(at: later)
    XCTAssertEqual(edit.theirs, later)
    edit.look(at: base)
    XCTAssertEqual(edit, typed)
  }

  func testAnEditInWhichNothingIsTypedShowsTheWordsOfOthers() {
    var edit = WordsEdit(of: base)
    edit.look(at: theirs)
    XCTAssertEqual(edit, WordsEdit(of: theirs))
  }

  func testWordsThatAreSavedAreTheBaseOfWhatFollows() {
    var edit = typed
    edit.look(at: typed.words)
    XCTAssertEqual(edit, WordsEdit(of: typed.words))
    XCTAssertFalse(edit.isUnsaved(given: typed.words))
  }

  func testWithoutTheProductTheWordsStay() {
    var edit = typed
    edit.look(at: nil)
    XCTAssertEqual(edit, typed)
    XCTAssertEqual(edit.state(given: nil), .orphaned)
    XCTAssertTrue(edit.isUnsaved(given: nil))
  }

  func testWhatWasChosenIsMadeFromTheWordsThatWereSeen() {
    for choice in WordsEdit.Choice.allCases {
      var edit = typed
      edit.look(at: theirs)
      edit.choose(choice)
      XCTAssertNil(edit.theirs)
      XCTAssertEqual(edit.draft.base, theirs)
      XCTAssertEqual(edit.state(given: theirs), .clean)
      XCTAssertEqual(edit.state(given: later), .conflict)
      XCTAssertEqual(edit.isUnsaved(given: theirs), choice != .theirs)
    }
  }

  func testTheChoices() {
    let words = WordsEdit.Choice.allCases.map { choice in
      var edit = typed
      edit.look(at: theirs)
      edit.choose(choice)
      return edit.words
    }
    XCTAssertEqual(
      words,
      [
        typed.words, theirs,
        ProductEdit(title: "Mine / Theirs", description: "My text.\n\nTheir text."),
      ])
  }

  func testAFieldThatOnlyOneHasChangedIsNotThereTwice() {
    var edit = WordsEdit(of: base)
    edit.words.title = "Mine"
    edit.look(at: ProductEdit(title: base.title, description: "Their text."))
    edit.choose(.both)
    XCTAssertEqual(edit.words, ProductEdit(title: "Mine", description: "Their text."))
  }

  func testWithoutAQuestionNothingIsChosen() {
    for choice in WordsEdit.Choice.allCases {
      var edit = typed
      edit.choose(choice)
      XCTAssertEqual(edit, typed)
    }
  }

  /// A base is not stored if it is too large; then nobody can tell whether words are others.
  func testAnEditWithoutABaseAsks() {
    let large = ProductEdit(
      title: "", description: String(repeating: "x", count: Draft<ProductEdit>.largestBase))
    var edit = WordsEdit(of: large)
    XCTAssertNil(edit.draft.base)
    edit.words.title = "Mine"
    edit.look(at: large)
    XCTAssertEqual(edit.theirs, large)
  }
}
