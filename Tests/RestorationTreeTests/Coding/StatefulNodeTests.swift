import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// Nodes whose state is one value.
@MainActor
final class StatefulNodeTests: XCTestCase {
  private var launch = Launch()

  /// Saves one node and restores another one, whose type may be a later form of it.
  @discardableResult
  private func restart(
    _ saved: some RestorableNode, into restored: some RestorableNode
  ) async throws -> RestorationReport {
    launch = Launch()
    let keeper = try launch.keeper()
    try keeper.register(type(of: saved), as: "Note")
    let report = try await keeper.save([saved])
    XCTAssertEqual(report.problems, [])
    await keeper.close()
    let later = try launch.keeper()
    try later.register(type(of: restored), as: "Note")
    return try await later.restore(into: [restored])
  }

  func testTheStateComesBack() async throws {
    let node = Noted<NoteState>(NoteState())
    node.restorableState = NoteState(
      title: "A", lines: ["b", "c"], place: Place(row: 3, column: 4))
    let again = Noted(NoteState())
    let report = try await restart(node, into: again)
    XCTAssertEqual(again.restorableState, node.restorableState)
    XCTAssertEqual(report.problems, [])
  }

  func testAnythingCodableIsAState() async throws {
    func check<State: Codable & Equatable>(_ state: State, _ other: State) async throws {
      let again = Noted(other)
      try await restart(Noted(state), into: again)
      XCTAssertEqual(again.restorableState, state)
    }
    try await check(5, 6)
    try await check([1.5, 2], [])
    try await check(["a": Place(row: 1, column: 2)], [:])
    try await check(Mode.all, .none)
    try await check(Place?.none, Place(row: 1, column: 1))
    try await check(Choice.some(Place(row: 1, column: 2)), .nothing)
  }

  func testWithoutAStoredStateTheObjectKeepsItsOwn() async throws {
    let again = Noted(NoteState(title: "own"))
    let report = try await restart(TestNode("note"), into: again)
    XCTAssertEqual(again.restorableState, NoteState(title: "own"))
    XCTAssertFalse(report.problems.contains { $0.outcome.description.contains("Error") })
  }

  // MARK: Fields that are not stored

  func testANewFieldKeepsWhatItHas() async throws {
    let again = Noted(LaterState(title: "own", size: 12, inner: .init(row: 1, depth: 2)))
    try await restart(
      Noted(EarlierState(title: "stored", inner: .init(row: 7))), into: again)
    XCTAssertEqual(
      again.restorableState, LaterState(title: "stored", size: 12, inner: .init(row: 7, depth: 2)))
  }

  func testANewOptionalFieldIsNil() async throws {
    let later = LaterState(title: "own", size: 12, inner: .init(row: 1, depth: 2), hint: "own")
    let again = Noted(later)
    try await restart(
      Noted(EarlierState(title: "stored", inner: .init(row: 7))), into: again)
    XCTAssertNil(again.restorableState.hint)
  }

  func testAFieldThatIsNoCodingKeyGoesBackToItsDefault() async throws {
    let saved = Noted(PartlyStored(title: "stored"))
    saved.restorableState.cache = 1
    let again = Noted(PartlyStored(title: "own"))
    again.restorableState.cache = 2
    let report = try await restart(saved, into: again)
    XCTAssertEqual(report.problems, [])
    XCTAssertEqual(again.restorableState, PartlyStored(title: "stored"))
    XCTAssertEqual(again.restorableState.cache, 7)
  }

  func testAFieldThatIsOneValueOrManyIsFilledInInEveryForm() async throws {
    let own = EveryForm(
      flag: true, count: 1, size: 1.5, name: "own", small: 7, wide: 1 << 100, uwide: 1 << 120,
      date: Date(timeIntervalSince1970: 5), data: Data([1]), list: [1, 2], names: ["x"],
      inner: .init(row: 3), map: ["k": 1], choice: .all)
    let again = Noted(own)
    try await restart(Noted(["other": 1]), into: again)
    XCTAssertEqual(again.restorableState, own)
  }

