import Foundation
import TestSupport
import XCTest

/// Words are typed and saved, others save others, and servers are killed, in every order.
final class EditingOrdersTests: XCTestCase {
  func testNothingIsLostInAnyOrderOfFourSteps() throws {
    let orders = (1...4).flatMap(Play.Step.orders)
    XCTAssertEqual(orders.count, 4 + 16 + 64 + 256)
    try play(orders)
  }

  func testNothingIsLostWhereTheUserIsAskedTwiceAndAServerIsKilledAnywhere() throws {
    let orders: [[Play.Step]] = [
      [.edit, .outside, .save, .outside, .save, .save],
      [.edit, .outside, .save, .edit, .outside, .save, .save],
    ]
    try play(
      orders.flatMap { steps in
        [steps] + steps.indices.map { Array(steps[..<$0]) + [.kill] + steps[$0...] }
      })
  }

  /// Plays all of them, with each choice where the user is asked.
  private func play(_ orders: [[Play.Step]]) throws {
    // Some 20 seconds, or more where others use the machine, too.
    let (problems, askedCount) = try result(within: 300) {
      let start = try await LocalStart()
      return try await withThrowingTaskGroup(of: ([String], Int).self) { group in
        for hasScripts in [true, false] {
          group.addTask {
            var (problems, askedCount): ([String], Int) = ([], 0)
            for steps in orders {
              var isAsked = false
              for choice in Play.Choice.allCases {
                let play = try await Play(start, choice, hasScripts: hasScripts)
                do {
                  try await play.run(steps)
                } catch {
                  problems.append("\(steps), \(choice), scripts \(hasScripts): \(error)")
                }
                isAsked = play.askedCount > 0
                // Without a question the choice makes no difference.
                guard isAsked else { break }
              }
              askedCount += isAsked ? 1 : 0
            }
            return (problems, askedCount)
          }
        }
        return try await group.reduce(into: ([], 0)) { all, part in
          all = (all.0 + part.0, all.1 + part.1)
        }
      }
    }
    XCTAssertEqual(problems.count, 0)
    XCTAssertEqual(Array(problems.prefix(3)), [])
    XCTAssertEqual(askedCount, 2 * orders.count(where: Play.Step.ask))
  }
}

/// A user who edits a product in one tab, in a world of their own.
private final class Play {
  enum Step: String, CaseIterable, CustomStringConvertible {
    case edit, save, kill, outside

    var description: String { rawValue }

    /// All orders of so many steps, of which each may come again.
    static func orders(of count: Int) -> [[Step]] {
      guard count > 0 else { return [[]] }
      return orders(of: count - 1).flatMap { steps in allCases.map { steps + [$0] } }
    }

    /// Whether somebody saves words while the user edits, who saves theirs then.
    static func ask(_ steps: [Step]) -> Bool {
      var (isEdited, isOld) = (false, false)
      for step in steps {
        switch step {
        case .edit: isEdited = true
        case .outside: isOld = isEdited
        case .save where isOld: return true
        case .save: isEdited = false
        case .kill: break
        }
      }
      return false
    }
  }

  enum Choice: String, CaseIterable {
    case mine, theirs, both
  }

  struct Problem: Error, CustomStringConvertible {
    let description: String
  }

  private let site: LocalSite
  private let choice: Choice
  /// Whether the server has what is typed, and the page shows what others have saved.
  ///
  /// Without scripts the browser alone has it, and the page stays as it was loaded.
  private let hasScripts: Bool
  private var server: LocalServer
  private var other: LocalServer?
  private var (ann, second, eve): (LocalBrowser, LocalBrowser, LocalBrowser)
  private(set) var askedCount = 0

  /// What is in the fields of the editor; nil while there is none.
  private var fields: Words?
  /// The words of the product that the user has seen in the editor.
  private var basis: Words?
  private var wordCount = 0
  private var typed: Set<String> = []
  private var ofOthers: Set<String> = []
  /// Words that the user has given up for those of others.
  private var givenUp: Set<String> = []
  /// Words of others that the user has seen, and put their own in place of.
  private var replaced: Set<String> = []

  init(_ start: LocalStart, _ choice: Choice, hasScripts: Bool) async throws {
    (site, self.choice, self.hasScripts) = (try await start.site.copy(), choice, hasScripts)
    (ann, second, eve) = (start.ann, start.second, start.eve)
    server = try await site.serve()
    (ann.server, second.server) = (server, server)
  }

