import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// States of which some fields do not fit what is stored: which come back.
@MainActor
final class PartlyDecodedTests: PartlyDecodedTestCase {
  /// What a later form of a state, with a field of another type, is after a restore.
  private func check<Stored: Codable, Field: Codable & Equatable>(
    _ stored: Stored, _ own: Field, line: UInt = #line
  ) async throws {
    launch = Launch()
    try await save([Noted(Around(field: stored, title: "stored", page: 7))])
    let node = Noted(Around(field: own, title: "own", page: 1))
    let (_, report) = try await restore([node])
    XCTAssertEqual(
      node.restorableState, Around(field: own, title: "stored", page: 7), line: line)
    let fields = report.notes.compactMap { note -> String? in
      if case .fieldReplaced(let key, _) = note { key } else { nil }
    }
    XCTAssertEqual(fields, ["field"], line: line)
    XCTAssertEqual(report.problems.count, 1, line: line)
  }

  func testAFieldOfAnotherTypeIsTheNodesOwnAndTheOthersComeBack() async throws {
    try await check(5, "own")
    try await check("five", 6)
    try await check(5, Optional("own"))
    try await check(5, String?.none)
    try await check(Optional(5), "own")
    try await check([1, 2], ["own"])
    try await check("word", ["own"])
    try await check([1, 2], Place(row: 1, column: 2))
    try await check(Place(row: 3, column: 4), [5])
    try await check(Place(row: 3, column: 4), PlaceByName(row: "own", column: 2))
    try await check(Date(timeIntervalSince1970: 9), "own")
    try await check("yesterday", Date(timeIntervalSince1970: 5))
    try await check(Mode.all, Direction.up)
    try await check(Choice.place(Place(row: 1, column: 2)), Choice.Later.place("own"))
    try await check([Place(row: 1, column: 2)], [PlaceByName(row: "own", column: 2)])
    try await check(["k": Place(row: 1, column: 2)], ["k": PlaceByName(row: "own", column: 2)])
    try await check([Place(row: 1, column: 2)], [DeepPlace(row: 8, column: 9, depth: 1)])
    try await check(["k": Place(row: 1, column: 2)], ["k": DeepPlace(row: 8, column: 9, depth: 1)])
  }

  func testEachFieldThatDoesNotFitIsNamedWithThePlaceAndNoValue() async throws {
    try await save([
      Noted(Around(field: [Place(row: 1, column: 2)], title: "secret words", page: 7))
    ])
    let node = Noted(
      Around(
        field: [DeepPlace(row: 8, column: 9, depth: 1)], title: Place(row: 0, column: 0),
        page: "own"))
    let (_, report) = try await restore([node])
    XCTAssertEqual(
      report.description,
      """
      Restored 0 of 1 nodes, 1 with problems.
        note (Note): restored, already there
          problem: The stored “field” does not fit, so it is as it was before. Migrate it to its \
      new type; the next save sets the stored state aside. (There is no value at \
      restorableState/field/Index 0/depth.)
          problem: The stored “title” does not fit, so it is as it was before. Migrate it to its \
      new type; the next save sets the stored state aside. (There is no Dictionary<String, Any> at \
      restorableState/title. The stored value has another type. Decode it as the type it was \
      encoded as. (typeMismatch: found string, expected keyed container))
          problem: The stored “page” does not fit, so it is as it was before. Migrate it to its \
      new type; the next save sets the stored state aside. (There is no String at \
      restorableState/page. The stored value has another type. Decode it as the type it was \
      encoded as. (typeMismatch: found integer, expected string))
      """)
  }

  func testTheHeadlineCountsWhatCameBackWhole() async throws {
    let whole = TestNode("whole")
    try await save([Noted(TitleAndCount(title: "a", count: 1)), whole])
    let (_, report) = try await restore([Noted(TitleAndWord(title: "b", count: "c")), whole])
    XCTAssertEqual(
      report.description.split(separator: "\n").first,
      "Restored 1 of 2 nodes, 1 with problems.")
  }

  func testTheProblemNamesTheFieldAndTheOtherFieldsAreRestored() async throws {
    try await save([Noted(TitleAndCount(title: "stored", count: 1))])
    let node = Noted(TitleAndWord(title: "own", count: "own"))
    let (_, report) = try await restore([node])
    let problem = try XCTUnwrap(report.problems.first?.description)
    XCTAssertTrue(problem.contains("“count”"), problem)
    XCTAssertEqual(node.restorableState, TitleAndWord(title: "stored", count: "own"))
  }

  // MARK: Types that decode themselves