  func testFieldsOfElementsAreNotFilledIn() async throws {
    struct Earlier: Codable {
      var title = "stored"
      var list = [EarlierState.Inner(row: 1)]
      var map = ["k": EarlierState.Inner(row: 1)]
    }
    struct InList: Codable, Equatable {
      var title = "own"
      var list = [LaterState.Inner(row: 8, depth: 9)]
      var added = 1
    }
    struct InMap: Codable, Equatable {
      var title = "own"
      var map = ["k": LaterState.Inner(row: 8, depth: 9)]
      var added = 1
    }
    let (list, map) = (Noted(InList()), Noted(InMap()))
    let first = try await restart(Noted(Earlier()), into: list)
    let second = try await restart(Noted(Earlier()), into: map)
    XCTAssertEqual(list.restorableState, InList(title: "stored"))
    XCTAssertEqual(map.restorableState, InMap(title: "stored"))
    for report in [first, second] {
      XCTAssertTrue("\(report)".contains("depth"), "\(report)")
    }
  }

  func testADecoderThatTriesAnOldNameSeesWhatIsStored() async throws {
    let again = Noted(Renamed(text: "own", added: 4))
    try await restart(Noted(["title": "stored"]), into: again)
    XCTAssertEqual(again.restorableState, Renamed(text: "stored", added: 4))
  }

  func testNestedContainersAndSuperDecodersAreFilledIn() async throws {
    let own = ByHand(text: "own", number: 3, base: 4, list: [5])
    let again = Noted(own)
    try await restart(Noted(["text": "stored"]), into: again)
    XCTAssertEqual(again.restorableState, ByHand(text: "stored", number: 3, base: 4, list: [5]))
  }

  // MARK: What does not fit

  func testAFieldOfAnotherTypeKeepsWhatItHas() async throws {
    let again = Noted(NoteState(title: "own"))
    let report = try await restart(Noted(["title": 5]), into: again)
    XCTAssertEqual(again.restorableState, NoteState(title: "own"))
    XCTAssertEqual(report.problems.map(\.path.description), ["note"])
    XCTAssertTrue("\(report)".contains("title"), "\(report)")
  }

  func testAMigrationChangesTheFields() async throws {
    let node = Noted(["headline": "stored"])
    let keeper = try launch.keeper()
    try keeper.register(Noted<[String: String]>.self, as: "Note", version: 1)
    _ = try await keeper.save([node])
    await keeper.close()
    let later = try launch.keeper()
    try later.register(
      Noted<NoteState>.self, as: "Note", version: 2,
      migrations: [
        1: { state in
          try state.changeContainer(forKey: StateEncoder.stateKey) {
            try $0.rename("headline", to: "title")
          }
        }
      ])
    let again = Noted(NoteState(title: "own", lines: ["own"]))
    _ = try await later.restore(into: [again])
    XCTAssertEqual(again.restorableState, NoteState(title: "stored", lines: ["own"]))
  }

  // MARK: Nodes that are made

  /// Saves a node of a state and lets a closure make it at the next launch.
  private func remake<Stored: Codable, State: Codable>(
    _ state: Stored, _ make: @escaping (StateDecoder) throws -> Noted<State>
  ) async throws -> RestorationReport {
    launch = Launch()
    let keeper = try launch.keeper()
    try keeper.register(Noted<Stored>.self, as: "Note") { _, _ in nil }
    _ = try await keeper.save([TestNode("root", children: [Noted(state)])])
    let later = try launch.keeper()
    try later.register(Noted<State>.self, as: "Note") { _, coder in try make(coder) }
    return try await later.restore(into: [TestNode("root")])
  }

  func testANodeIsMadeFromItsState() async throws {
    for defaults in [nil, NoteState(title: "default", lines: ["default"])] {
      var made: Noted<NoteState>?
      let report = try await remake(NoteState(title: "stored")) { coder in
        let node = Noted(
          try coder.decodeState(of: Noted<NoteState>.self, defaults: defaults))
        made = node
        return node
      }
      XCTAssertEqual(made?.restorableState, NoteState(title: "stored"))
      XCTAssertEqual(report.outcome(of: "root/note"), .restored(by: .restorationClass))
    }
  }

  func testFieldsThatAreMissingWhereANodeIsMadeHaveTheDefaultsOrThrow() async throws {
    let own = LaterState(title: "own", size: 12, inner: .init(row: 1, depth: 2))
    for defaults in [nil, own] {
      var made: Noted<LaterState>?
      let report = try await remake(EarlierState(title: "stored", inner: .init(row: 7))) { coder in
        let node = Noted(try coder.decodeState(of: Noted<LaterState>.self, defaults: defaults))
        made = node
        return node
      }
      guard defaults != nil else {
        XCTAssertNil(made)
        guard case .factoryFailed(.restorationClass, let reason) = report.outcome(of: "root/note")
        else {
          XCTFail("\(report)")
          continue
        }
        XCTAssertTrue(reason.contains("size"), reason)
        continue
      }
      XCTAssertEqual(
        made?.restorableState,
        LaterState(title: "stored", size: 12, inner: .init(row: 7, depth: 2)))
    }
  }

