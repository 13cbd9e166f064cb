import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

/// Fields of screens whose stored value does not fit their type: it stays stored until the app sets the field.
@MainActor
final class UnfitFieldTests: XCTestCase {
  private final class Older: @MainActor RestorableScreen {
    let restorationIdentifier = "screen"
    @Restored var marks = 0
    @Restored var place = Spot(row: 0, name: 0)
    @Restored var code = 0
    @Restored var title = ""
    @Restored var text = 0
  }

  private final class Newer: @MainActor RestorableScreen {
    let restorationIdentifier = "screen"
    @Restored var marks = [0, 0]
    @Restored var place = NamedSpot(row: 0, name: "")
    @Restored var code = ""
    @Restored var title = ""
    @Restored var text: [String] = []
  }

  private struct Spot: Codable, Sendable, Equatable {
    var row: Int
    var name: Int
  }

  private struct NamedSpot: Codable, Sendable, Equatable {
    var row: Int
    var name: String
  }

  private let launch = Launch()
  private let lines = (0..<1000).map { "The line \($0)" }

  private func keeper(_ type: any RestorableScreen.Type) throws -> StateKeeper {
    let keeper = try launch.keeper()
    switch type {
    case is Older.Type: try keeper.register(Older.self, as: "Screen")
    default: try keeper.register(Newer.self, as: "Screen")
    }
    return keeper
  }

  private func saveNewer(large: Bool = false) async throws {
    let screen = Newer()
    (screen.marks, screen.place, screen.code) = (
      [7, 8], NamedSpot(row: 3, name: "attic"), "hidden"
    )
    (screen.title, screen.text) = ("Newer", large ? lines : ["one"])
    _ = try await keeper(Newer.self).save([screen])
  }

  /// A launch of the older version, which saves as often as something is to be saved.
  private func runOlder(_ change: (Older) -> Void = { _ in }) async throws {
    let keeper = try keeper(Older.self)
    let screen = Older()
    _ = try await keeper.restore(into: [screen])
    _ = try await keeper.save([screen])
    change(screen)
    _ = try await keeper.save([screen])
  }

  private func restored() async throws -> Newer {
    let screen = Newer()
    _ = try await keeper(Newer.self).restore(into: [screen])
    return screen
  }

  func testTheMereStartOfAnOlderVersionReplacesNoField() async throws {
    for large in [false, true] {
      try launch.removeState()
      try await saveNewer(large: large)
      for _ in 0..<2 { try await runOlder() }
      let screen = try await restored()
      XCTAssertEqual(screen.marks, [7, 8])
      XCTAssertEqual(screen.place, NamedSpot(row: 3, name: "attic"))
      XCTAssertEqual(screen.code, "hidden")
      XCTAssertEqual(screen.title, "Newer")
      XCTAssertEqual(screen.text, large ? lines : ["one"])
    }
  }

  func testAFieldThatTheAppSetsReplacesWhatDidNotFitAndNoOther() async throws {
    for large in [false, true] {
      try launch.removeState()
      try await saveNewer(large: large)
      try await runOlder { $0.title = "Older" }
      // Also if the value is the one that the screen has.
      try await runOlder { $0.text = 0 }
      let screen = try await restored()
      XCTAssertEqual(screen.text, [], "the older version has set it")
      XCTAssertEqual(screen.title, "Older")
      XCTAssertEqual(screen.marks, [7, 8])
      XCTAssertEqual(screen.place, NamedSpot(row: 3, name: "attic"))
      XCTAssertEqual(screen.code, "hidden")

      let older = Older()
      _ = try await keeper(Older.self).restore(into: [older])
      XCTAssertEqual(older.text, 0)
      XCTAssertEqual(older.place.row, 3, "the part that fits is shown")
    }
  }

  func testWhatIsSetWhereItDidNotFitComesBack() async throws {
    try await saveNewer()
    try await runOlder { ($0.marks, $0.code) = (5, 6) }
    let older = Older()
    let report = try await keeper(Older.self).restore(into: [older])
    XCTAssertEqual([older.marks, older.code], [5, 6])
    XCTAssertEqual(
      report.notes.compactMap { if case .fieldReplaced(let key, _) = $0 { key } else { nil } },
      ["name", "text"])
  }

