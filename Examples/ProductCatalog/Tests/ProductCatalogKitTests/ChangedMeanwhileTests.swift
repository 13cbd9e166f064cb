import CatalogModel
import Foundation
import ProductCatalogKit
import RestorationKit
import XCTest

/// An edit of a product that others save meanwhile.
@MainActor final class ChangedMeanwhileTests: XCTestCase {
  private let size = Size(columns: 60, rows: 12)
  private let theirs = ProductEdit(title: "Their title", description: "Their words.")
  private let later = ProductEdit(title: "Later title", description: "Later words.")

  /// An edit screen, drawn after the words of others were saved.
  private func askedScreen(_ fixture: Fixture, typed: String = "!") throws -> EditScreen {
    let screen = try fixture.editScreen()
    _ = screen.handle(.text(typed), size: size)
    try fixture.saveElsewhere(theirs)
    show(screen)
    return screen
  }

  @discardableResult
  private func show(_ screen: EditScreen, _ size: Size? = nil) -> String {
    screen.refresh()
    var canvas = Canvas(size: size ?? self.size)
    screen.draw(into: &canvas)
    return canvas.plainText
  }

  private func leaves(_ screen: EditScreen, on letter: Character) -> Bool {
    if case .pop = screen.handle(.control(letter), size: size) { true } else { false }
  }

  private func stored(_ fixture: Fixture) throws -> ProductEdit? {
    try fixture.loadCatalog().product(fixture.firstID)?.words
  }

  // MARK: The question

  func testBothTextsAndTheAnswersAreShown() async throws {
    let fixture = try Fixture()
    let screen = try askedScreen(fixture)
    let shown = show(screen)
    for text in [
      "Alpha!", "First of all.", "Changed meanwhile. Others have saved:", "Their title",
      "Their words.", "Ctrl-K saves mine, Ctrl-T takes theirs, Ctrl-B edits both.",
    ] {
      XCTAssertTrue(shown.contains(text), "\(text)\n\(shown)")
    }
    XCTAssertEqual(screen.note.map { "\($0)".contains("changed meanwhile") }, true)
  }

  func testTheWordsCanBeEditedAllTheTime() async throws {
    let fixture = try Fixture()
    let screen = try askedScreen(fixture)
    for key in [Key.text("?"), .tab, .text("x"), .enter, .backspace, .up] {
      _ = screen.handle(key, size: size)
    }
    XCTAssertEqual(screen.words, ProductEdit(title: "Alpha!?", description: "First of all.x"))
    XCTAssertEqual(screen.edit.theirs, theirs)
  }

  func testNoLetterAndNoUsualKeyAnswers() async throws {
    let fixture = try Fixture()
    let screen = try askedScreen(fixture)
    for letter in "abcdefghijklmnopqrstuvwxyz" {
      _ = screen.handle(.text(String(letter)), size: size)
      if !"bkt".contains(letter) { _ = screen.handle(.control(letter), size: size) }
    }
    XCTAssertEqual(screen.edit.theirs, theirs)
    XCTAssertEqual(try stored(fixture), theirs)
    XCTAssertEqual(screen.words.title, "Alpha!abcdefghijklmnopqrstuvwxyz")
  }

  func testASaveMeetsWordsOfOthersThatTheScreenHasNotShownYet() async throws {
    let fixture = try Fixture()
    let screen = try fixture.editScreen()
    _ = screen.handle(.text("!"), size: size)
    try fixture.saveElsewhere(theirs)
    XCTAssertFalse(leaves(screen, on: "s"))
    XCTAssertEqual(try stored(fixture), theirs)
    XCTAssertEqual(screen.edit.theirs, theirs)
    XCTAssertNil(screen.failure)
    // Keys that come at once are no answer to what nobody has seen.
    for letter: Character in "sktb" { XCTAssertFalse(leaves(screen, on: letter)) }
    XCTAssertEqual(try stored(fixture), theirs)
    XCTAssertEqual(screen.words.title, "Alpha!")
    show(screen)
    XCTAssertTrue(leaves(screen, on: "k"))
    XCTAssertEqual(try stored(fixture)?.title, "Alpha!")
  }

