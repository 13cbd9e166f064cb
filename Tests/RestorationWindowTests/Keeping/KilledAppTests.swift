#if os(Linux)
import ArchiveCodec
import Foundation
import RestorationKit
import RestorationTesting
import TestSupport
import XCTest

/// Real processes that save windows to a real directory until they are killed.
///
/// Set `KILLED_APP_KILLS` for another number of kills than 25.
final class KilledAppTests: XCTestCase {
  private static let sceneCount = 3

  private var random = SeededGenerator()
  private let kills = LongTests.given("KILLED_APP_KILLS") ?? 25

  /// A keeper of this process; the key is beside the states.
  @MainActor
  private func keeper() throws -> StateKeeper {
    guard let app = AppUnderTest.current else { throw XCTSkip("Runs in a process of its own.") }
    let keeper = try StateKeeper(
      application: Launch.application, directory: app.directory, keys: app.keys)
    // A restore that is killed is not one that crashes.
    keeper.policy.crashThreshold = .max
    return keeper
  }

  /// Runs a test of this class in another process, and kills it at some moment
  /// after some answers.
  private func runAndKill(_ test: String, in directory: borrowing TemporaryDirectory) throws
    -> [String]
  {
    let process = try AppProcess.again(
      ["RestorationWindowTests.KilledAppTests/\(test)"], folder: directory.path)
    var lines: [String] = []
    let count = Int.random(in: 1...15, using: &random)
    while lines.count < count, let line = try process.answer() { lines.append(line) }
    // In the midst of whatever it does now.
    let end = ContinuousClock.now + .microseconds(.random(in: 0...6000, using: &random))
    while ContinuousClock.now < end {}
    XCTAssertEqual(process.kill(), .killed(signal: SIGKILL))
    return lines + (try process.remainingAnswers())
  }

