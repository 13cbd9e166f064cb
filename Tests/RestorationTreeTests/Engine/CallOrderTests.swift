import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

/// Calls that are made at once, without waiting for one another.
@MainActor
final class CallOrderTests: XCTestCase {
  private enum Call: String, CaseIterable {
    case close, save, restore, restoreLate, discard, putBack, removeSetAside
  }

  /// One app, whose stored state has a node that is not back, and an older state that is set aside.
  @MainActor
  private final class App {
    private let launch = Launch()
    private let root = TestNode("root")
    private let keeper: StateKeeper
    private let older: SetAsideState
    private(set) var results: [String] = []

    init() async throws {
      _ = try await launch.keeper().save([TestNode("root", value: "older")])
      let stored = TestNode("root", value: "stored", children: [TestNode("late", value: "kept")])
      _ = try await launch.keeper().save([stored])
      keeper = try launch.keeper()
      let setAside = try await keeper.setAsideStates()
      older = try XCTUnwrap(setAside.first)
      _ = try await keeper.restore(into: [root])
    }

    /// Makes the calls at once, or each when the one before has ended; they have numbers, since each
    /// save has a value of its own.
    func make(_ calls: [Call], atOnce: Bool) async throws {
      results = calls.map { _ in "" }
      var tasks: [Task<Void, Never>] = []
      for (number, call) in calls.enumerated() {
        let task = Task { @MainActor in results[number] = await result(of: call, number) }
        if atOnce { tasks.append(task) } else { await task.value }
      }
      for task in tasks { await task.value }
    }

    private func result(of call: Call, _ number: Int) async -> String {
      do {
        switch call {
        case .close: await keeper.close()
        case .save:
          let report = try await keeper.save([TestNode("root", value: "\(number)")])
          return "\(report.outcome), \(report.entries.map { "\($0.path) \($0.outcome)" })"
        case .restore:
          let node = TestNode("root")
          let report = try await keeper.restore(into: [node])
          return "\(report.outcome), \(node.value ?? "nothing")"
        case .restoreLate:
          let node = TestNode("late")
          let report = try await keeper.restore(late: node, below: root)
          return "\(report.outcome), \(node.value ?? "nothing")"
        case .discard: try await keeper.discardState()
        case .putBack: try await keeper.putBack(older)
        case .removeSetAside: try await keeper.removeSetAside(older)
        }
        return "done"
      } catch {
        return "\(error)"
      }
    }

    /// What is stored in the end, by path, and how much is set aside.
    func stored() async throws -> [String] {
      let stored = try launch.storedRecords()?.elements.map { element in
        "\(element.path): \(try element.value ?? "nothing")"
      }
      let setAside = try await keeper.setAsideStates().map { "set aside: \($0)" }
      return (stored ?? ["none"]) + setAside
    }
  }

  /// All sequences of up to three calls.
  private var sequences: [[Call]] {
    var sequences: [[Call]] = [[]]
    for length in 0..<3 {
      for sequence in sequences where sequence.count == length {
        sequences += Call.allCases.map { sequence + [$0] }
      }
    }
    return sequences.filter { $0.count > 1 }
  }

  func testCallsThatAreMadeAtOnceDoWhatTheyDoOneAfterTheOther() async throws {
    XCTAssertEqual(sequences.count, 49 + 343)
    for calls in LongTests.some(of: sequences) {
      let (expected, app) = (try await App(), try await App())
      try await expected.make(calls, atOnce: false)
      try await app.make(calls, atOnce: true)
      let name = calls.map(\.rawValue).joined(separator: ", ")
      XCTAssertEqual(app.results, expected.results, name)
      let (stored, expectedToBeStored) = (try await app.stored(), try await expected.stored())
      XCTAssertEqual(stored, expectedToBeStored, name)
    }
  }
}