  func testATypeThatTriesSeveralFormsSeesOnlyWhatIsStored() async throws {
    try await save([Noted(EarlierShape(shape: .init(name: "stored")))])
    let own = LaterShape(shape: .round(.init(name: "own", radius: 3)), added: 4, title: "own")
    let node = Noted(own)
    let (_, report) = try await restore([node])
    XCTAssertEqual(
      node.restorableState, LaterShape(shape: .plain(.init(name: "stored")), added: 4, title: "own")
    )
    XCTAssertEqual(report.notes, [.missingFields(["added", "title"])])
  }

  func testAnErrorOfATypeThatNamesAFieldCostsThatField() async throws {
    try await save([Noted(["percent": 300, "page": 7])])
    let node = Noted(Checked(percent: 50, page: 1))
    let (_, report) = try await restore([node])
    XCTAssertEqual(node.restorableState, Checked(percent: 50, page: 7))
    XCTAssertEqual(report.problems.count, 1)
  }

  func testFieldsOfNestedContainersAreTakenWithTheOneAtTheTop() async throws {
    try await save([Noted(["text": "stored", "nested": "word", "base": "3"])])
    let own = ByHand(text: "own", number: 3, base: 4)
    let node = Noted(own)
    _ = try await restore([node])
    XCTAssertEqual(node.restorableState, ByHand(text: "stored", number: 3, base: 4))
  }

  func testAnErrorWithoutAPathCostsTheWholeValue() async throws {
    for failure in Refusing.Failure.allCases {
      launch = Launch()
      Refusing.failure = failure
      try await save([Noted(TitleAndCount(title: "stored", count: 1))])
      let node = Noted(Refusing(title: "own"))
      let (_, report) = try await restore([node])
      XCTAssertEqual(node.restorableState, Refusing(title: "own"))
      guard case .decodeFailed = report.outcome(of: "note") else {
        return XCTFail("\(report)")
      }
      XCTAssertEqual(
        report.description.split(separator: "\n").first, "Restored 0 of 1 nodes, 1 with problems.")
    }
  }

  func testValuesThatAreNoFieldsAreTakenWholeOrNotAtAll() async throws {
    func check<Stored: Codable, State: Codable & Equatable>(
      _ stored: Stored, _ own: State, line: UInt = #line
    ) async throws {
      launch = Launch()
      try await save([Noted(stored)])
      let node = Noted(own)
      let (_, report) = try await restore([node])
      XCTAssertEqual(node.restorableState, own, line: line)
      guard case .decodeFailed = report.outcome(of: "note") else {
        return XCTFail("\(report)", line: line)
      }
    }
    try await check(5, "own")
    try await check([1, 2], ["own"])
    try await check(["a": 1, "b": 2], ["a": "own"])
    try await check(Choice.place(Place(row: 1, column: 2)), Choice.Later.nothing)
    try await check(TitleAndCount(title: "a", count: 1), 5)
    try await check(5, TitleAndCount(title: "own", count: 1))
  }

  func testATypeThatAlwaysThrowsIsAskedOnceForEachFieldAtMost() async throws {
    try await save([Noted(TitleAndCount(title: "stored", count: 1))])
    Endless.count = 0
    let node = Noted(Endless())
    let (_, report) = try await restore([node])
    guard case .decodeFailed = report.outcome(of: "note") else { return XCTFail("\(report)") }
    XCTAssertLessThan(Endless.count, 5)
  }

  // MARK: All or nothing

  func testATypeCanAskForAllOrNothing() async throws {
    for isMissing in [false, true] {
      launch = Launch()
      if isMissing {
        try await save([AllOrNothing(["title": "stored"])])
      } else {
        try await save([AllOrNothing(TitleAndWord(title: "stored", count: "word"))])
      }
      let node = AllOrNothing(TitleAndCount(title: "own", count: 9))
      let (_, report) = try await restore([node])
      XCTAssertEqual(node.restorableState, TitleAndCount(title: "own", count: 9))
      guard case .decodeFailed(_, let reason) = report.outcome(of: "note") else {
        return XCTFail("\(report)")
      }
      XCTAssertTrue(reason.contains("count"), reason)
    }
  }

  // MARK: Missing fields

  func testAMissingFieldIsNamedAndIsNoProblem() async throws {
    try await save([
      Noted(Around(field: Place(row: 1, column: 2), title: "stored", page: 7))
    ])
    let node = Noted(
      Wider(
        field: DeepPlace(row: 0, column: 0, depth: 3), title: "own", page: 0, added: [1],
        hint: "own"))
    let (_, report) = try await restore([node])
    XCTAssertEqual(
      node.restorableState,
      Wider(
        field: DeepPlace(row: 1, column: 2, depth: 3), title: "stored", page: 7, added: [1],
        hint: nil))
    XCTAssertEqual(report.notes, [.missingFields(["added", "field.depth"])])
    XCTAssertEqual(report.problems, [])
    XCTAssertEqual(
      report.description,
      """
      Restored 1 of 1 nodes.
        note (Note): restored, already there; not stored, so as they were before: “added”, \
      “field.depth”
      """)
  }

