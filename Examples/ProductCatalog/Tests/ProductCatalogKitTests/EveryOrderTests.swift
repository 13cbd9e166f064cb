import CatalogModel
import Foundation
import ProductCatalogKit
import RestorationKit
import XCTest

/// Typing, saving, a kill and what another process saves, in every order.
@MainActor final class EveryOrderTests: XCTestCase {
  func testNoWordsAreLostWhateverComesAfterWhat() async throws {
    for order in Self.orders(upTo: 4) {
      for choice in WordsEdit.Choice.allCases { try await check(order, Habits(choice: choice)) }
    }
  }

  func testNoWordsAreLostIfTheUserChoosesAtOnce() async throws {
    for order in Self.orders(upTo: 3) {
      for choice in WordsEdit.Choice.allCases {
        try await check(order, Habits(choice: choice, choosesAtOnce: true))
      }
    }
  }

  func testNoWordsAreLostIfTheOtherProcessSavesJustBeforeAKeyOrALaunch() async throws {
    for order in Self.orders(upTo: 4) where order.contains(.outside) {
      for choice in WordsEdit.Choice.allCases {
        try await check(order, Habits(choice: choice, outsideIsLate: true))
      }
    }
  }

  private static func orders(upTo count: Int) -> [[Desk.Step]] {
    (1...count).flatMap { count in
      (1...count).reduce([[]]) { orders, _ in
        orders.flatMap { order in Desk.Step.allCases.map { order + [$0] } }
      }
    }
  }

  private func check(_ order: [Desk.Step], _ habits: Habits) async throws {
    let desk = try Desk(habits)
    try await desk.start()
    // In the end all that was stored is saved.
    for step in order + [.kill, .save] {
      try await desk.take(step)
      XCTAssertEqual(try desk.faults, [], "\(habits) after \(step) in \(order)\n\(desk.screen)")
    }
  }
}

private struct Habits {
  /// What the user says when asked.
  let choice: WordsEdit.Choice
  /// Whether the user does that before anything else, or when the words are to be saved.
  var choosesAtOnce = false
  /// Whether the other process saves when the next key is on its way, or the app is dead.
  var outsideIsLate = false
}

/// A user who edits one product, another process that saves the same one, and what each must not lose.
@MainActor private final class Desk {
  enum Step: CaseIterable { case edit, save, kill, outside }

  private static let size = Size(columns: 50, rows: 12)

  private let fixture = try? Fixture(names: ["Alpha"])
  private let launches: Launches
  private let habits: Habits
  private var restoration: WindowRestoration?
  private(set) var screen = ""

  /// Words that the user has typed, without those that the user or the other process has replaced.
  private var typed: [String] = []
  /// Words of the other process that are not in the file any more, although the user has not chosen that,
  /// having seen them.
  private var overwritten: [String] = []
  /// Whether the user may be asked: the other process has saved since the editor had nothing to save.
  private var mayAsk = false
  /// What the other process is about to save.
  private var late: String?
  private var count = 0

  init(_ habits: Habits) throws {
    launches = try Launches()
    self.habits = habits
  }

  /// What must not be, in words.
  var faults: [String] {
    get throws {
      let places = try editorText + fileText
      return typed.filter { !places.contains($0) }.map { "\($0) is lost" }
        + overwritten.map { "\($0) was overwritten unseen" }
        + (isAsked && !mayAsk ? ["There is nothing to ask about"] : [])
    }
  }

  func start() async throws {
    let catalog = try XCTUnwrap(fixture).loadCatalog()
    let restoration = WindowRestoration(of: catalog, keeper: try launches.keeper(for: catalog))
    try await restoration.restore()
    self.restoration = restoration
    try await press("")
  }

  func take(_ step: Step) async throws {
    count += 1
    switch step {
    case .edit:
      let word = "mine\(count)"
      if top is ProductListScreen { try await press("enter") }
      if top is DetailScreen { try await press("e") }
      try await press("text:\" \(word)\"")
      typed.append(word)
    case .save: try await save()
    case .kill:
      try launches.crash()
      try saveElsewhere()
      try await start()
    case .outside:
      try saveElsewhere()
      late = "theirs\(count)"
      guard !habits.outsideIsLate else { return }
      try saveElsewhere()
      try await press("wait:1ms")
    }
    if habits.choosesAtOnce, isAsked, mayAsk { try await choose() }
    if let edit = top as? EditScreen, edit.hasUnsavedChanges { return }
    mayAsk = late != nil
  }

  private func save() async throws {
    for _ in 1...3 where top is EditScreen {
      try await press("ctrl-s")
      if isAsked { try await choose() }
    }
    // An edit that was saved is over.
    if top is EditScreen { overwritten.append("The editor") }
  }

  private func choose() async throws {
    if habits.choice == .theirs { typed.removeAll(where: editorText.contains) }
    let seen = habits.choice == .mine ? screen : ""
    try await press(["ctrl-k", "ctrl-t", "ctrl-b"][habits.choice.index], replacing: seen)
  }

  private func saveElsewhere() throws {
    guard let word = late.take() else { return }
    let (file, editor) = (try fileText, editorText)
    try fixture?.saveElsewhere(ProductEdit(title: word, description: "\(word).too"))
    typed.removeAll { file.contains($0) && !editor.contains($0) }
    mayAsk = true
  }

  /// Lets keys come one after the other, as the app does: each is drawn, and then stored.
  ///
  /// What is seen on a screen may be replaced.
  private func press(_ script: String, replacing seen: String = "") async throws {
    guard let restoration else { return }
    let scripted = ScriptedConsole(try Script(script), size: Self.size) { [self] in screen = $0 }
    let console = Console(scripted)
    let app = App(windows: restoration.windows, console: console)
    app.commands = restoration
    var before = try fileText
    console.keyComes = { [self] in
      try saveElsewhere()
      before = try fileText
    }
    app.afterEvent = { event in
      if case .key = event { restoration.noteChange() }
    }
    _ = await app.run()
    await restoration.saveWindows()
    XCTAssertNil(console.problem)
    let after = try fileText
    overwritten += (1...10).map { "theirs\($0)" }.filter {
      before.contains($0) && !after.contains($0) && !seen.contains($0)
    }
  }

  private var top: (any Screen)? { restoration?.windows.focused?.navigation.top }

  private var isAsked: Bool { screen.contains("Changed meanwhile.") }

  private var editorText: String {
    (top as? EditScreen).map { "\($0.words)" } ?? ""
  }

  private var fileText: String {
    get throws {
      guard let file = fixture?.edits.location, FileManager.default.fileExists(atPath: file.path)
      else { return "" }
      return try String(contentsOf: file, encoding: .utf8)
    }
  }
}

/// Does something when a key comes, after the screen was drawn.
@MainActor private final class Console: ProductCatalogKit.Console {
  var keyComes: (() throws -> Void)?
  private(set) var problem: (any Error)?
  private let scripted: ScriptedConsole

  init(_ scripted: ScriptedConsole) {
    self.scripted = scripted
  }

  var size: Size { scripted.size }

  func show(_ canvas: Canvas) { scripted.show(canvas) }

  func suspend() { scripted.suspend() }

  func nextEvents() async -> [InputEvent]? {
    let events = await scripted.nextEvents()
    guard case .key = events?.first else { return events }
    do { try keyComes?() } catch { problem = error }
    return events
  }
}

extension WordsEdit.Choice {
  fileprivate var index: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
