import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// From when on the time of a value counts.
@MainActor
final class ExpiringValueAgeTests: ExpiringValueTestCase {
  func testAnotherLaunchGoesOnCounting() async throws {
    try await save(SensitiveNode("node", value: "v"))
    go(to: 30)
    let node = SensitiveNode("node")
    _ = try await relaunch(node)
    try await save(node)
    try await assertSave(node, writes: false)
    go(to: 60)
    try await assertSave(node, writes: true)
    XCTAssertFalse(try isStored())
  }

  func testASaveThatWritesAllAnewMakesNoValueYounger() async throws {
    let node = SensitiveNode("node", value: "v")
    try await save(node)
    go(to: 30)
    // Somebody takes the state away, so that it is written anew.
    try launch.removeState()
    let report = try await save(node)
    XCTAssertEqual(report.writtenByteCount, report.byteCount)
    go(to: 60)
    try await assertFound(gone, [.expiredValues(["value"])])
  }

  func testAMovedNodeMakesNoValueYounger() async throws {
    let node = SensitiveNode("node", value: "v")
    let (root, other) = (SensitiveNode("root"), SensitiveNode("other"))
    root.restorationChildren = [other, node]
    try await save(root)
    go(to: 30)
    root.restorationChildren = [other]
    other.restorationChildren = [node]
    try await save(root)
    go(to: 60)
    try await save(root)
    XCTAssertFalse(try isStored())
  }

  func testAnotherObjectAtThePathMakesNoValueYounger() async throws {
    for othersLive in [false, true] {
      go(to: 0)
      keeper = try launch.keeper()
      try await keeper?.discardState()
      // One that is gone may have had the address of the next one.
      var others: [SensitiveNode] = []
      func node() -> SensitiveNode {
        let node = SensitiveNode("node", value: "v")
        if othersLive { others.append(node) }
        return node
      }
      try await save(node())
      go(to: 30)
      try await save(node())
      go(to: 60)
      try await save(node())
      XCTAssertFalse(try isStored(), "\(others.count)")
      await keeper?.close()
    }
  }

  func testAValueThatWasGoneBeginsAnew() async throws {
    let node = SensitiveNode("node", value: "v")
    try await save(node)
    go(to: 30)
    node.value = nil
    try await save(node)
    XCTAssertFalse(try isStored())
    node.value = "v"
    try await save(node)
    go(to: 89)
    try await assertFound(there("v"))
  }

  func testAValueThatHadEndedAndWasGoneBeginsAnew() async throws {
    let node = TrackedSensitiveNode("node", value: "v")
    try await save(node)
    go(to: 60)
    try await save(node)
    node.value = nil
    node.invalidateRestorableState()
    try await save(node)
    node.value = "v"
    node.invalidateRestorableState()
    try await save(node)
    go(to: 119)
    try await save(node)
    XCTAssertTrue(try isStored())
  }

  func testAValueOfANodeThatWasGoneBeginsAnew() async throws {
    let root = TrackedSensitiveNode("root")
    let node = TrackedSensitiveNode("node", value: "v")
    root.restorationChildren = [node]
    try await save(root)
    for children in [[], [node]] {
      go(to: 30)
      root.restorationChildren = children
      root.invalidateRestorableState()
      try await save(root)
    }
    go(to: 89)
    try await save(root)
    XCTAssertTrue(try isStored())
  }

  func testAValueBeginsAnewWhenTheStateWasDiscarded() async throws {
    let node = SensitiveNode("node", value: "v")
    try await save(node)
    go(to: 60)
    try await keeper?.discardState()
    try await save(node)
    try await assertFound(there("v"))
  }

  func testANodeThatCannotBeEncodedKeepsWhatHasNotEnded() async throws {
    struct Failure: Error {}
    var fails = false
    let node = SensitiveNode("node", value: "v") { coder in
      coder.encode("w", forKey: "long", sensitivity: .expiring(after: .seconds(100)))
      if fails { throw Failure() }
    }
    try await save(node)
    fails = true
    go(to: 30)
    try await save(node)
    go(to: 59)
    await keeper?.close()
    let before = try await restored()
    XCTAssertEqual(before.found?.keys.sorted(), ["long", "value"])
    go(to: 60)
    let report = try await save(node)
    XCTAssertEqual(report.outcome(of: "node"), .savedWithLastState)
    await keeper?.close()
    let after = try await restored()
    XCTAssertEqual(after.found?.keys, ["long"])
    XCTAssertEqual(after.notes, [.lastState, .unreadKeys(["long"])])
    fails = false
    try await save(node)
    go(to: 100)
    try await save(node)
    XCTAssertFalse(try isStored())
  }
}
