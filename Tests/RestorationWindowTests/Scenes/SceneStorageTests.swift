import ArchiveCodec
import Observation
import RestorationKit
import TestSupport
import XCTest

@MainActor
final class SceneStorageTests: XCTestCase {
  private let launch = Launch()

  private func host() async throws -> SceneHost {
    let host = SceneHost(try launch.keeper())
    host.register(SceneConfiguration { TestSceneDelegate() })
    try await host.launch()
    return host
  }

  func testAllOfOneKeyInASceneAreOneValueAndOtherScenesHaveTheirOwn() async throws {
    let host = try await host()
    let (scene, other) = (try await host.open(), try await host.open())
    let (one, two, three) = (DraftModel(scene), DraftModel(scene), DraftModel(other))
    one.draft = "x"
    XCTAssertEqual([one.draft, two.draft, three.draft], ["x", "x", ""])
    three.draft = "z"
    two.draft = "y"
    try await host.saveChangedScenes()
    // Of both sessions, what the next launch brings back.
    let next = try await self.host()
    var drafts: [SceneSession: [String]] = [:]
    for session in next.openSessions {
      let back = try await next.connect(session)
      drafts[session] = [DraftModel(back).draft, DraftModel(back).draft]
    }
    XCTAssertEqual(drafts, [scene.session: ["y", "y"], other.session: ["z", "z"]])
  }

  func testAValueComesBackWithItsSceneAndNotWithANewOne() async throws {
    let first = try await host()
    let scene = try await first.open()
    DraftModel(scene).draft = "text"
    DraftModel(scene).tags = ["a": [1, 2]]
    try await first.disconnect(scene)
    let second = try await host()
    let back = DraftModel(try await second.connect(second.openSessions[0]))
    XCTAssertEqual(back.draft, "text")
    XCTAssertEqual(back.tags, ["a": [1, 2]])
    XCTAssertEqual(OtherDefault(back.scene).draft, "text", "A stored value beats a new default.")
    let new = try await second.open()
    XCTAssertEqual(DraftModel(new).draft, "")
  }

  func testAValueIsThereAgainWhenItsSessionConnectsInTheSameLaunch() async throws {
    let host = try await host()
    let scene = try await host.open()
    DraftModel(scene).draft = "text"
    try await host.disconnect(scene)
    let back = try await host.connect(scene.session)
    XCTAssertFalse(back === scene)
    XCTAssertEqual(DraftModel(back).draft, "text")
    XCTAssertFalse(back.needsSave)
    XCTAssertNil(DraftModel(back).tags)
  }

  func testAValueGoesWithTheSceneThatTheUserCloses() async throws {
    let first = try await host()
    let scene = try await first.open()
    DraftModel(scene).draft = "text"
    try await first.save(scene)
    XCTAssertEqual(try launch.storedRecords()?.strays.count, 1)
    try await first.close(scene)
    XCTAssertEqual(try launch.storedRecords()?.strays, [])
    let new = try await first.open()
    XCTAssertEqual(DraftModel(new).draft, "")
    XCTAssertNotEqual(new.session, scene.session)
    try await first.save(new)
    let second = try await host()
    XCTAssertEqual(second.openSessions, [new.session])
    let back = try await second.connect(second.openSessions[0])
    XCTAssertEqual(DraftModel(back).draft, "")
  }

  func testAValueThatNobodyReadStaysStored() async throws {
    let first = try await host()
    let scene = try await first.open()
    DraftModel(scene).draft = "text"
    try await first.disconnect(scene)
    let second = try await host()
    try await second.disconnect(try await second.connect(second.openSessions[0]))
    let third = try await host()
    let back = try await third.connect(third.openSessions[0])
    XCTAssertEqual(DraftModel(back).draft, "text")
  }

