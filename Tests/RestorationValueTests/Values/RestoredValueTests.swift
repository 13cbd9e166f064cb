import ArchiveCodec
import Foundation
import Observation
import RestorationKit
import Synchronization
import TestSupport
import XCTest

/// Values of an app with `@Restored`: each test is a series of launches of an app.
@MainActor
final class RestoredValueTests: XCTestCase {
  private let directory = MemoryStateDirectory()
  private var keys: (any KeyProvider)?

  private func launch<Result>(
    _ body: @MainActor () async throws -> Result
  ) async throws -> Result {
    let keys = try keys ?? .ephemeral()
    self.keys = keys
    return try await RestorationSession.launch(in: directory, keys, body)
  }

  private func begin(roots: @escaping @MainActor () -> [any RestorableNode] = { [] }) async throws {
    try await Restoration.begin("org.example.values", signals: [], roots: roots)
  }

  /// Begins a launch that nothing but ``save()`` saves, so that its reports are the same each time.
  private func beginWithoutAutosave() async throws {
    try await begin()
    try XCTUnwrap(Restoration.keeper).autosave { [] }.stop()
  }

  private struct App {
    @Restored("draft") var draft = ""
    @Restored("zoom") var zoom = 100
    @Restored("note") var note: UUID?
    @Restored("path") var path: [String] = []
  }

  func testValuesComeBackInTheNextLaunch() async throws {
    let note = UUID()
    try await launch {
      try await begin()
      let app = App()
      XCTAssertEqual(app.draft, "")
      app.draft = "Milk"
      app.zoom += 10
      app.note = note
      app.path = ["a", "b"]
    }
    try await launch {
      try await begin()
      let app = App()
      XCTAssertEqual(app.draft, "Milk")
      XCTAssertEqual(app.zoom, 110)
      XCTAssertEqual(app.note, note)
      XCTAssertEqual(app.path, ["a", "b"])
      XCTAssertEqual(Restoration.problems, [])
      let report = try XCTUnwrap(Restoration.report?.get())
      XCTAssertEqual(report.entries, [])
      XCTAssertEqual(try storedKeys(), ["draft", "note", "path", "zoom"])
    }
  }

  func testAValueThatNobodyReadsStaysThroughLaunches() async throws {
    try await launch {
      try await begin()
      App().draft = "Milk"
    }
    for zoom in [1, 2, 3] {
      try await launch {
        try await begin()
        App().zoom = zoom
        let isStored = await Restoration.end()
        XCTAssertTrue(isStored)
        XCTAssertEqual(try Restoration.lastSave?.get().problems, [])
      }
    }
    try await launch {
      try await begin()
      XCTAssertEqual(App().draft, "Milk")
      XCTAssertEqual(App().zoom, 3)
    }
  }

  func testTwoWrappersOfOneKeyAreOneValue() async throws {
    try await launch {
      try await begin()
      let (one, other) = (App(), App())
      let zoom = RestoredValue("zoom", default: 5)
      one.zoom = 7
      XCTAssertEqual(other.zoom, 7)
      XCTAssertEqual(zoom.value, 7)
      zoom.value = 8
      XCTAssertEqual(one.zoom, 8)
    }
  }

  // MARK: What is stored

  /// The keys of the values that the file has.
  private func storedKeys() throws -> [String] {
    let key = try XCTUnwrap(try keys?.key(creating: false))
    let archive = try XCTUnwrap(
      try Archive.open(
        directory.memory(named: "main"), key: key,
        context: ArchiveContext(["org.example.values", "main"])))
    return try archive.recordIdentifiers().filter { $0 >= 3 << 62 && $0 < .max - 8 }
      .compactMap { try archive.record($0)?.decode(String.self, forKey: "key") }.sorted()
  }

  /// The save of a launch, with all that it says.
  private func save() async throws -> PreservationReport {
    try await XCTUnwrap(Restoration.keeper).save([])
  }