  func testNothingIsAskedWithoutTypedWords() async throws {
    let fixture = try Fixture()
    let screen = try fixture.editScreen()
    try fixture.saveElsewhere(theirs)
    XCTAssertTrue(show(screen).contains("Their title"))
    XCTAssertEqual(screen.words, theirs)
    XCTAssertNil(screen.edit.theirs)
    XCTAssertFalse(screen.hasUnsavedChanges)
    // What comes in between is not overwritten by words that nobody has typed.
    try fixture.saveElsewhere(later)
    XCTAssertTrue(leaves(screen, on: "s"))
    XCTAssertEqual(try stored(fixture), later)
  }

  func testNothingIsAskedAboutTheSameWords() async throws {
    let fixture = try Fixture()
    let screen = try fixture.editScreen()
    _ = screen.handle(.text("!"), size: size)
    try fixture.saveElsewhere(screen.words)
    XCTAssertFalse(show(screen).contains("Changed meanwhile"))
    _ = screen.handle(.text("?"), size: size)
    XCTAssertFalse(show(screen).contains("Changed meanwhile"))
    XCTAssertTrue(leaves(screen, on: "s"))
    XCTAssertEqual(try stored(fixture)?.title, "Alpha!?")
  }

  func testTheQuestionGoesWhenTheWordsAreTakenBack() async throws {
    let fixture = try Fixture()
    let base = try XCTUnwrap(fixture.firstWords)
    let screen = try askedScreen(fixture)
    try fixture.saveElsewhere(base)
    XCTAssertFalse(show(screen).contains("Changed meanwhile"))
    XCTAssertFalse(leaves(screen, on: "k"))
    XCTAssertTrue(leaves(screen, on: "s"))
  }

  // MARK: The answers

  func testMineIsSavedOverTheWordsThatWereSeen() async throws {
    let fixture = try Fixture()
    let screen = try askedScreen(fixture)
    XCTAssertTrue(leaves(screen, on: "k"))
    XCTAssertEqual(try stored(fixture), ProductEdit(title: "Alpha!", description: "First of all."))
  }

  func testTheirsStaysAndEndsTheEdit() async throws {
    let fixture = try Fixture()
    let screen = try askedScreen(fixture)
    XCTAssertTrue(leaves(screen, on: "t"))
    XCTAssertEqual(try stored(fixture), theirs)
  }

  func testBothAreInTheFieldsAndNothingIsSavedYet() async throws {
    let fixture = try Fixture()
    let screen = try askedScreen(fixture)
    XCTAssertFalse(leaves(screen, on: "b"))
    XCTAssertEqual(
      screen.words, ProductEdit(title: "Alpha! / Their title", description: "Their words."))
    XCTAssertEqual(try stored(fixture), theirs)
    XCTAssertFalse(show(screen).contains("Changed meanwhile"))
    XCTAssertTrue(leaves(screen, on: "s"))
    XCTAssertEqual(try stored(fixture)?.title, "Alpha! / Their title")
  }

  func testWordsThatChangeOnceMoreAreAskedAboutOnceMore() async throws {
    for letter: Character in "kb" {
      let fixture = try Fixture()
      let screen = try askedScreen(fixture)
      try fixture.saveElsewhere(later)
      XCTAssertFalse(leaves(screen, on: letter))
      XCTAssertFalse(leaves(screen, on: "s"))
      XCTAssertEqual(try stored(fixture), later)
      XCTAssertTrue(show(screen).contains("Later title"))
      XCTAssertTrue(leaves(screen, on: "k"))
      XCTAssertEqual(try stored(fixture)?.title.hasPrefix("Alpha!"), true)
    }
  }

