import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// Values that are given back for some time only.
@MainActor
final class ExpiringValueTests: ExpiringValueTestCase {
  // MARK: Time

  func testAValueIsGivenBackUntilItsTimeIsOver() async throws {
    try await save(SensitiveNode("node", value: "v"))
    go(to: 59.9)
    try await assertFound(there("v"))
    go(to: 60)
    try await assertFound(gone, [.expiredValues(["value"])])
  }

  func testTheTimeIsCountedFromTheFirstSaveOfAnEqualValue() async throws {
    let node = SensitiveNode("node", value: "v")
    try await save(node)
    for seconds in [10, 30, 59] {
      go(to: TimeInterval(seconds))
      try await save(node)
    }
    go(to: 60)
    try await assertFound(gone, [.expiredValues(["value"])])
  }

  func testAnotherValueBeginsAnew() async throws {
    let node = SensitiveNode("node", value: "v")
    try await save(node)
    go(to: 30)
    node.value = "w"
    try await save(node)
    go(to: 60)
    try await assertFound(there("w"))
  }

  func testADurationOfNothingStoresNothing() async throws {
    for duration in [0, -1, .min] {
      try await save(SensitiveNode("node", value: "v", duration: duration))
      XCTAssertFalse(try isStored())
    }
  }

  func testTheLongestDurationNeverEnds() async throws {
    try await save(SensitiveNode("node", value: "v", duration: .max))
    launch.now = .distantFuture
    try await assertFound(there("v"))
  }

  func testAnotherDurationCountsFromTheSameSave() async throws {
    let node = SensitiveNode("node", value: "v")
    try await save(node)
    go(to: 30)
    node.duration = 100
    try await save(node)
    go(to: 99)
    try await assertFound(there("v"))
    go(to: 100)
    try await assertFound(gone, [.expiredValues(["value"])])
  }

  // MARK: Saves

  func testASaveInWhichNothingElseChangedWritesNothing() async throws {
    let delegate = TestDelegate()
    delegate.onWillEncode = {
      $0.encode(1, forKey: "a", sensitivity: .expiring(after: .seconds(1000)))
    }
    let keeper = try launch.keeper(delegate: delegate)
    self.keeper = keeper
    let node = SensitiveNode("node", value: "v")
    try await save(node)
    for seconds in [1, 20, 59.5] {
      go(to: seconds)
      let report = try await save(node)
      XCTAssertEqual(report.writtenByteCount, 0)
      try await assertSave(node, everything: true, writes: false)
    }
    withExtendedLifetime(delegate) {}
  }

  func testTheNextSaveRemovesWhatHasEnded() async throws {
    let node = SensitiveNode("node", value: "v")
    try await save(node)
    XCTAssertTrue(try isStored())
    go(to: 60)
    let report = try await save(node)
    XCTAssertGreaterThan(report.writtenByteCount, 0)
    XCTAssertFalse(try isStored())
    try await assertSave(node, writes: false)
    try await assertSave(node, everything: true, writes: false)
    XCTAssertFalse(try isStored(), "an equal value does not begin anew")
    node.value = "w"
    try await save(node)
    XCTAssertTrue(try isStored())
  }

  func testTheNextSaveRemovesItAlsoOfANodeThatHasNotSaidThatItChanged() async throws {
    let node = TrackedSensitiveNode("node", value: "v")
    let other = TrackedSensitiveNode("other", value: "v", duration: 1000)
    let root = TrackedSensitiveNode("root")
    root.restorationChildren = [node, other]
    try await save(root)
    go(to: 59)
    let unasked = try await save(root)
    XCTAssertEqual(unasked.entries.count, 0)
    go(to: 60)
    let report = try await save(root)
    XCTAssertEqual(report.entries.map(\.path.description), ["root/node"])
    XCTAssertEqual(report.notes, [])
    XCTAssertGreaterThan(report.writtenByteCount, 0)
    XCTAssertEqual([node, other, root].map(\.encodeCount), [2, 1, 1])
    let none = try await save(root)
    XCTAssertEqual(none.entries.count, 0)
    go(to: 1000)
    let last = try await save(root, everything: true)
    XCTAssertEqual(last.notes, [], "time is no change that it has to say")
    XCTAssertFalse(try isStored())
  }

  func testANodeThatHasNotSaidThatItChangedIsAskedWhenTheFirstOfItsValuesEnds() async throws {
    // In the order of their keys, one that lasts longer comes before and one after.
    let node = TrackedSensitiveNode("node", value: "v") { coder in
      for key in ["a", "z"] {
        coder.encode("w", forKey: key, sensitivity: .expiring(after: .seconds(1000)))
      }
    }
    let root = TrackedSensitiveNode("root")
    root.restorationChildren = [node]
    let cases = [(0.0, [["a"], ["value"], ["z"]]), (60, [["a"], ["z"]]), (1000, [])]
    for (seconds, keys) in cases {
      go(to: seconds)
      try await save(root)
      let stored = try XCTUnwrap(try launch.storedRecords()?["root/node"])
      XCTAssertEqual(try stored.sensitiveKeys, keys, "\(seconds)")
    }
  }