  func testSettingAnEqualValueSavesNothing() async throws {
    try await launch {
      try await beginWithoutAutosave()
      App().draft = "Milk"
      let first = try await save()
      XCTAssertGreaterThan(first.writtenByteCount, 0)
      App().draft = "Milk"
      let autosave = try XCTUnwrap(Restoration.keeper).autosave { [] }
      await autosave.flush()
      XCTAssertFalse(autosave.needsSave)
      App().draft = "Milk"
      XCTAssertFalse(autosave.needsSave)
      App().draft = "Bread"
      XCTAssertTrue(autosave.needsSave)
    }
  }

  func testAChangeOfOneValueWritesThatOneAlone() async throws {
    try await launch {
      try await beginWithoutAutosave()
      App().draft = String(repeating: "A long draft. ", count: 200_000 / 14)
      App().zoom = 1
      _ = try await save()
      App().zoom = 2
      let report = try await save()
      XCTAssert((1...400).contains(report.writtenByteCount), "\(report.writtenByteCount)")
    }
    try await launch {
      try await beginWithoutAutosave()
      App().zoom = 3
      let report = try await save()
      XCTAssertLessThan(report.writtenByteCount, 1000)
      XCTAssertEqual(App().draft.count, 200_000 / 14 * 14)
    }
  }

  func testARemovedValueIsThatOfItsDeclarationAndIsNotStored() async throws {
    try await launch {
      try await begin()
      App().draft = "Milk"
      App().zoom = 3
    }
    try await launch {
      try await beginWithoutAutosave()
      Restoration.removeValue(forKey: "draft")
      let zoom = RestoredValue("zoom", default: 100)
      XCTAssertEqual(zoom.value, 3)
      zoom.remove()
      XCTAssertEqual(zoom.value, 100)
      XCTAssertEqual(App().draft, "")
      _ = try await save()
      // The nodes that were restored go with the first save, and nothing is left after it.
      let report = try await save()
      XCTAssertEqual(report.entries, [])
    }
    try await launch {
      try await begin()
      XCTAssertEqual(App().draft, "")
      let report = try XCTUnwrap(Restoration.report?.get())
      XCTAssertEqual(report.entries, [])
    }
  }

  func testObservationSeesAValueThatIsSetAndRestored() async throws {
    try await launch {
      let seen = Mutex(0)
      func watch() {
        withObservationTracking {
          _ = App().draft
        } onChange: {
          seen.withLock { $0 += 1 }
        }
      }
      try await begin()
      watch()
      App().draft = "Milk"
      XCTAssertEqual(seen.withLock { $0 }, 1)
      watch()
      App().draft = "Milk"
      App().zoom = 3
      XCTAssertEqual(seen.withLock { $0 }, 1)
    }
    try await launch {
      let seen = Mutex(0)
      withObservationTracking {
        _ = App().draft
      } onChange: {
        seen.withLock { $0 += 1 }
      }
      try await begin()
      XCTAssertEqual(seen.withLock { $0 }, 1)
    }
  }

  func testAValueThatNobodyHasSetIsNotStored() async throws {
    try await launch {
      try await beginWithoutAutosave()
      XCTAssertEqual(App().zoom, 100)
      App().draft = "Milk"
      let report = try await save()
      XCTAssertEqual(report.outcome, .saved)
      XCTAssertEqual(try storedKeys(), ["draft"])
    }
  }

  private actor Counter {
    @Restored("count") private var count = 0

    func add() -> Int {
      count += 1
      return count
    }
  }

  func testAnActorHasValuesOfTheApp() async throws {
    for expected in 1...2 {
      try await launch {
        try await begin()
        let count = await Counter().add()
        XCTAssertEqual(count, expected)
      }
    }
  }

  // MARK: Problems

  private struct Other {
    @Restored("draft") var draft = 7
  }

