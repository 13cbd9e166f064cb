import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// What the tests of values share that are given back for some time only.
@MainActor
class ExpiringValueTestCase: XCTestCase {
  let launch = Launch()
  let start = Date(timeIntervalSinceReferenceDate: 800_000_000)
  var keeper: StateKeeper?

  override func setUp() async throws { keeper = try launch.keeper() }

  func go(to seconds: TimeInterval) { launch.now = start + seconds }

  @discardableResult
  func save(
    _ nodes: any RestorableNode..., everything: Bool = false
  ) async throws -> PreservationReport {
    let keeper = try XCTUnwrap(keeper)
    return everything ? try await keeper.saveEverything(nodes) : try await keeper.save(nodes)
  }

  func assertSave(
    _ node: SensitiveNode, everything: Bool = false, writes: Bool, line: UInt = #line
  ) async throws {
    let report = try await save(node, everything: everything)
    XCTAssertEqual(report.writtenByteCount > 0, writes, line: line)
  }

  /// A launch that only restores, with what is found in it.
  func restored(
    _ identifier: String = "node"
  ) async throws -> (found: SensitiveNode.Found?, notes: [ReportNote]) {
    let node = SensitiveNode(identifier)
    let report = try await launch.keeper(endsLast: false).restore(into: [node])
    return (node.found, report.notes)
  }

  /// Another launch of the same app, of which the saves go on.
  func relaunch(_ node: SensitiveNode) async throws -> RestorationReport {
    let next = try launch.keeper()
    keeper = next
    return try await next.restore(into: [node])
  }

  func isStored() throws -> Bool {
    let words = try XCTUnwrap(try launch.storedRecords()).words
    return words.contains { $0.contains("sensitive") }
  }

  let gone = SensitiveNode.Found(nil, isThere: false, keys: [])

  func there(_ value: String) -> SensitiveNode.Found {
    SensitiveNode.Found(value, isThere: true, keys: ["value"])
  }

  /// What a launch finds at a time, by its own keeper, that the test's has let go.
  func assertFound(
    _ found: SensitiveNode.Found, _ notes: [ReportNote] = [], line: UInt = #line
  ) async throws {
    await keeper?.close()
    let restored = try await restored()
    XCTAssertEqual(restored.found, found, line: line)
    XCTAssertEqual(restored.notes, notes, line: line)
  }
}
