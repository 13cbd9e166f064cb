import CatalogModel
import Foundation
import ProductCatalogKit
import RestorationKit
import XCTest

/// Typing, saving, a kill and what another process saves, in every order.
@MainActor final class EveryOrderTests: XCTestCase {
  private static let longest = 4

  func testNoWordsAreLostWhateverComesAfterWhat() async throws {
    for choice in WordsEdit.Choice.allCases {
      var orders: [[Desk.Step]] = [[]]
      for _ in 1...Self.longest {
        orders = orders.flatMap { order in Desk.Step.allCases.map { order + [$0] } }
        for order in orders { try await check(order, choosing: choice) }
      }
    }
  }

  private func check(_ order: [Desk.Step], choosing choice: WordsEdit.Choice) async throws {
    let desk = try Desk(choosing: choice)
    try await desk.start()
    // In the end everything is saved: the words that were typed, and nothing blindly.
    for step in order + [.kill, .save] {
      try await desk.take(step)
      XCTAssertEqual(try desk.faults, [], "\(choice) after \(step) in \(order)\n\(desk.screen)")
    }
  }
}

/// A user who edits one product, another process that saves the same one, and what each must not lose.
@MainActor private final class Desk {
  enum Step: CaseIterable { case edit, save, kill, outside }

  private static let size = Size(columns: 50, rows: 12)

  private let fixture = try? Fixture(names: ["Alpha"])
  private let launches: Launches
  private let choice: WordsEdit.Choice
  private var restoration: WindowRestoration?
  private(set) var screen = ""

  /// Words that the user has typed, without those that the user or the other process has replaced.
  private var typed: [String] = []
  /// Words of the other process that the user has seen in the question.
  private var seen: Set<String> = []
  /// Words of the other process that are not in the file any more, although the user has not seen them.
  private var overwritten: [String] = []
  /// Whether the user may be asked: the other process has saved since the editor had nothing to save.
  private var mayAsk = false
  private var count = 0

  init(choosing choice: WordsEdit.Choice) throws {
    launches = try Launches()
    self.choice = choice
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
      try await start()
    case .outside: try await saveElsewhere("theirs\(count)")
    }
    if let edit = top as? EditScreen, edit.hasUnsavedChanges { return }
    mayAsk = false
  }

  private func save() async throws {
    for _ in 1...3 where top is EditScreen {
      try await press("ctrl-s")
      guard isAsked else { continue }
      if choice == .theirs { typed.removeAll(where: editorText.contains) }
      try await press(["ctrl-k", "ctrl-t", "ctrl-b"][choice.index])
    }
    // An edit that was saved is over.
    if top is EditScreen { overwritten.append("The editor") }
  }

  private func saveElsewhere(_ word: String) async throws {
    let (file, editor) = (try fileText, editorText)
    try fixture?.saveElsewhere(ProductEdit(title: word, description: "\(word).too"))
    typed.removeAll { file.contains($0) && !editor.contains($0) }
    mayAsk = true
    try await press("wait:1ms")
  }

  /// Presses keys one after the other, as the app does: each is drawn, and then stored.
  private func press(_ script: String) async throws {
    guard let restoration else { return }
    let before = try fileText
    let console = ScriptedConsole(try Script(script), size: Self.size) { [self] in screen = $0 }
    let app = App(windows: restoration.windows, console: console)
    app.commands = restoration
    app.afterEvent = { event in
      if case .key = event { restoration.noteChange() }
    }
    _ = await app.run()
    await restoration.saveWindows()
    let after = try fileText
    overwritten += (1...10).map { "theirs\($0)" }.filter {
      before.contains($0) && !after.contains($0) && !seen.contains($0)
    }
    if isAsked { seen.formUnion((1...10).map { "theirs\($0)" }.filter(screen.contains)) }
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

extension WordsEdit.Choice {
  fileprivate var index: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