  func testAValueOfAnotherTypeIsAProblemAndStaysUntilItIsSet() async throws {
    try await launch {
      try await begin()
      App().draft = "Milk"
    }
    try await launch {
      try await begin()
      XCTAssertEqual(Other().draft, 7)
      guard case .storageTypeMismatch("draft", _)? = Restoration.problems.first else {
        return XCTFail("\(Restoration.problems)")
      }
      App().zoom = 1
    }
    try await launch {
      try await begin()
      XCTAssertEqual(App().draft, "Milk")
    }
    try await launch {
      try await beginWithoutAutosave()
      Other().draft = 8
      let report = try await save()
      XCTAssertEqual(report.entries.first?.notes.isEmpty, false)
    }
    for _ in 1...2 {
      try await launch {
        try await begin()
        let report = try XCTUnwrap(Restoration.report?.get())
        XCTAssertEqual(report.kept.map(\.path.description), ["@values/draft"])
        XCTAssertEqual(Other().draft, 8)
        Other().draft = 8
      }
    }
    // The version that has stored it finds it.
    try await launch {
      try await begin()
      XCTAssertEqual(App().draft, "Milk")
    }
  }

  func testAValueThatDidNotFitIsKeptOnceHoweverOftenItIsReplaced() async throws {
    try await launch {
      try await begin()
      App().draft = "text"
    }
    for number in 1...3 {
      try await launch {
        try await begin()
        if number == 2 {
          RestoredValue("draft", default: [0.0]).value = [1]
        } else {
          Other().draft = number
        }
      }
      XCTAssertEqual(try storedKeys(), ["draft", "draft"])
    }
    try await launch {
      try await begin()
      XCTAssertEqual(App().draft, "text")
      Restoration.removeValue(forKey: "draft")
    }
    XCTAssertEqual(try storedKeys(), [])
  }

  private struct Saved: Codable, Sendable, Equatable {
    var title = ""
    var count = 0
  }

  private struct Changed: Codable, Sendable, Equatable {
    var title = "none"
    var count = [0]
  }

  func testFieldsThatFitComeBackAndTheOthersAreNamed() async throws {
    try await launch {
      try await begin()
      RestoredValue("saved", default: Saved()).value = Saved(title: "Milk", count: 3)
    }
    try await launch {
      try await begin()
      let value = RestoredValue("saved", default: Changed())
      XCTAssertEqual(value.value, Changed(title: "Milk", count: [0]))
      guard case .fieldReplaced("saved.count", _)? = Restoration.problems.first else {
        return XCTFail("\(Restoration.problems)")
      }
    }
    try await launch {
      try await begin()
      XCTAssertEqual(
        RestoredValue("saved", default: Saved()).value, Saved(title: "Milk", count: 3))
    }
  }

  func testAKeyOfTwoTypesIsAProblem() async throws {
    try await launch {
      try await begin()
      App().draft = "Milk"
      let other = Other()
      other.draft = 8
      XCTAssertEqual(other.draft, 8)
      XCTAssertEqual(App().draft, "Milk")
      guard case .storageTypeMismatch("draft", let reason)? = Restoration.problems.first else {
        return XCTFail("\(Restoration.problems)")
      }
      XCTAssertEqual(
        reason, "String is stored, Int was asked for. Give each type a key of its own.")
    }
  }

  /// One word for a reader, and two for a file.
  private static let keysOfOneWord = ["caf\u{e9}", "cafe\u{301}"]

  func testKeysThatDifferInTheirUnicodeFormAloneAreOneKey() async throws {
    for keys in [Self.keysOfOneWord, Self.keysOfOneWord.reversed()] {
      try await launch {
        try await begin()
        RestoredValue(keys[0], default: 0).value = 1
        RestoredValue(keys[1], default: 0).value += 1
        XCTAssertEqual(RestoredValue(keys[0], default: 0).value, 2)
        let isStored = await Restoration.end()
        XCTAssertTrue(isStored)
      }
      for key in keys {
        try await launch {
          try await begin()
          XCTAssertEqual(RestoredValue(key, default: 0).value, 2)
          XCTAssertEqual(Restoration.problems, [])
        }
      }
    }
  }