  func testAValueThatIsOnlyReadStaysAsItWasStored() async throws {
    let first = try await host()
    let scene = try await first.open()
    PairModel(scene).pair = Pair(left: 1, right: 2)
    try await first.save(scene)
    let second = try await host()
    let older = try await second.connect(second.openSessions[0])
    XCTAssertEqual(OlderPairModel(older).pair.left, 1)
    try await second.save(older)
    let third = try await host()
    let back = try await third.connect(third.openSessions[0])
    XCTAssertEqual(PairModel(back).pair, Pair(left: 1, right: 2))
  }

  func testAKeyThatNoArchiveTakesIsReportedAndKeepsNothingElseFromIt() async throws {
    let first = try await host()
    let scene = try await first.open()
    DraftModel(scene).draft = "text"
    LongKeyModel(scene).value = 1
    let report = try await first.save(scene)
    guard case .storageEncodingFailed(key: LongKeyModel.key, _) = report.notes.first else {
      return XCTFail("\(report)")
    }
    let second = try await host()
    let back = try await second.connect(second.openSessions[0])
    XCTAssertEqual(DraftModel(back).draft, "text")
  }

  func testNilIsAValueLikeOthers() async throws {
    let first = try await host()
    let scene = try await first.open()
    DraftModel(scene).tags = ["a": [1]]
    try await first.save(scene)
    DraftModel(scene).tags = nil
    XCTAssertNil(DraftModel(scene).tags)
    let report = try await first.save(scene)
    XCTAssertEqual(report.problems, [])
    let second = try await host()
    let back = try await second.connect(second.openSessions[0])
    XCTAssertNil(DraftModel(back).tags)
    let again = try await second.save(back)
    XCTAssertEqual(again.problems, [])
  }

  func testAnotherTypeGivesTheDefaultAndAnEntryInTheReport() async throws {
    let first = try await host()
    let scene = try await first.open()
    DraftModel(scene).draft = "text"
    try await first.disconnect(scene)
    let second = try await host()
    let back = try await second.connect(second.openSessions[0])
    XCTAssertEqual(NumberModel(back).draft, 7)
    let report = try await second.save(back)
    guard case .storageTypeMismatch(key: "draft", let reason) = report.notes.first else {
      return XCTFail("\(report)")
    }
    XCTAssertTrue(reason.contains("found string, expected integer"), reason)
    XCTAssertEqual(report.notes.count, 1)
    XCTAssertEqual(DraftModel(back).draft, "text")
    // It is used already, so it is of a type.
    XCTAssertEqual(NumberModel(back).draft, 7)
    let again = try await second.save(back)
    XCTAssertEqual(
      again.notes,
      [
        .storageTypeMismatch(
          key: "draft", "String is stored, Int was asked for. Give each type a key of its own.")
      ])
  }

  func testAChangeMarksTheSceneAndASaveClearsTheMark() async throws {
    let host = try await host()
    let scene = try await host.open()
    let model = DraftModel(scene)
    XCTAssertTrue(scene.needsSave, "A new window is a change.")
    try await host.save(scene)
    XCTAssertFalse(scene.needsSave)
    model.draft = "x"
    XCTAssertTrue(scene.needsSave)
    try await host.save(scene)
    XCTAssertFalse(scene.needsSave)
  }

  func testReadingAValueIsObserved() async throws {
    let scene = try await host().open()
    let model = DraftModel(scene)
    let changes = Changes()
    withObservationTracking({ _ = model.draft }, onChange: { changes.note() })
    model.draft = "x"
    XCTAssertEqual(changes.count, 1)
  }

  func testReadingAValueOfAnObservableClassIsObserved() async throws {
    let scene = try await host().open()
    let model = ObservableModel(scene)
    let changes = Changes()
    withObservationTracking({ _ = model.draft }, onChange: { changes.note() })
    model.draft = "x"
    XCTAssertEqual(changes.count, 1)
  }

