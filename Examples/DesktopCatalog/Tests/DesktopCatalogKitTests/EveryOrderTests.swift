import CatalogModel
import DesktopCatalogKit
import Foundation
import RestorationKit
import XCTest

/// Typing, saving, a kill and what another process saves, in every order.
@MainActor
final class EveryOrderTests: XCTestCase {
  func testNoWordsAreLostWhateverComesAfterWhat() async throws {
    try await check(Desk.orders(upTo: 4), seesOthersAtOnce: true)
  }

  func testNoWordsAreLostIfTheWindowSeesThoseOfOthersOnlyAtASave() async throws {
    try await check(
      Desk.orders(upTo: 4).filter { $0.contains(.outside) }, seesOthersAtOnce: false)
  }

  private func check(_ orders: [[Desk.Step]], seesOthersAtOnce: Bool) async throws {
    for order in orders {
      for choice in WordsEdit.Choice.allCases {
        let desk = Desk(
          try Launches(), choosing: choice, seesOthersAtOnce: seesOthersAtOnce)
        try await desk.start()
        // In the end all that was stored is saved.
        for step in order + [.kill, .save] {
          try await desk.take(step)
          XCTAssertEqual(try desk.faults, [], "\(choice) after \(step) in \(order)")
        }
        desk.end()
      }
    }
  }
}

/// A user who edits one product, another process that saves the same one, and what each must not lose.
@MainActor
private final class Desk {
  enum Step: CaseIterable { case edit, save, kill, outside }

  private let launches: Launches
  private let choice: WordsEdit.Choice
  /// Whether the window gets the keyboard after the other process has saved.
  private let seesOthersAtOnce: Bool

  /// Words that the user has typed, without those that the user or the other process has replaced.
  private var typed: [String] = []
  /// Words of the other process that are not in the file any more, although the user has not chosen that,
  /// having seen them.
  private var overwritten: [String] = []
  /// Whether the user may be asked: the other process has saved since the editor had nothing to save.
  private var mayAsk = false
  private var count = 0

  init(_ launches: Launches, choosing choice: WordsEdit.Choice, seesOthersAtOnce: Bool) {
    (self.launches, self.choice, self.seesOthersAtOnce) = (launches, choice, seesOthersAtOnce)
  }

  static func orders(upTo count: Int) -> [[Step]] {
    (1...count).flatMap { count in
      (1...count).reduce([[]]) { orders, _ in
        orders.flatMap { order in Step.allCases.map { order + [$0] } }
      }
    }
  }

  /// What must not be, in words.
  var faults: [String] {
    get throws {
      let places = try editorText + fileText
      return typed.filter { !places.contains($0) }.map { "\($0) is lost" }
        + overwritten.map { "\($0) was overwritten" }
        + (question != nil && !mayAsk ? ["There is nothing to ask about"] : [])
    }
  }

  func start() async throws {
    let report = try await launches.start()
    XCTAssertEqual(report.problems, [])
  }

  func end() { launches.end() }

  func take(_ step: Step) async throws {
    count += 1
    switch step {
    case .edit:
      launches.window?.edit()
      launches.type(" mine\(count)")
      typed.append("mine\(count)")
    case .save: try save()
    case .kill:
      try launches.kill()
      try await start()
    case .outside:
      let (file, editor) = (try fileText, editorText)
      let word = "theirs\(count)"
      try launches.saveElsewhere(ProductEdit(title: word, description: "\(word).too"))
      typed.removeAll { file.contains($0) && !editor.contains($0) }
      mayAsk = true
      if seesOthersAtOnce { launches.window?.refresh() }
    }
    // As the app does it after every change.
    try await launches.save()
    if launches.window?.editor.hasChanges != true { mayAsk = false }
  }

  private func save() throws {
    guard let editor = launches.window?.editor else { return }
    for _ in 1...3 where editor.productID != nil {
      let before = try fileText
      editor.save()
      try note(before)
      guard let question else { continue }
      if choice == .theirs { typed.removeAll(where: editorText.contains) }
      editor.choose(choice)
      try note(before, replacing: choice == .mine ? question : "")
    }
    if editor.productID != nil { overwritten.append("The editor") }
  }

  private func note(_ before: String, replacing seen: String = "") throws {
    let after = try fileText
    overwritten += (1...10).map { "theirs\($0)" }.filter {
      before.contains($0) && !after.contains($0) && !seen.contains($0)
    }
  }

  private var question: String? { launches.window?.editor.changedMeanwhile.shownText }

  private var editorText: String {
    guard let editor = launches.window?.editor, editor.productID != nil else { return "" }
    return "\(editor.words)"
  }

  private var fileText: String {
    get throws {
      let file = launches.edits.location
      guard FileManager.default.fileExists(atPath: file.path) else { return "" }
      return try String(contentsOf: file, encoding: .utf8)
    }
  }
}