  func testFieldsWhoseKeysDifferInTheirUnicodeFormAloneAreRefused() async throws {
    final class Screen: @MainActor RestorableScreen {
      @Restored("caf\u{e9}") var one = 1
      @Restored("cafe\u{301}") var two = 2
    }
    try await launch {
      let screen = Screen()
      try await begin { [screen] }
      screen.one = 3
      let isStored = await Restoration.end()
      XCTAssertFalse(isStored)
      XCTAssertEqual(Restoration.problems, [.fieldKeyTwice(key: Self.keysOfOneWord[0])])
    }
  }

  func testAValueThatIsUsedBeforeTheBeginIsAProblemAndComesBack() async throws {
    try await launch {
      try await begin()
      App().draft = "Milk"
    }
    try await launch {
      let app = App()
      XCTAssertEqual(app.draft, "")
      try await begin()
      XCTAssertEqual(app.draft, "Milk")
      XCTAssertEqual(Restoration.problems, [.valueUsedTooEarly(key: "draft")])
    }
  }

  func testTheNextSaveHasTheProblemsOfValues() async throws {
    try await launch {
      try await beginWithoutAutosave()
      App().draft = "Milk"
      _ = try await save()
      XCTAssertEqual(Other().draft, 7)
      let report = try await save()
      XCTAssertEqual(report.problems.map(\.notes), [Restoration.problems])
    }
  }

  private func error(_ body: () async throws -> Void) async -> (any Error)? {
    do {
      try await body()
      return nil
    } catch {
      return error
    }
  }

  private struct Keyless {
    @Restored var lost = 1
  }

  func testAValueWithoutAKeyOutsideOfAScreenIsAProblemThatNamesItsPlace() async throws {
    try await launch {
      try await begin()
      let keyless = Keyless()
      keyless.lost = 2
      XCTAssertEqual(keyless.lost, 2)
      guard case .valueWithoutKey(let place)? = Restoration.problems.first else {
        return XCTFail("\(Restoration.problems)")
      }
      XCTAssertEqual(
        place.split(separator: "/").last?.split(separator: ":").first, "RestoredValueTests.swift")
    }
  }

  func testASecondBeginThrows() async throws {
    try await launch {
      try await begin()
      let error = await error { try await begin() }
      XCTAssertEqual((error as? RestorationError)?.code, .alreadyBegun)
    }
  }

  func testABeginWithoutANameThrows() async throws {
    try await launch {
      let error = await error { try await Restoration.begin("", signals: []) }
      XCTAssertEqual((error as? RestorationError)?.code, .invalidName)
      try await begin()
    }
  }

  func testAStateThatCannotBeReadIsNoErrorAndIsSetAside() async throws {
    try await launch {
      try await begin()
      App().draft = "Milk"
    }
    keys = try .ephemeral()
    try await launch {
      try await beginWithoutAutosave()
      guard case .failure(let error)? = Restoration.report else { return XCTFail() }
      XCTAssertEqual(error.code, .archive)
      App().draft = "Bread"
      let report = try await save()
      XCTAssertNotNil(report.setAside)
    }
    try await launch {
      try await begin()
      XCTAssertEqual(App().draft, "Bread")
    }
  }

  func testTestsThatRunAtOnceDoNotShareValues() async throws {
    let keys = try StaticKeys()
    let tasks = (0..<20).map { number in
      Task { @MainActor in
        let session = RestorationSession(
          directory: MemoryStateDirectory(), keys: keys.provider,
          environment: ApplicationEnvironment(), now: { Date() })
        try await session.run {
          try await Restoration.begin("org.example.values", signals: [])
          App().zoom = number
          await Task.yield()
          XCTAssertEqual(App().zoom, number)
          await Restoration.end()
        }
      }
    }
    for task in tasks { try await task.value }
  }

  private struct StaticKeys: Sendable {
    let provider: any KeyProvider

    init() throws { provider = try .ephemeral() }
  }
}