  /// How often a reader of the draft is told of a change.
  private func changes(of model: DraftModel, _ change: () -> Void) -> Int {
    let changes = Changes()
    withObservationTracking({ _ = model.draft }, onChange: { changes.note() })
    change()
    return changes.count
  }

  func testAReaderIsToldOfItsOwnKeyAlone() async throws {
    let scene = try await host().open()
    let model = DraftModel(scene)
    XCTAssertEqual(changes(of: model) { model.tags = ["a": [1]] }, 0)
    XCTAssertEqual(changes(of: model) { DraftModel(scene).draft = "x" }, 1)
  }

  func testAReaderIsNotToldOfAnEqualValue() async throws {
    let host = try await host()
    let scene = try await host.open()
    let model = DraftModel(scene)
    XCTAssertEqual(changes(of: model) { model.draft = "x" }, 1)
    try await host.save(scene)
    XCTAssertEqual(changes(of: model) { model.draft = "x" }, 0)
    XCTAssertFalse(scene.needsSave, "Nothing of it can be stored otherwise.")
    XCTAssertEqual(changes(of: model) { OtherDefault(scene).draft = "x" }, 0)
    XCTAssertEqual(changes(of: model) { NumberModel(scene).draft = 1 }, 1, "another type")
  }

  func testAValueThatCannotBeComparedTellsOfEverySetting() async throws {
    let scene = try await host().open()
    let model = OlderPairModel(scene)
    for _ in 1...2 {
      let changes = Changes()
      withObservationTracking({ _ = model.pair }, onChange: { changes.note() })
      model.pair = OlderPair()
      XCTAssertEqual(changes.count, 1)
    }
  }

  func testADefaultThatWasSetStaysWhatItWasSetTo() async throws {
    let first = try await host()
    let scene = try await first.open()
    try await first.save(scene)
    DraftModel(scene).draft = ""
    XCTAssertTrue(scene.needsSave, "It is stored from now on.")
    try await first.save(scene)
    let second = try await host()
    let back = try await second.connect(second.openSessions[0])
    XCTAssertEqual(OtherDefault(back).draft, "")
  }
}

private struct Pair: Codable, Hashable, Sendable {
  var left = 0
  var right = 0
}

/// What an older version of the app knows of it.
private struct OlderPair: Codable, Sendable {
  var left = 0
}

@MainActor
private final class PairModel: @MainActor SceneMember {
  let scene: RestorableScene
  @SceneStorage("pair") var pair = Pair()

  init(_ scene: RestorableScene) {
    self.scene = scene
  }
}

@MainActor
private final class OlderPairModel: @MainActor SceneMember {
  let scene: RestorableScene
  @SceneStorage("pair") var pair = OlderPair()

  init(_ scene: RestorableScene) {
    self.scene = scene
  }
}

@MainActor
private final class LongKeyModel: @MainActor SceneMember {
  static let key = String(repeating: "k", count: 3000)
  let scene: RestorableScene
  @SceneStorage(key) var value = 0

  init(_ scene: RestorableScene) {
    self.scene = scene
  }
}

@MainActor
private final class OtherDefault: @MainActor SceneMember {
  let scene: RestorableScene
  @SceneStorage("draft") var draft = "another"

  init(_ scene: RestorableScene) {
    self.scene = scene
  }
}

@MainActor
private final class NumberModel: @MainActor SceneMember {
  let scene: RestorableScene
  @SceneStorage("draft") var draft = 7

  init(_ scene: RestorableScene) {
    self.scene = scene
  }
}

/// The macro makes computed properties of stored ones, which no wrapper can be on.
@MainActor
@Observable
private final class ObservableModel: @MainActor SceneMember {
  let scene: RestorableScene
  @ObservationIgnored @SceneStorage("draft") var draft = ""

  init(_ scene: RestorableScene) {
    self.scene = scene
  }
}

private final class Changes: @unchecked Sendable {
  // Counted on one thread.
  private(set) var count = 0

  func note() {
    count += 1
  }
}
