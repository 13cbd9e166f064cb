import CGtk
import CatalogModel
import DesktopCatalogKit
import DesktopTestSupport
import Foundation
import RestorationDrafts
import RestorationGTK
import RestorationKit
import XCTest

/// An edit of a product that others save meanwhile.
@MainActor
final class ChangedMeanwhileTests: XCTestCase {
  private let theirs = ProductEdit(title: "Their title", description: "Their words.")
  private let later = ProductEdit(title: "Later title", description: "Later words.")

  /// Does something in a launch with words that were typed and stored.
  private func withTypedWords(
    _ body: @MainActor (Launches) async throws -> Void
  ) async throws {
    let launches = try Launches()
    defer { launches.end() }
    try await launches.start()
    launches.window?.edit()
    launches.type(" mine")
    try await launches.save()
    try await body(launches)
  }

  private func editor(_ launches: Launches) throws -> ProductEditor {
    try XCTUnwrap(launches.window).editor
  }

  func testBothTextsAreShown() async throws {
    try await withTypedWords { launches in
      let editor = try editor(launches)
      XCTAssertNil(editor.changedMeanwhile.shownText)
      try launches.saveElsewhere(theirs)
      launches.window?.refresh()
      XCTAssertEqual(editor.changedMeanwhile.shownText, "Their title\n\nTheir words.")
      XCTAssertEqual(editor.words.title, "Alpha mine")
      launches.type("!")
      XCTAssertEqual(editor.words.title, "Alpha mine!")
      XCTAssertEqual(editor.edit?.theirs, theirs)
    }
  }

  func testNothingIsAskedAboutTheSameWordsOrWithoutTypedWords() async throws {
    try await withTypedWords { launches in
      let editor = try editor(launches)
      try launches.saveElsewhere(editor.words)
      launches.window?.refresh()
      XCTAssertNil(editor.changedMeanwhile.shownText)
      XCTAssertFalse(editor.hasChanges)
      try launches.saveElsewhere(theirs)
      launches.window?.refresh()
      XCTAssertNil(editor.changedMeanwhile.shownText)
      XCTAssertEqual(editor.words, theirs)
      try launches.saveElsewhere(later)
      editor.save()
      XCTAssertNil(editor.productID)
      XCTAssertEqual(try launches.storedWords, later)
    }
  }

  func testASaveReplacesNothingThatWasNotSeen() async throws {
    try await withTypedWords { launches in
      let editor = try editor(launches)
      for words in [theirs, later] {
        try launches.saveElsewhere(words)
        editor.save()
        editor.save()
        XCTAssertEqual(try launches.storedWords, words)
        XCTAssertEqual(editor.edit?.theirs, words)
      }
      try launches.saveElsewhere(theirs)
      editor.choose(.mine)
      XCTAssertEqual(try launches.storedWords, theirs)
      XCTAssertEqual(editor.changedMeanwhile.shownText, "Their title\n\nTheir words.")
      editor.choose(.mine)
      XCTAssertEqual(try launches.storedWords?.title, "Alpha mine")
      XCTAssertNil(editor.productID)
    }
  }

  /// The click that gives the keyboard to the window may be one on a button.
  func testAnAnswerAtTheMomentOfTheQuestionDoesNotCount() async throws {
    try await withTypedWords { launches in
      let question = try editor(launches).changedMeanwhile
      for words in [theirs, later] {
        try launches.saveElsewhere(words)
        launches.window?.refresh()
        question.answer(.mine)
        XCTAssertEqual(try launches.storedWords, words)
        XCTAssertNotNil(question.shownText)
      }
      try waitFor("an answer that counts") {
        question.answer(.mine)
        return try launches.storedWords?.title == "Alpha mine"
      }
    }
  }

  func testBothAreInTheFields() async throws {
    try await withTypedWords { launches in
      let editor = try editor(launches)
      try launches.saveElsewhere(theirs)
      launches.window?.refresh()
      editor.choose(.both)
      let both = ProductEdit(title: "Alpha mine / Their title", description: "Their words.")
      XCTAssertEqual(editor.words, both)
      XCTAssertNil(editor.changedMeanwhile.shownText)
      try await launches.save()
      try launches.kill()
      try await launches.start()
      XCTAssertEqual(try self.editor(launches).words, both)
      XCTAssertNil(try self.editor(launches).changedMeanwhile.shownText)
      XCTAssertEqual(try launches.storedWords, theirs)
    }
  }