  func testWithoutAStoredStateNoneIsMadeUp() async throws {
    var thrown: [ArchiveError.Code] = []
    let keeper = try launch.keeper()
    try keeper.register(SpecialTestNode.self, as: "Note") { _, _ in nil }
    _ = try await keeper.save([TestNode("root", children: [SpecialTestNode("note", value: "x")])])
    for defaults in [nil, 5] {
      let later = try launch.keeper()
      try later.register(SpecialTestNode.self, as: "Note") { _, coder in
        do {
          _ = try coder.decodeState(of: Noted<Int>.self, defaults: defaults)
        } catch let error as ArchiveError {
          thrown.append(error.code)
        }
        return nil
      }
      _ = try await later.restore(into: [TestNode("root")])
    }
    XCTAssertEqual(thrown, [.keyNotFound, .keyNotFound])
  }

  // MARK: Hooks besides it

  func testHooksMayAddToTheValue() async throws {
    let node = Hooked(Place(row: 1, column: 2))
    node.added = "s"
    let again = Hooked(Place(row: 0, column: 0))
    try await restart(node, into: again)
    XCTAssertEqual(again.restorableState, Place(row: 1, column: 2))
    XCTAssertEqual(again.added, "s")
    XCTAssertEqual(again.stateWhileDecoding, Place(row: 1, column: 2))
  }

  func testAHookOfOneKindAloneLosesNothingOfTheValue() async throws {
    let (encoding, again) = (EncodingNoted(1), EncodingNoted(0))
    let report = try await restart(encoding, into: again)
    XCTAssertEqual(again.restorableState, 1)
    XCTAssertEqual(report.notes, [.unreadKeys(["more"])])
    let (decoding, other) = (DecodingNoted(1), DecodingNoted(0))
    let clean = try await restart(decoding, into: other)
    XCTAssertEqual(other.restorableState, 1)
    XCTAssertEqual(clean.problems, [])
  }

  func testAHookThatThrowsLeavesTheValueBack() async throws {
    let again = ThrowingNoted(0)
    let report = try await restart(Noted(1), into: again)
    XCTAssertEqual(again.restorableState, 1)
    XCTAssertEqual(report.problems.map(\.path.description), ["note"])
  }

  func testViewsHaveStatesToo() async throws {
    let (node, again) = (TestNode("a"), TestNode("a"))
    let (view, other) = (Slider(), Slider())
    view.restorableState = 0.25
    node.restorationViews = [view]
    again.restorationViews = [other]
    try await restart(node, into: again)
    XCTAssertEqual(other.restorableState, 0.25)
  }

  // MARK: Saves

  func testAnUnchangedStateIsNotWrittenAndAChangedOneIs() async throws {
    let node = Noted(NoteState())
    let keeper = try launch.keeper()
    _ = try await keeper.save([node])
    let same = try await keeper.save([node])
    XCTAssertEqual(same.writtenByteCount, 0)
    node.restorableState.title = "changed"
    let changed = try await keeper.save([node])
    XCTAssertGreaterThan(changed.writtenByteCount, 0)
  }

  func testATrackedNodeSaysInItsDidSetThatItHasChanged() async throws {
    let node = TrackedNoted()
    let keeper = try launch.keeper()
    _ = try await keeper.save([node])
    node.reads = 0
    _ = try await keeper.save([node])
    XCTAssertEqual(node.reads, 0)
    node.restorableState = 2
    let changed = try await keeper.save([node])
    XCTAssertGreaterThan(changed.writtenByteCount, 0)
    XCTAssertGreaterThan(node.reads, 0)
  }
}

// MARK: - Nodes

@MainActor
private final class EncodingNoted: @MainActor StatefulNode {
  let restorationIdentifier: String? = "note"
  var restorableState: Int

  init(_ state: Int) { restorableState = state }

  func encodeRestorableState(with coder: StateEncoder) throws {
    coder.encode(5, forKey: "more")
  }
}

@MainActor
private final class DecodingNoted: @MainActor StatefulNode {
  let restorationIdentifier: String? = "note"
  var restorableState: Int

  init(_ state: Int) { restorableState = state }