  private func expect(_ isSo: Bool, _ what: String) throws {
    guard isSo else { throw Problem(description: "\(what). The page: \(shown)") }
  }

  /// What the page shows, in a line.
  private var shown: String {
    "\(ann.status), edits \(ann.edited.map { "\($0)" } ?? "nothing"), "
      + "asks of \(ann.asked.map { "\($0)" } ?? "nothing")"
  }

  func run(_ steps: [Step]) async throws {
    try await ann.load()
    for step in steps {
      switch step {
      case .edit: try await edit()
      case .save: try await save()
      case .kill: try await kill()
      case .outside: try await saveOutside()
      }
      try await check()
    }
    // What is stored says the same after a kill.
    guard steps.last != .kill else { return }
    let before = shown
    try await kill()
    if hasScripts { try expect(shown == before, "Before a kill it was: \(before)") }
    try await check()
  }

  private func edit() async throws {
    if fields == nil {
      try await ann.press("begin")
      (fields, basis) = (ann.edited, try await site.saved())
      try expect(fields == basis, "The editor does not begin with the words of the product")
    }
    wordCount += 1
    let word = "typed\(wordCount)"
    fields = fields?.adding(word)
    guard let fields else { return }
    if hasScripts {
      try await ann.tell(fields)
      try expect(ann.status == 200, "Words are not stored")
      try await ann.load()
    }
    typed.insert(word)
  }

  private func save() async throws {
    guard let fields else { return }
    let before = try await site.saved()
    let isAsked = before != basis && before != fields
    if ann.asked == nil { try await ann.press("save", fields) }
    guard isAsked else {
      try expect(ann.asked == nil, "It asks although nobody else has saved anything")
      try expect(try await site.saved() == fields, "The words are not saved")
      try expect(ann.edited == nil, "The edit goes on")
      self.fields = nil
      return
    }
    try expect(ann.asked == before, "It does not show \(before)")
    try expect(ann.edited == fields, "It does not show \(fields)")
    try expect(try await site.saved() == before, "Words of others are replaced")
    askedCount += 1
    try await ann.press(choice.rawValue, fields)
    try expect(ann.asked == nil, "It asks again although nothing is new")
    let after = try await site.saved()
    switch choice {
    case .mine:
      replaced.formUnion(before.all.subtracting(fields.all))
      try expect(after == fields, "The words of the user are not saved")
      self.fields = nil
    case .theirs:
      givenUp.formUnion(fields.all.subtracting(before.all))
      try expect(after == before, "The words of others are replaced")
      self.fields = nil
    case .both:
      try expect(after == before, "The words of others are replaced")
      (self.fields, basis) = (ann.edited, before)
      try expect(
        ann.edited?.all.isSuperset(of: before.all.union(fields.all)) == true,
        "The editor does not have both")
    }
    try expect((ann.edited == nil) == (self.fields == nil), "The editor is wrong")
  }

  private func kill() async throws {
    server.kill()
    server = try await site.serve()
    (ann.server, second.server) = (server, server)
    if hasScripts { try await ann.load() }
  }

  /// In turn, a user of another server and another tab of the same browser save words.
  private func saveOutside() async throws {
    wordCount += 1
    let (word, before) = ("other\(wordCount)", try await site.saved())
    let isInSecondTab = ofOthers.count.isMultiple(of: 2)
    if !isInSecondTab, other == nil {
      let server = try await site.serve()
      (other, eve.server) = (server, server)
    }
    var browser = isInSecondTab ? second : eve
    try await browser.load()
    try await browser.press("begin")
    try expect(browser.edited == before, "Others do not begin with the words of the product")
    try await browser.press("save", before.adding(word))
    try expect(try await site.saved() == before.adding(word), "Others cannot save")
    if isInSecondTab { second = browser } else { eve = browser }
    ofOthers.insert(word)
    if hasScripts { try await ann.load() }
  }

  private func check() async throws {
    if hasScripts {
      try expect(ann.edited == fields, "The editor does not show \(String(describing: fields))")
    }
    let saved = try await site.saved().all
    let lost = typed.subtracting(saved).subtracting(fields?.all ?? []).subtracting(givenUp)
    try expect(lost.isEmpty, "\(lost) is lost")
    let overwritten = ofOthers.subtracting(saved).subtracting(replaced)
    try expect(overwritten.isEmpty, "\(overwritten) is replaced, and nobody has seen it")
  }
}
