import Foundation
import RestorationKit
import TestSupport
import XCTest

/// The facts about a save as properties of every coder.
@MainActor
final class SavedFactsTests: XCTestCase {
  private let launch = Launch()

  func testEveryCoderHasTheFactsAsProperties() async throws {
    _ = try await launch.keeper().save([TestNode("a")])
    launch.now += 90
    launch.environment = ApplicationEnvironment(
      applicationVersion: "12", userInterfaceIdiom: "other", systemVersion: "7")
    let savedAt = launch.now - 90

    var facts: [[String?]] = []
    func read(_ coder: StateDecoder) {
      facts.append([
        coder.applicationVersion, coder.userInterfaceIdiom, coder.systemVersion,
        "\(coder.timestamp == savedAt)",
      ])
    }
    let root = TestNode("a")
    root.onDecode = read
    let delegate = TestDelegate()
    delegate.onShouldRestore = read
    delegate.onNode = { _, coder in
      read(coder)
      return root
    }
    delegate.onDidDecode = read
    _ = try await launch.keeper(delegate: delegate).restore()
    XCTAssertEqual(facts, Array(repeating: ["11", "test", "6.1", "true"], count: 4))
  }

  /// Whether a gate with this opinion lets a launch with the environment restore.
  private func restores(_ gate: @escaping (StateDecoder) -> Bool) async throws -> Bool {
    @MainActor
    final class Delegate: @MainActor StateDelegate {
      let gate: (StateDecoder) -> Bool
      init(_ gate: @escaping (StateDecoder) -> Bool) { self.gate = gate }
      func shouldSaveApplicationState(with coder: StateEncoder) -> Bool { true }
      func shouldRestoreApplicationState(with coder: StateDecoder) -> Bool { gate(coder) }
    }
    let delegate = Delegate(gate)
    let node = TestNode("a")
    let report = try await launch.keeper(delegate: delegate).restore(into: [node])
    XCTAssertEqual(report.outcome, node.value == nil ? .declined : .restored)
    return node.value != nil
  }

  func testAGateDeclinesTheStateOfAnotherVersionOrIdiom() async throws {
    _ = try await launch.keeper().save([TestNode("a", value: "saved")])
    let answers = [
      try await restores { $0.applicationVersion == "11" },
      try await restores { $0.applicationVersion == "12" },
      try await restores { $0.userInterfaceIdiom == "other" },
      try await restores { $0.systemVersion == "6.1" },
    ]
    XCTAssertEqual(answers, [true, false, false, true])
  }

  func testAGateDeclinesAStateThatIsTooOld() async throws {
    _ = try await launch.keeper().save([TestNode("a", value: "saved")])
    var answers: [Bool] = []
    for seconds: TimeInterval in [0, 3599, 2, -7200] {
      launch.now += seconds
      answers.append(
        try await restores { [launch] in
          $0.timestamp.map { launch.now.timeIntervalSince($0) <= 3600 } ?? false
        })
    }
    XCTAssertEqual(answers, [true, true, false, true])
  }

  func testAVersionThatWasNotGivenIsAbsent() async throws {
    launch.environment = ApplicationEnvironment(userInterfaceIdiom: "test", systemVersion: "6.1")
    _ = try await launch.keeper().save([TestNode("a", value: "saved")])
    let restores = try await restores { $0.applicationVersion == nil }
    XCTAssertTrue(restores)
  }
}