  func testWhatTheApplicationEncodedEndsToo() async throws {
    let delegate = TestDelegate()
    delegate.onWillEncode = {
      $0.encode("v", forKey: "a", sensitivity: .expiring(after: .seconds(60)))
    }
    var found: [String?] = []
    delegate.onDidDecode = { found.append(try $0.decodeIfPresent(forKey: "a")) }
    delegate.onShouldRestore = { XCTAssertEqual($0.contains("a"), found.isEmpty) }
    _ = try await launch.keeper(delegate: delegate).save([])
    go(to: 59)
    _ = try await launch.keeper(delegate: delegate).restore()
    go(to: 60)
    let next = try launch.keeper(delegate: delegate)
    let report = try await next.restore()
    XCTAssertEqual(found, ["v", nil])
    XCTAssertEqual(report.notes, [.expiredValues(["a"])])
    delegate.onWillEncode = { _ in }
    _ = try await next.save([])
    XCTAssertFalse(try isStored())
  }

  // MARK: Where it lies

  private struct Pair: Codable {
    let name: String
    let numbers: [Int]
  }

  func testAValueInAContainerComesBackThere() async throws {
    let node = SensitiveNode("node") { coder in
      try coder.encodeContainer(forKey: "a") { coder in
        coder.encode(1, forKey: "plain")
        try coder.encodeContainer(forKey: "b") {
          try $0.encode(
            Pair(name: "k", numbers: [1, 2]), forKey: "c",
            sensitivity: .expiring(after: .seconds(60)))
        }
      }
      coder.encode(2, forKey: "plain")
    }
    try await save(node)
    await keeper?.close()
    func numbers() async throws -> ([Int?], RestorationReport) {
      var numbers: [Int?] = []
      let again = SensitiveNode("node")
      again.decode = { coder in
        let a = try coder.container(forKey: "a")
        let b = try a?.container(forKey: "b")
        numbers = [
          try coder.decodeIfPresent(forKey: "plain"), try a?.decodeIfPresent(forKey: "plain"),
          try b?.decodeIfPresent(Pair.self, forKey: "c")?.numbers.last,
        ]
      }
      let report = try await self.launch.keeper().restore(into: [again])
      return (numbers, report)
    }
    let before = try await numbers()
    XCTAssertEqual(before.0, [2, 1, 2])
    XCTAssertEqual(before.1.notes, [])
    go(to: 60)
    let after = try await numbers()
    XCTAssertEqual(after.0, [2, 1, nil])
    XCTAssertEqual(after.1.notes, [.expiredValues(["a.b.c"])])
  }

  func testAValueThatIsTooLargeLosesTheStateOfItsNodeAsAnyOther() async throws {
    let node = SensitiveNode("node") { $0.encode(1, forKey: "plain") }
    node.value = String(repeating: "v", count: 1 << 24)
    let report = try await save(node)
    XCTAssertEqual(report.outcome(of: "node"), .savedWithoutState)
    XCTAssertEqual(
      report.notes.map(\.isProblem), [true])
    XCTAssertTrue("\(report.notes)".contains("value"), "\(report.notes)")
  }

  func testAValueThatThrowsLeavesTheEarlierOne() async throws {
    struct Failing: Encodable {
      func encode(to encoder: any Encoder) throws { throw Failure() }
      struct Failure: Error {}
    }
    let node = SensitiveNode("node", value: "v") { coder in
      do {
        try coder.encode(
          Failing(), forKey: "value", sensitivity: .expiring(after: .seconds(60)))
        XCTFail("it threw")
      } catch is Failing.Failure {}
    }
    try await save(node)
    try await assertFound(there("v"))
  }

  func testWhatThrowsInTheDelegateTakesItsValuesAlong() async throws {
    struct Failure: Error {}
    let delegate = TestDelegate()
    delegate.onShouldSave = {
      $0.encode("gate", forKey: "a", sensitivity: .expiring(after: .seconds(60)))
    }
    delegate.onWillEncode = {
      $0.encode("will", forKey: "a", sensitivity: .expiring(after: .seconds(60)))
      throw Failure()
    }
    var found: String?
    delegate.onDidDecode = { found = try $0.decodeIfPresent(forKey: "a") }
    _ = try await launch.keeper(delegate: delegate).save([])
    _ = try await launch.keeper(delegate: delegate).restore()
    XCTAssertEqual(found, "gate")
  }
}