  func testWordsThatCannotBeSavedStayAndAreMadeFromTheirs() async throws {
    let fixture = try Fixture()
    let screen = try fixture.editScreen()
    screen.titleField.replace(with: " ", cursor: 0)
    try fixture.saveElsewhere(theirs)
    show(screen)
    XCTAssertFalse(leaves(screen, on: "k"))
    XCTAssertEqual(screen.failure, "A product needs a title.")
    XCTAssertTrue(show(screen).contains("A product needs a title."))
    _ = screen.handle(.text("Mine"), size: size)
    XCTAssertTrue(leaves(screen, on: "s"))
    XCTAssertEqual(try stored(fixture)?.title, "Mine ")
  }

  func testTheQuestionWhetherToLeaveComesFirst() async throws {
    let fixture = try Fixture()
    let screen = try askedScreen(fixture)
    _ = screen.handle(.escape, size: size)
    XCTAssertFalse(show(screen).contains("Changed meanwhile."))
    for letter: Character in "ktb" { XCTAssertFalse(leaves(screen, on: letter)) }
    XCTAssertFalse(leaves(screen, on: "s"))
    XCTAssertTrue(show(screen).contains("Changed meanwhile."))
    XCTAssertEqual(try stored(fixture), theirs)
    _ = screen.handle(.escape, size: size)
    XCTAssertTrue(leaves(screen, on: "d"))
    XCTAssertEqual(try stored(fixture), theirs)
  }

  // MARK: Room

  func testWhatIsAskedAboutIsInSightOrCannotBeAnswered() async throws {
    let fixture = try Fixture()
    for columns in 1...60 {
      for rows in 1...14 {
        let screen = try fixture.editScreen()
        screen.titleField.replace(with: "Alpha!", cursor: 0)
        try fixture.saveElsewhere(ProductEdit(title: "T\(columns).\(rows)", description: "D"))
        let size = Size(columns: columns, rows: rows)
        let shown = show(screen, size)
        let isSeen = shown.contains("T\(columns).\(rows)") || shown.contains("T…")
        _ = screen.handle(.control("b"), size: size)
        // Below six columns a title is cut.
        if columns >= 6 { XCTAssertEqual(screen.edit.theirs == nil, isSeen, "\(size)\n\(shown)") }
        if columns >= 24, rows >= 3 { XCTAssertTrue(isSeen, "\(size)\n\(shown)") }
        if columns >= 38, rows >= 8 {
          XCTAssertTrue(shown.contains("Alpha!"), "\(size)\n\(shown)")
        }
      }
    }
  }

  func testALongTextIsCutAndSaysSo() async throws {
    let fixture = try Fixture()
    let screen = try fixture.editScreen()
    _ = screen.handle(.text("!"), size: size)
    let long = String(repeating: "many words ", count: 100)
    try fixture.saveElsewhere(ProductEdit(title: "Long", description: long))
    let shown = show(screen)
    XCTAssertTrue(shown.contains("…"), shown)
    XCTAssertTrue(shown.contains("Ctrl-K"), shown)
    XCTAssertTrue(shown.contains("Alpha!"), shown)
  }

  // MARK: Launches

  func testTheQuestionComesBack() async throws {
    let fixture = try Fixture()
    let launches = try Launches()
    _ = try await launches.run("enter e text:\" mine\"", on: fixture.catalog)
    try fixture.saveElsewhere(theirs)
    let asked = try await launches.run(on: fixture.loadCatalog())
    XCTAssertTrue(asked.screen.contains("Changed meanwhile."), asked.screen)
    XCTAssertTrue(asked.screen.contains("Alpha mine"), asked.screen)
    XCTAssertTrue(asked.screen.contains("Their title"), asked.screen)
    XCTAssertEqual(asked.report?.problems, [])
    try launches.crash()
    let again = try await launches.run(on: fixture.loadCatalog())
    XCTAssertEqual(again.screen, asked.screen)
    _ = try await launches.run("ctrl-b", on: fixture.loadCatalog())
    try launches.crash()
    let both = try await launches.run("ctrl-s", on: fixture.loadCatalog())
    XCTAssertEqual(both.navigation.top.title, "Alpha mine / Their title")
  }