  private func leftOver(in directory: borrowing TemporaryDirectory) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: directory.child("states"))
      .filter {
        !$0.hasPrefix(".") && !$0.hasSuffix(".rka") && !$0.contains(".rka.previous-")
          && !$0.hasSuffix(".history")
      }
  }

  // MARK: A host

  /// A window whose activity says what its value and its node are.
  @MainActor
  private func window() -> TestSceneDelegate {
    let delegate = TestSceneDelegate()
    delegate.roots = [TrackedNode("root")]
    delegate.onConnect = { [unowned delegate] scene in
      delegate.activity = scene.session.stateRestorationActivity
    }
    return delegate
  }

  @MainActor
  private func node(of scene: RestorableScene) throws -> TrackedNode {
    let delegate = try XCTUnwrap(scene.delegate as? TestSceneDelegate)
    return try XCTUnwrap(delegate.roots.first as? TrackedNode)
  }

  /// The number of the save that a window is of; nil if it is of several.
  @MainActor
  private func number(of scene: RestorableScene) throws -> Int? {
    let info = scene.session.stateRestorationActivity?.userInfo ?? [:]
    let id = info["id"]?.integerValue
    let isWhole =
      try node(of: scene).value == id.map(String.init) ?? ""
      && DraftModel(scene).draft == info["draft"]?.stringValue ?? ""
    return isWhole ? id ?? 0 : nil
  }

  /// Shows a number in a window; its node says that it has changed, and its value if it changes.
  @MainActor
  private func change(_ scene: RestorableScene, to number: Int, withDraft: Bool) throws {
    let model = DraftModel(scene)
    if withDraft { model.draft = "\(number)" }
    let activity = UserActivity(activityType: "product")
    activity.userInfo = ["id": .integer(number), "draft": .string(model.draft)]
    (scene.delegate as? TestSceneDelegate)?.activity = activity
    try node(of: scene).value = "\(number)"
  }

  /// Gives a session another scene, while the one before it is saved again and again.
  @MainActor
  private func reconnect(_ scene: RestorableScene, in host: SceneHost) async throws
    -> RestorableScene
  {
    let saves = (1...2).map { _ in
      Task { @MainActor in
        do {
          while scene.activationState != .unattached { try await host.save(scene) }
        } catch let error as RestorationError where error.code == .notConnected {
          // The save has waited for the disconnect.
        }
      }
    }
    try await host.disconnect(scene)
    let again = try await host.connect(scene.session)
    for save in saves { try await save.value }
    return again
  }

  /// The other process: changes one window after the other, closes and opens some, and
  /// disconnects and connects others while an autosave runs.
  @MainActor
  func testTheHostThatIsKilled() async throws {
    let host = SceneHost(try keeper())
    host.declaredActivityTypes = ["product"]
    host.register(SceneConfiguration { self.window() })
    try await host.launch()
    let failures = await host.restoreScenes()
    guard failures.isEmpty else { return AppUnderTest.say("failed \(failures)") }
    var number = 0
    var said: [String] = []
    for scene in host.connectedScenes {
      let id = try self.number(of: scene)
      said.append("\(scene.session.persistentIdentifier)=\(id.map(String.init) ?? "mixed")")
      number = max(number, id ?? 0)
    }
    AppUnderTest.say("restored \(said.joined(separator: " "))")
    let autosave = host.autosave()
    while true {
      if number % 5 == 0, let first = host.connectedScenes.first {
        AppUnderTest.say("closing \(first.session.persistentIdentifier)")
        try await host.close(first)
        AppUnderTest.say("closed \(first.session.persistentIdentifier)")
      }
      while host.connectedScenes.count < Self.sceneCount { _ = try await host.open() }
      number += 1
      var scene = host.connectedScenes[number % Self.sceneCount]
      if number % 3 == 0 {
        let before = try self.number(of: scene)
        scene = try await reconnect(scene, in: host)
        let after = try self.number(of: scene)
        if after == nil || after != before { AppUnderTest.say("lost \(number - 1)") }
        // Only the node says that it has changed, and only the autosave hears of it.
        try change(scene, to: number, withDraft: false)
        while await !autosave.flush() {}
        AppUnderTest.say("saved \(scene.session.persistentIdentifier) \(number)")
      } else {
        try change(scene, to: number, withDraft: true)
        let report = try await host.save(scene)
        AppUnderTest.say("\(report.outcome) \(scene.session.persistentIdentifier) \(number)")
      }
    }
  }

  func testWhatAKilledHostSaidToBeStoredComesBackAndNoWindowThatWasClosed() throws {
    let directory = try TemporaryDirectory()
    // What each window was saved with last, and those that may be gone.
    var saved: [String: Int] = [:]
    var closing: Set<String> = []
    var closed: Set<String> = []
    var last = 0
    for kill in 0..<kills {
      let what = "kill \(kill), seed \(random.seed)"
      let lines = try runAndKill("testTheHostThatIsKilled", in: directory)
      guard let first = lines.first else { continue }
      let words = first.split(separator: " ").map(String.init)
      guard words[0] == "restored" else { return XCTFail("\(what): \(first)") }
      var back: [String: Int] = [:]
      for word in words.dropFirst() {
        let parts = word.split(separator: "=")
        guard parts.count == 2, let number = Int(parts[1]) else {
          return XCTFail("\(what): a mixture in \(first)")
        }
        back[String(parts[0])] = number
      }
      XCTAssertTrue(closed.isDisjoint(with: back.keys), "\(what): one came back in \(first)")
      for (identifier, number) in saved {
        let found = back[identifier]
        let isGone = found == nil && closing.contains(identifier)
        // The save that the kill interrupted may be there.
        XCTAssertTrue(
          found == number || found == last + 1 || isGone,
          "\(what): \(number) of \(identifier) came back as \(first)")
      }
      (saved, closing) = (back, [])
      last = back.values.max() ?? 0
      for line in lines.dropFirst() {
        let words = line.split(separator: " ").map(String.init)
        switch (words[0], words.count) {
        case ("saved", 3):
          last = try XCTUnwrap(Int(words[2]))
          saved[words[1]] = last
        case ("closing", 2): closing.insert(words[1])
        case ("closed", 2):
          saved[words[1]] = nil
          closed.insert(words[1])
        default: return XCTFail("\(what): \(line)")
        }
      }
    }
    XCTAssertGreaterThan(last, 0)
    XCTAssertFalse(closed.isEmpty)
    XCTAssertEqual(try leftOver(in: directory), [])
  }
}
#endif