  // MARK: Other places

  func testAFactoryGetsItsDefaultsForFieldsThatDoNotFit() async throws {
    let keeper = try launch.keeper()
    try keeper.register(Noted<TitleAndCount>.self, as: "Note") { _, _ in nil }
    _ = try await keeper.save([
      TestNode("root", children: [Noted(TitleAndCount(title: "stored", count: 1))])
    ])
    for isWhole in [false, true] {
      var made: Noted<TitleAndWord>?
      let later = try launch.keeper()
      try later.register(Noted<TitleAndWord>.self, as: "Note") { _, coder in
        let defaults = TitleAndWord(title: "default", count: "default")
        let node = Noted(
          try isWhole
            ? coder.decodeState(of: AllOrNothing<TitleAndWord>.self, defaults: defaults)
            : coder.decodeState(of: Noted<TitleAndWord>.self, defaults: defaults))
        made = node
        return node
      }
      let report = try await later.restore(into: [TestNode("root")])
      XCTAssertEqual(
        made?.restorableState, isWhole ? nil : TitleAndWord(title: "stored", count: "default"))
      let entry = try XCTUnwrap(report.entries.last)
      XCTAssertTrue(entry.reason.contains("count"), entry.reason)
      XCTAssertEqual(entry.outcome == .restored(by: .restorationClass), !isWhole)
    }
  }

  func testViewsAndObjectsLikewise() async throws {
    let root = TestNode("root")
    root.restorationViews = [Slider(TitleAndCount(title: "view", count: 1))]
    let shared = Shared(TitleAndCount(title: "object", count: 2))
    root.onEncode = { $0.encode(shared, forKey: "shared") }
    let keeper = try launch.keeper()
    try keeper.register(Slider<TitleAndCount>.self, as: "Slider")
    try keeper.register(Shared<TitleAndCount>.self, as: "Shared")
    keeper.registerObject(shared, restorationIdentifier: "shared")
    _ = try await keeper.save([root])
    await keeper.close()

    let later = try launch.keeper()
    try later.register(Slider<TitleAndWord>.self, as: "Slider")
    try later.register(Shared<TitleAndWord>.self, as: "Shared")
    let own = TitleAndWord(title: "own", count: "own")
    let (view, object) = (Slider(own), Shared(own))
    later.registerObject(object, restorationIdentifier: "shared")
    let again = TestNode("root")
    again.restorationViews = [view]
    let report = try await later.restore(into: [again])
    XCTAssertEqual(view.restorableState, TitleAndWord(title: "view", count: "own"))
    XCTAssertEqual(object.restorableState, TitleAndWord(title: "object", count: "own"))
    XCTAssertEqual(report.problems.filter { $0.reason.contains("“count”") }.count, 2)
  }

  func testAMigrationComesBefore() async throws {
    try await save([Noted(["headline": 5, "count": 6])])
    let keeper = try launch.keeper()
    try keeper.register(
      Noted<TitleAndWord>.self, as: "Note", version: 2,
      migrations: [
        1: { state in
          try state.changeContainer(forKey: StateEncoder.stateKey) {
            try $0.encode("migrated", forKey: "title")
          }
        }
      ])
    let node = Noted(TitleAndWord(title: "own", count: "own"))
    let report = try await keeper.restore(into: [node])
    XCTAssertEqual(node.restorableState, TitleAndWord(title: "migrated", count: "own"))
    XCTAssertEqual(report.notes.first, .migrated(from: 1))
    XCTAssertEqual(report.problems.count, 1)
  }

  func testAValueBesideTheStateComesBack() async throws {
    let saved = WithMore(TitleAndCount(title: "stored", count: 1))
    saved.added = "more"
    try await save([saved])
    let node = WithMore(TitleAndWord(title: "own", count: "own"))
    let (_, report) = try await restore([node])
    XCTAssertEqual(node.restorableState, TitleAndWord(title: "stored", count: "own"))
    XCTAssertEqual(node.added, "more")
    XCTAssertEqual(report.problems.count, 1)
  }
}

// MARK: - Nodes

@MainActor
private final class Slider<State: Codable>: @MainActor RestorableView,
  @MainActor StatefulRestoring
{
  let restorationIdentifier: String? = "slider"
  var restorableState: State

  init(_ state: State) { restorableState = state }
}

@MainActor
private final class Shared<State: Codable>: @MainActor RestorableObject,
  @MainActor StatefulRestoring
{
  var restorableState: State

  init(_ state: State) { restorableState = state }
}