  /// A node that writes references where the older version has fields.
  @MainActor
  private final class Linked: @MainActor RestorableNode {
    let restorationIdentifier: String? = "screen"
    weak var friend: TestNode?
    func encodeRestorableState(with coder: StateEncoder) {
      coder.encode(friend, forKey: "marks")
      coder.encode([friend].compactMap { $0 as (any StateRestoring)? }, forKey: "text")
    }
  }

  private final class Waiting: @MainActor RestorableScreen {
    let restorationIdentifier = "screen"
    @Restored var marks = 0
    @Restored var text = 0
    @Restored var title = ""
    var isReady = false
    func decodeRestorableState(with coder: StateDecoder) throws {
      if !isReady {
        throw CancellationError()
      }
    }
  }

  func testAReferenceInThePlaceOfAFieldIsNotStoredAsOne() async throws {
    let friend = TestNode("friend")
    let linked = Linked()
    linked.friend = friend
    let newer = try launch.keeper()
    try newer.register(Linked.self, as: "Screen")
    // So that the records get other numbers afterwards.
    _ = try await newer.save([TestNode("first"), TestNode("second"), linked, friend])
    let keeper = try keeper(Older.self)
    let older = Older()
    _ = try await keeper.restore(into: [older, friend])
    _ = try await keeper.save([TestNode("other"), older, friend])
    let records = try XCTUnwrap(try launch.storedRecords())
    let state = try XCTUnwrap(records["screen"]?.state)
    XCTAssertEqual(try state.decode(Int.self, forKey: "marks"), 0)
    XCTAssertEqual(try state.decode(Int.self, forKey: "text"), 0)

    try launch.removeState()
    let again = try launch.keeper()
    try again.register(Linked.self, as: "Screen")
    _ = try await again.save([TestNode("first"), TestNode("second"), linked, friend])
    let last = try launch.keeper()
    try last.register(Waiting.self, as: "Screen")
    let waiting = Waiting()
    _ = try await last.restore(into: [waiting, friend])
    waiting.title = "typed"
    _ = try await last.save([waiting, friend])
    waiting.isReady = true
    _ = try await last.restore(late: waiting)
    _ = try await last.save([waiting, friend])
    let kept = try XCTUnwrap(try launch.storedRecords()?["screen"])
    XCTAssertEqual(try kept.state?.decode(String.self, forKey: "title"), "typed")
  }

  private final class Numbered: @MainActor RestorableScreen {
    let restorationIdentifier = "screen"
    @Restored var text = 0
    @Restored var title = ""
  }

  private final class Listed: @MainActor RestorableScreen {
    let restorationIdentifier = "screen"
    @Restored var text: [String] = []
    @Restored var title = ""
  }

  func testAFieldThatGoesOnNotFittingIsSetAsideOnce() async throws {
    for text in [["one"], lines] {
      try launch.removeState()
      let newer = try launch.keeper()
      try newer.register(Listed.self, as: "Screen")
      let screen = Listed()
      screen.text = text
      _ = try await newer.save([screen])
      for number in 1...4 {
        let older = try launch.keeper()
        try older.register(Numbered.self, as: "Screen")
        let screen = Numbered()
        _ = try await older.restore(into: [screen])
        screen.title = "\(number)"
        _ = try await older.save([screen])
      }
      // What does not fit is in the body of the screen all the time.
      XCTAssertEqual(try launch.storedRecords()?["screen"]?.kept.count, 0, "\(text.count)")
      let last = try launch.keeper()
      try last.register(Listed.self, as: "Screen")
      let back = Listed()
      _ = try await last.restore(into: [back])
      XCTAssertEqual(back.title, "4")
      XCTAssertEqual(back.text, text)
    }
  }

  func testWhatDidNotFitIsSetAsideBeforeItIsReplaced() async throws {
    try await saveNewer()
    try await runOlder { $0.marks = 5 }
    let kept = try XCTUnwrap(try launch.storedRecords()?["screen"]?.kept)
    XCTAssertEqual(try kept.map { try $0.state?.decode([Int].self, forKey: "marks") }, [[7, 8]])
  }
}
