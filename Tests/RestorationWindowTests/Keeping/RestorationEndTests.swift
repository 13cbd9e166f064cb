#if os(Linux)
import Foundation
import RestorationKit
import RestorationTesting
import TestSupport
import XCTest

/// Apps that begin and end in each way, in processes of their own.
final class RestorationEndTests: XCTestCase {
  @MainActor
  private func begin() throws -> RestoredValue<Int> {
    guard AppUnderTest.current != nil else { throw XCTSkip("Runs in a process of its own.") }
    let value = RestoredValue("value", default: 0)
    try Restoration.beginNow("org.example.ends", signals: [])
    return value
  }

  @MainActor
  func testTheAppThatCallsExit() throws {
    let value = try begin()
    AppUnderTest.say("\(value.value)")
    value.value += 1
    exit(0)
  }

  /// What it says is what it has restored, and whether it could end in the midst of that.
  @MainActor
  func testTheAppThatEndsInTheMidstOfItsRestore() async throws {
    guard AppUnderTest.current != nil else { throw XCTSkip("Runs in a process of its own.") }
    let screen = Screen()
    var begun: StateKeeper?
    var save: Task<PreservationReport?, any Error>?
    var isStored: Bool?
    screen.onDecode = {
      isStored = begun?.endNow(saving: [screen])
      save = Task.immediate { try await begun?.save([screen]) }
      screen.text += "?"
    }
    try Restoration.beginNow("org.example.ends", signals: [], roots: { [screen] }) { begun = $0 }
    AppUnderTest.say("\(screen.text), \(isStored.map { "\($0)" } ?? "not asked")")
    screen.text += "!"
    _ = try await save?.value
    Restoration.endNow()
  }

  @MainActor
  func testTheAppThatCallsExitElsewhere() async throws {
    let value = try begin()
    AppUnderTest.say("\(value.value)")
    value.value += 1
    Thread.detachNewThread { exit(0) }
    // The main actor is free.
    try await Task.sleep(for: .seconds(60))
  }

  private final class Screen: RestorableNode {
    let restorationIdentifier = "screen"
    var text = ""
    var onDecode: (() -> Void)?

    func encodeRestorableState(with coder: StateEncoder) {
      coder.encode(text, forKey: "text")
    }

    func decodeRestorableState(with coder: StateDecoder) throws {
      text = try coder.decode(forKey: "text")
      onDecode?()
    }
  }

  /// What it says is what it has restored.
  @MainActor
  func testTheAppThatCallsExitElsewhereWhileTheMainThreadIsBusy() throws {
    guard AppUnderTest.current != nil else { throw XCTSkip("Runs in a process of its own.") }
    let screen = Screen()
    let (count, kept) = (RestoredValue("count", default: 0), RestoredValue("kept", default: ""))
    try Restoration.beginNow("org.example.ends", signals: [], roots: { [screen] })
    let report = try Restoration.report?.get()
    AppUnderTest.say(
      "\(count.value) \(kept.value) \(screen.text)"
        + " \(report?.problems.count ?? -1) \(report?.kept.count ?? -1)")
    switch count.value {
    case 0: break
    case 1:
      // All of it is stored before the busy end.
      (kept.value, screen.text) = ("here", "Milk")
      Restoration.keeper?.endNow()
    case 2: kept.value += "!"
    case 3: kept.remove()
    default: RestoredValue("new \(count.value)", default: 0).value = 1
    }
    count.value += 1
    Thread.detachNewThread { exit(0) }
    while true { sleep(1) }
  }

  private final class Model: SceneMember {
    let scene: RestorableScene
    @SceneStorage("page") var page = 0

    init(_ scene: RestorableScene) { self.scene = scene }
  }

  /// What it says is what its window has restored.
  @MainActor
  func testTheAppWithAWindowThatCallsExitElsewhereWhileTheMainThreadIsBusy() async throws {
    guard AppUnderTest.current != nil else { throw XCTSkip("Runs in a process of its own.") }
    let keeper = try await Restoration.begin("org.example.ends", signals: [])
    let host = SceneHost(keeper)
    host.register(SceneConfiguration { TestSceneDelegate() })
    try await host.launch()
    let scene: RestorableScene
    if let session = host.openSessions.first {
      scene = try await host.connect(session)
    } else {
      scene = try await host.open()
      try await host.saveChangedScenes()
    }
    let model = Model(scene)
    AppUnderTest.say("\(host.openSessions.count) \(model.page)")
    model.page += 1
    Thread.detachNewThread { exit(0) }
    while true { sleep(1) }
  }

  @MainActor
  func testTheAppThatEndsNow() throws {
    let value = try begin()
    AppUnderTest.say("\(value.value)")
    value.value += 1
    AppUnderTest.say(Restoration.endNow() ? "stored" : "not stored")
    _exit(0)
  }

  private func launches(of test: String, _ count: Int) throws -> [String] {
    let directory = try TemporaryDirectory()
    return try (0..<count).flatMap { _ in
      // Where apps have their state, as if nobody tested them.
      let process = try AppProcess.again(
        ["RestorationWindowTests.RestorationEndTests/\(test)"],
        environment: [
          "XDG_STATE_HOME": directory.child("state"), "XDG_DATA_HOME": directory.child("data"),
        ], folder: directory.path)
      return try process.remainingAnswers()
    }
  }

  func testAnAppThatCallsExitRightAfterAChangeLosesNothing() throws {
    XCTAssertEqual(try launches(of: "testTheAppThatCallsExit", 4), ["0", "1", "2", "3"])
  }

  func testAnAppCannotEndInTheMidstOfARestoreAndASaveWaitsForTheEndOfThat() throws {
    XCTAssertEqual(
      try launches(of: "testTheAppThatEndsInTheMidstOfItsRestore", 3),
      [", not asked", "!?, false", "!?!?, false"])
  }

  func testAnAppThatCallsExitOnAnotherThreadLosesNothing() throws {
    XCTAssertEqual(try launches(of: "testTheAppThatCallsExitElsewhere", 3), ["0", "1", "2"])
  }

  func testAnAppThatCallsExitElsewhereWhileTheMainThreadIsBusyStoresItsValuesAndNothingElse()
    throws
  {
    XCTAssertEqual(
      try launches(of: "testTheAppThatCallsExitElsewhereWhileTheMainThreadIsBusy", 7),
      [
        "0   0 0", "1   0 0", "2 here Milk 0 0", "3 here! Milk 0 0",
        "4  Milk 0 0", "5  Milk 0 0", "6  Milk 0 0",
      ])
  }

  func testAnExitElsewhereWhileTheMainThreadIsBusyStoresTheValuesOfWindows() throws {
    XCTAssertEqual(
      try launches(of: "testTheAppWithAWindowThatCallsExitElsewhereWhileTheMainThreadIsBusy", 3),
      ["1 0", "1 1", "1 2"])
  }

  func testAnAppThatEndsNowHasStoredAll() throws {
    XCTAssertEqual(
      try launches(of: "testTheAppThatEndsNow", 3),
      ["0", "stored", "1", "stored", "2", "stored"])
  }
}
#endif