@MainActor
private final class WithMore<State: Codable>: @MainActor StatefulNode {
  let restorationIdentifier: String? = "note"
  var restorableState: State
  var added: String?

  init(_ state: State) { restorableState = state }

  func encodeRestorableState(with coder: StateEncoder) throws {
    coder.encode(added, forKey: "added")
  }

  func decodeRestorableState(with coder: StateDecoder) throws {
    added = try coder.decodeIfPresent(forKey: "added")
  }
}

// MARK: - States

private struct Around<Field: Codable, Title: Codable, Page: Codable>: Codable {
  var field: Field
  var title: Title
  var page: Page
}

extension Around: Equatable where Field: Equatable, Title: Equatable, Page: Equatable {}

private struct Wider: Codable, Equatable {
  var field: DeepPlace
  var title: String
  var page: Int
  var added: [Int]
  var hint: String?
}

private struct Place: Codable, Equatable {
  var row: Int
  var column: Int
}

private struct PlaceByName: Codable, Equatable {
  var row: String
  var column: Int
}

private struct DeepPlace: Codable, Equatable {
  var row: Int
  var column: Int
  var depth: Int
}

private enum Mode: String, Codable { case none, all }

private enum Direction: String, Codable { case up, down }

private enum Choice: Codable, Equatable {
  case nothing
  case place(Place)

  enum Later: Codable, Equatable {
    case nothing
    case place(String)
  }
}

private struct EarlierShape: Codable {
  struct Plain: Codable, Equatable {
    var name: String
  }

  var shape: Plain
}

private struct LaterShape: Codable, Equatable {
  struct Round: Codable, Equatable {
    var name: String
    var radius: Int
  }

  enum Shape: Codable, Equatable {
    case plain(EarlierShape.Plain)
    case round(Round)

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if let round = try? container.decode(Round.self) {
        self = .round(round)
      } else {
        self = .plain(try container.decode(EarlierShape.Plain.self))
      }
    }

    func encode(to encoder: any Encoder) throws {
      switch self {
      case .plain(let plain): try plain.encode(to: encoder)
      case .round(let round): try round.encode(to: encoder)
      }
    }
  }

  var shape: Shape
  var added: Int
  var title: String
}

private struct Checked: Codable, Equatable {
  var percent: Int
  var page: Int

  init(percent: Int, page: Int) { (self.percent, self.page) = (percent, page) }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    percent = try container.decode(Int.self, forKey: .percent)
    page = try container.decode(Int.self, forKey: .page)
    guard percent <= 100 else {
      throw DecodingError.dataCorruptedError(
        forKey: .percent, in: container, debugDescription: "\(percent)")
    }
  }
}

private struct ByHand: Codable, Equatable {
  var text: String
  var number: Int
  var base: Int

  private enum Key: CodingKey { case text, nested, number }

  init(text: String, number: Int, base: Int) {
    (self.text, self.number, self.base) = (text, number, base)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(text, forKey: .text)
    var nested = container.nestedContainer(keyedBy: Key.self, forKey: .nested)
    try nested.encode(number, forKey: .number)
    var single = container.superEncoder().singleValueContainer()
    try single.encode(base)
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    text = try container.decode(String.self, forKey: .text)
    number = try container.nestedContainer(keyedBy: Key.self, forKey: .nested)
      .decode(Int.self, forKey: .number)
    base = try container.superDecoder().singleValueContainer().decode(Int.self)
  }
}

/// Throws errors that name no field of it.
private struct Refusing: Codable, Equatable {
  enum Failure: CaseIterable { case ownError, noPath, otherPath }

  private enum OtherKey: CodingKey { case title }
  private struct OwnError: Error {}

  @MainActor static var failure: Failure {
    get { unsafe shared }
    set { unsafe shared = newValue }
  }
  private nonisolated(unsafe) static var shared = Failure.ownError

  var title: String

  init(title: String) { self.title = title }

  init(from decoder: any Decoder) throws {
    switch unsafe Self.shared {
    case .ownError: throw OwnError()
    case .noPath:
      throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: ""))
    case .otherPath:
      // As that of a decoder of its own.
      throw DecodingError.dataCorrupted(.init(codingPath: [OtherKey.title], debugDescription: ""))
    }
  }
}

private struct Endless: Codable {
  private nonisolated(unsafe) static var calls = 0
  @MainActor static var count: Int {
    get { unsafe calls }
    set { unsafe calls = newValue }
  }

  var title = ""
  var count = 1

  init() {}

  init(from decoder: any Decoder) throws {
    unsafe Self.calls += 1
    let container = try decoder.container(keyedBy: CodingKeys.self)
    throw DecodingError.dataCorruptedError(
      forKey: unsafe Self.calls % 2 == 0 ? .title : .count, in: container, debugDescription: "")
  }
}
