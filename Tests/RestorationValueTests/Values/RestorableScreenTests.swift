import Foundation
import RestorationKit
import RestorationTesting
import TestSupport
import XCTest

/// Screens whose state are their fields with `@Restored`.
@MainActor
final class RestorableScreenTests: XCTestCase {
  private class BaseScreen: @MainActor RestorableScreen {
    @Restored private var inherited = 1
    var count: Int {
      get { inherited }
      set { inherited = newValue }
    }
  }

  private final class NoteScreen: BaseScreen {
    @Restored var draft = ""
    @Restored("position") var cursor = 0
    @Restored private var hidden: [Int] = []
    var other = "not stored"

    var values: [Int] {
      get { hidden }
      set { hidden = newValue }
    }
  }

  private final class GenericScreen<Value: Codable & Sendable>: @MainActor RestorableScreen {
    let restorationIdentifier = "generic"
    @Restored var value: Value

    init(_ value: Value) { _value = Restored(wrappedValue: value) }
  }

  private final class Owner {}

  private final class UnownedScreen: @MainActor RestorableScreen {
    unowned var owner: Owner
    @Restored var draft = ""

    init(_ owner: Owner) { self.owner = owner }
  }

  func testFieldsOfAScreenAndItsSuperclassesComeBack() async throws {
    let screen = NoteScreen()
    screen.draft = "Milk"
    screen.cursor = 3
    screen.values = [1, 2]
    screen.count = 9
    screen.other = "changed"
    let tester = RestorationTester()
    let again = try await tester.restart(screen) { NoteScreen() }
    XCTAssertEqual(again.draft, "Milk")
    XCTAssertEqual(again.cursor, 3)
    XCTAssertEqual(again.values, [1, 2])
    XCTAssertEqual(again.count, 9)
    XCTAssertEqual(again.other, "not stored")
    XCTAssertEqual(tester.restored?.entries.map(\.path.description), ["NoteScreen"])
  }

  func testTheKeyOfAFieldIsItsNameUnlessItIsGivenOne() async throws {
    final class Keys: @MainActor RestorableNode {
      let restorationIdentifier = "NoteScreen"
      var keys: [String] = []
      func decodeRestorableState(with coder: StateDecoder) { keys = coder.keys }
    }
    let tester = RestorationTester()
    tester.allowsProblems = true
    let screen = NoteScreen()
    _ = try await tester.launch().restore(into: [])
    _ = try await XCTUnwrap(tester.keeper).save([screen])
    tester.prepareKeeper = { try $0.register(Keys.self, as: "NoteScreen") }
    let keys = Keys()
    _ = try await tester.launch().restore(into: [keys])
    XCTAssertEqual(keys.keys.sorted(), ["draft", "hidden", "inherited", "position"])
  }

  func testAScreenOfAGenericClassHasItsFields() async throws {
    let screen = GenericScreen(["a"])
    screen.value = ["b", "c"]
    let again = try await RestorationTester().restart(screen) { GenericScreen(["a"]) }
    XCTAssertEqual(again.value, ["b", "c"])
  }

  func testAnUnownedPropertyThatIsGoneEndsNothing() async throws {
    func make() -> UnownedScreen { UnownedScreen(Owner()) }
    let screen = make()
    screen.draft = "Milk"
    let again = try await RestorationTester().restart(screen) { make() }
    XCTAssertEqual(again.draft, "Milk")
  }

  func testSettingAFieldIsTheAnnouncement() async throws {
    let tester = RestorationTester()
    tester.allowsProblems = true
    let keeper = try tester.launch()
    let (screen, other) = (NoteScreen(), GenericScreen(1))
    _ = try await keeper.restore(into: [screen, other])
    _ = try await keeper.save([screen, other])
    screen.cursor = 4
    let report = try await keeper.save([screen, other])
    XCTAssertEqual(report.entries.map(\.path.description), ["NoteScreen"])
    XCTAssertGreaterThan(report.writtenByteCount, 0)
    screen.cursor = 4
    let nothing = try await keeper.save([screen, other])
    XCTAssertEqual(nothing.entries, [])
    XCTAssertEqual(nothing.writtenByteCount, 0)
  }

  func testAFieldThatDoesNotFitCostsNoOther() async throws {
    final class Changed: @MainActor RestorableScreen {
      let restorationIdentifier = "NoteScreen"
      @Restored var draft = 7
      @Restored("position") var cursor = 0
      @Restored var inherited = 0
      @Restored var hidden: [Int] = []
    }
    let tester = RestorationTester()
    tester.allowsProblems = true
    let screen = NoteScreen()
    screen.draft = "Milk"
    screen.cursor = 3
    _ = try await tester.launch().restore(into: [])
    _ = try await XCTUnwrap(tester.keeper).save([screen])
    tester.prepareKeeper = { try $0.register(Changed.self, as: "NoteScreen") }
    let changed = Changed()
    let restored = try await tester.launch().restore(into: [changed])
    XCTAssertEqual(changed.draft, 7)
    XCTAssertEqual(changed.cursor, 3)
    guard case .fieldReplaced("draft", _)? = restored.entries.first?.notes.first else {
      return XCTFail("\(restored)")
    }
    let saved = try await XCTUnwrap(tester.keeper).save([changed])
    // What is stored of the field is still there.
    XCTAssertEqual(saved.writtenByteCount, 0)
  }

  func testTwoFieldsOfOneKeyAreAProblem() async throws {
    final class Twice: @MainActor RestorableScreen {
      @Restored("a") var one = 1
      @Restored("a") var two = 2
    }
    let tester = RestorationTester()
    tester.allowsProblems = true
    _ = try await tester.launch().restore(into: [])
    let report = try await XCTUnwrap(tester.keeper).save([Twice()])
    XCTAssertEqual(report.entries.first?.notes, [.fieldKeyTwice(key: "a")])
  }

  // MARK: Large fields

  private var edits: [String] { (0..<1000).map { "The edit with the number \($0)" } }

  func testLargeFieldsOfTwoScreensOfOneClassStayApart() async throws {
    final class Numbered: @MainActor RestorableScreen {
      let restorationIdentifier: String
      @Restored var edits: [String] = []
      init(_ number: Int) { restorationIdentifier = "screen \(number)" }
    }
    let screens = [Numbered(1), Numbered(2)]
    for (number, screen) in screens.enumerated() { screen.edits = edits + ["\(number)"] }
    let again = try await RestorationTester().restart(screens) { [Numbered(1), Numbered(2)] }
    let back = try again.map { try XCTUnwrap($0 as? Numbered).edits }
    XCTAssertEqual(back, [edits + ["0"], edits + ["1"]])
  }
}