  /// The app ended between saving the file and its state.
  func testAnEditThatIsInTheFileAlreadyHasNothingToSave() async throws {
    let fixture = try Fixture()
    let launches = try Launches()
    let typed = try await launches.run("enter e text:\" mine\"", on: fixture.catalog)
    let words = try XCTUnwrap(typed.navigation.top as? EditScreen).words
    try fixture.saveElsewhere(words)
    let again = try await launches.run(on: fixture.loadCatalog())
    XCTAssertTrue(again.screen.contains("no changes"), again.screen)
    XCTAssertFalse(again.screen.contains("Changed meanwhile."), again.screen)
    // Words that come later are not overwritten.
    try fixture.saveElsewhere(theirs)
    _ = try await launches.run("ctrl-s", on: fixture.loadCatalog())
    XCTAssertEqual(try stored(fixture), theirs)
  }

  func testACatalogThatWasLoadedBeforeSeesTheWordsAtTheNextEvent() async throws {
    let fixture = try Fixture()
    _ = try await Launches().run("enter", on: fixture.catalog)
    try fixture.saveElsewhere(theirs)
    let launch = try await Launches().run("enter e", on: fixture.catalog)
    XCTAssertTrue(launch.screen.contains("Their title"), launch.screen)
  }

  // MARK: Windows

  func testOfTwoWindowsThatEditOneProductTheSecondIsAsked() async throws {
    let fixture = try Fixture()
    let wide = Size(columns: 120, rows: 16)
    let launches = try Launches()
    let script =
      #"enter e text:" one" ctrl-n e text:" two" ctrl-s ctrl-o"#
    let asked = try await launches.run(script, on: fixture.catalog, size: wide)
    XCTAssertEqual(asked.windows.all.map(\.navigation.top.title), ["Edit", "Alpha two"])
    XCTAssertTrue(asked.screen.contains("Changed meanwhile."), asked.screen)
    let saved = try await launches.run("ctrl-s", on: fixture.catalog, size: wide)
    XCTAssertTrue(saved.screen.contains("Changed meanwhile."), saved.screen)
    XCTAssertEqual(try stored(fixture)?.title, "Alpha two")
    let both = try await launches.run("ctrl-b ctrl-s", on: fixture.catalog, size: wide)
    XCTAssertEqual(
      both.windows.all.map(\.navigation.top.title),
      Array(repeating: "Alpha one / Alpha two", count: 2))
  }

  func testTheSecondOfTwoAppsSeesWhatTheFirstHasSaved() async throws {
    let fixture = try Fixture()
    let (first, second) = (try Launches(), try Launches())
    let (early, late) = (try fixture.loadCatalog(), try fixture.loadCatalog())
    _ = try await first.run(#"enter e text:" one""#, on: early)
    _ = try await second.run(#"enter e text:" two""#, on: late)
    let saved = try await first.run("ctrl-s", on: early)
    XCTAssertEqual(saved.navigation.top.title, "Alpha one")
    let asked = try await second.run("ctrl-s", on: late)
    XCTAssertTrue(asked.screen.contains("Changed meanwhile."), asked.screen)
    XCTAssertEqual(try stored(fixture)?.title, "Alpha one")
    let mine = try await second.run("ctrl-k", on: late)
    XCTAssertEqual(mine.navigation.top.title, "Alpha two")
    let shown = try await first.run("wait:1ms", on: early)
    XCTAssertEqual(try stored(fixture)?.title, "Alpha two")
    XCTAssertEqual(shown.navigation.screens.count, 2)
  }
}