  func decodeRestorableState(with coder: StateDecoder) throws {
    _ = coder.restoredChildren
  }
}

@MainActor
private final class ThrowingNoted: @MainActor StatefulNode {
  struct Failure: Error {}

  let restorationIdentifier: String? = "note"
  var restorableState: Int

  init(_ state: Int) { restorableState = state }

  func decodeRestorableState(with coder: StateDecoder) throws { throw Failure() }
}

@MainActor
private final class TrackedNoted: @MainActor StatefulNode {
  static var stateTracking: StateTracking { .invalidated }

  let restorationIdentifier: String? = "note"
  var reads = 0
  private var state = 1
  var restorableState: Int {
    get {
      reads += 1
      return state
    }
    set {
      state = newValue
      invalidateRestorableState()
    }
  }
}

@MainActor
private final class Hooked: @MainActor StatefulNode {
  let restorationIdentifier: String? = "note"
  var restorableState: Place
  var added: String?
  var stateWhileDecoding: Place?

  init(_ state: Place) { restorableState = state }

  func encodeRestorableState(with coder: StateEncoder) throws {
    coder.encode(added, forKey: "added")
  }

  func decodeRestorableState(with coder: StateDecoder) throws {
    stateWhileDecoding = restorableState
    added = try coder.decodeIfPresent(forKey: "added")
  }
}

@MainActor
private final class Slider: @MainActor RestorableView, @MainActor StatefulRestoring {
  let restorationIdentifier: String? = "volume"
  var restorableState = 0.5
}

// MARK: - States

private struct Place: Codable, Equatable {
  var row: Int
  var column: Int
}

private struct NoteState: Codable, Equatable {
  var title = ""
  var lines: [String] = []
  var place: Place?
}

/// A state with a field that is not stored.
private struct PartlyStored: Codable, Equatable {
  var title = ""
  var cache = 7

  private enum CodingKeys: CodingKey {
    case title
  }
}

private enum Mode: String, Codable { case none, all }

private enum Choice: Codable, Equatable {
  case nothing
  case some(Place)
}

private struct EarlierState: Codable {
  struct Inner: Codable {
    var row: Int
  }

  var title: String
  var inner: Inner
}

private struct LaterState: Codable, Equatable {
  struct Inner: Codable, Equatable {
    var row: Int
    var depth: Int
  }

  var title: String
  var size: Int
  var inner: Inner
  var hint: String?
}

private struct EveryForm: Codable, Equatable {
  struct Inner: Codable, Equatable {
    var row: Int
  }

  var flag: Bool
  var count: Int
  var size: Double
  var name: String
  var small: Int8
  var wide: Int128
  var uwide: UInt128
  var date: Date
  var data: Data
  var list: [Int]
  var names: [String]
  var inner: Inner
  var map: [String: Int]
  var choice: Mode
}

/// Reads what it was called before.
private struct Renamed: Codable, Equatable {
  var text: String
  var added: Int

  private enum OldKeys: CodingKey { case title }

  init(text: String, added: Int) { (self.text, self.added) = (text, added) }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let old = try decoder.container(keyedBy: OldKeys.self)
    text =
      try old.decodeIfPresent(String.self, forKey: .title)
      ?? container.decode(String.self, forKey: .text)
    added = try container.decode(Int.self, forKey: .added)
  }
}

private struct ByHand: Codable, Equatable {
  var text: String
  var number: Int
  var base: Int
  var list: [Int]

  private enum Key: CodingKey { case text, nested, number, list }

  init(text: String, number: Int, base: Int, list: [Int]) {
    (self.text, self.number, self.base, self.list) = (text, number, base, list)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(text, forKey: .text)
    var nested = container.nestedContainer(keyedBy: Key.self, forKey: .nested)
    try nested.encode(number, forKey: .number)
    var elements = container.nestedUnkeyedContainer(forKey: .list)
    for element in list { try elements.encode(element) }
    var single = container.superEncoder().singleValueContainer()
    try single.encode(base)
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    text = try container.decode(String.self, forKey: .text)
    number = try container.nestedContainer(keyedBy: Key.self, forKey: .nested)
      .decode(Int.self, forKey: .number)
    var elements = try container.nestedUnkeyedContainer(forKey: .list)
    var list: [Int] = []
    while !elements.isAtEnd { list.append(try elements.decode(Int.self)) }
    self.list = list
    base = try container.superDecoder().singleValueContainer().decode(Int.self)
  }
}