  func testTheQuestionComesBackWithTheWordsOfNow() async throws {
    try await withTypedWords { launches in
      for words in [theirs, later] {
        try launches.saveElsewhere(words)
        try launches.kill()
        let report = try await launches.start()
        XCTAssertEqual(report.problems, [])
        let editor = try editor(launches)
        XCTAssertEqual(editor.changedMeanwhile.shownText, "\(words.title)\n\n\(words.description)")
        XCTAssertEqual(editor.words.title, "Alpha mine")
        try await launches.save()
      }
    }
  }

  func testAnEditorInWhichNothingIsTypedComesBackWithTheWordsOfNow() async throws {
    let launches = try Launches()
    defer { launches.end() }
    try await launches.start()
    launches.window?.edit()
    try await launches.save()
    try launches.saveElsewhere(theirs)
    try launches.kill()
    try await launches.start()
    let editor = try editor(launches)
    XCTAssertEqual(editor.words, theirs)
    XCTAssertEqual(editor.edit?.draft.base, theirs)
    XCTAssertFalse(editor.hasChanges)
    XCTAssertNil(editor.changedMeanwhile.shownText)
  }

  func testTypedWordsComeBackWithoutTheirProduct() async throws {
    try await withTypedWords { launches in
      try launches.kill()
      try launches.replaceProduct()
      let report = try await launches.start()
      XCTAssertEqual(report.problems, [])
      let editor = try editor(launches)
      XCTAssertEqual(editor.words.title, "Alpha mine")
      XCTAssertTrue(editor.hasChanges)
      editor.save()
      XCTAssertNotNil(editor.productID)
      try await launches.save()
      try launches.kill()
      try await launches.start()
      XCTAssertEqual(try self.editor(launches).words.title, "Alpha mine")
    }
  }

  /// An earlier version stored the words without those that they were made from.
  func testAnEditWithoutABaseCountsAsMadeFromThePresentWords() async throws {
    let launches = try Launches()
    defer { launches.end() }
    try launches.saveElsewhere(theirs)
    try await launches.store([EarlierWindow(launches.productID)]) { keeper in
      try keeper.register(EarlierWindow.self, as: "WindowNode")
      try keeper.register(EarlierEditor.self, as: "EditorNode")
    }
    let report = try await launches.start()
    XCTAssertEqual(report.problems, [])
    let editor = try editor(launches)
    XCTAssertEqual(editor.words, ProductEdit(title: "Typed", description: "Before."))
    XCTAssertEqual(editor.edit?.draft.base, theirs)
    XCTAssertTrue(editor.hasChanges)
    XCTAssertNil(editor.changedMeanwhile.shownText)
    editor.save()
    XCTAssertEqual(try launches.storedWords?.title, "Typed")
  }
}

/// What an earlier version stored of a window.
@MainActor
private final class EarlierWindow: @MainActor RestorableNode {
  let restorationIdentifier: String? = "window"
  let restorationChildren: [any RestorableNode]

  init(_ product: UUID) {
    restorationChildren = [EarlierEditor(product)]
  }
}

@MainActor
private final class EarlierEditor: @MainActor StatefulNode {
  let restorationIdentifier: String? = "editor"
  let restorationViews: [any RestorableView]
  var restorableState: UUID?

  init(_ product: UUID) {
    restorableState = product
    let (title, text) = (
      ObjectPointer(made: gtk_entry_new()), ObjectPointer(made: gtk_text_view_new())
    )
    gtk_editable_set_text(title.opaque, "Typed")
    gtk_text_buffer_set_text(gtk_text_view_get_buffer(text.of()), "Before.", -1)
    restorationViews = [
      EditedLine(title, restorationIdentifier: "title") {},
      EditedText(text, restorationIdentifier: "description") {},
    ]
  }
}
