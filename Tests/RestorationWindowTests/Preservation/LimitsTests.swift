import ArchiveCodec
import Foundation
import RestorationKit
import RestorationTesting
import TestSupport
import XCTest

/// The limits of a keeper, and what is told of a value that is over them.
@MainActor
final class LimitsTests: XCTestCase {
  private let launch = Launch()
  /// The format's own limit of names is 65,536.
  private let raised = ArchiveLimits(symbolCount: 1 << 17)
  /// The library's own names alone are more.
  private let lowered = ArchiveLimits(symbolCount: 3)
  private let nameCount = 1 << 16

  private func keeper(_ limits: ArchiveLimits) throws -> StateKeeper {
    try StateKeeper(
      application: Launch.application, directory: launch.store, keys: launch.keys, limits: limits)
  }

  /// Has a value, and more names than an archive has by default.
  private func nodeOfManyNames() -> TestNode {
    let node = TestNode("root", value: "x")
    node.onEncode = { [nameCount] coder in
      for number in 0..<nameCount { coder.encode(number, forKey: "n\(number)") }
    }
    return node
  }

  private func text(_ count: Int) -> String { String(repeating: "x", count: count) }

  private let exceeded = ArchiveError(.limitExceeded, subject: "symbols", location: "memory")

  private func assertExceeded<Result>(
    _ expected: WholeError? = nil, _ line: UInt = #line,
    _ body: () async throws(RestorationError) -> Result
  ) async {
    do {
      _ = try await body()
      XCTFail("did not throw", line: line)
    } catch {
      XCTAssertEqual(WholeError(error), expected ?? WholeError(exceeded), line: line)
    }
  }

  func testNoLimitsThatAnAppCanSetAreAboveTheStandardOnes() {
    XCTAssertEqual(
      ArchiveLimits(recordByteCount: .max, stringByteCount: .max, depth: .max), .standard)
  }

  func testAKeeperHasTheStandardLimitsUnlessItIsGivenOthers() throws {
    XCTAssertEqual(try launch.keeper().limits, .standard)
    XCTAssertEqual(try keeper(raised).limits, raised)
  }

  func testAStateThatWasSavedWithRaisedLimitsIsReadWithThem() async throws {
    let report = try await keeper(raised).save([nodeOfManyNames()])
    XCTAssertEqual(report.savedPaths, ["root"])
    let next = try keeper(raised)
    let back = TestNode("root")
    let restored = try await next.restore(into: [back])
    XCTAssertEqual(back.value, "x")
    XCTAssertNil(restored.launchProblem)
  }

  func testAStateThatIsOverTheLimitsIsReadByNobodyAndKeptByTheNextSave() async throws {
    _ = try await launch.keeper().save([TestNode("root", value: "x")])
    let before = launch.storedBytes
    let keeper = try keeper(lowered)
    await assertExceeded(WholeError(notRestored: exceeded)) { () async throws(RestorationError) in
      try await keeper.restore()
    }
    XCTAssertEqual(launch.storedBytes, before)
    let report = try await keeper.save([TestNode("root", value: "y")])
    XCTAssertNotNil(report.setAside)
    XCTAssertEqual(launch.setAside, [before].compactMap(\.self))
    await keeper.close()
    let back = TestNode("root")
    let next = try self.keeper(lowered)
    _ = try await next.restore(into: [back])
    XCTAssertEqual(back.value, "y")
  }

  func testALaunchIsCountedUnderTheStandardLimits() async throws {
    let strict = ArchiveLimits(depth: 3, symbolCount: 0)
    _ = try await keeper(strict).save([TestNode("root", value: "x")])
    for begun in 1...2 {
      let process = ProcessDirectory(launch.store)
      let keeper = try StateKeeper(
        application: Launch.application, directory: process, keys: launch.keys, limits: strict)
      defer { process.end() }
      let delegate = TestDelegate()
      keeper.delegate = delegate
      var crashed: LaunchDisk?
      delegate.onDidDecode = { [launch] _ in crashed = launch.disk }
      let report = try await keeper.restore(into: [TestNode("root")])
      XCTAssertEqual(report.outcome, .restored, "\(begun)")
      XCTAssertNil(report.launchProblem)
      launch.disk = try XCTUnwrap(crashed)
      withExtendedLifetime(delegate) {}
    }
    let report = try await keeper(.standard).restore()
    XCTAssertEqual(report.outcome, .crashed(setAsideAt: launch.crashedLocation))
  }

  func testAPlainValueThatIsOverTheLimitIsNamedByItsKey() async throws {
    let keeper = try keeper(ArchiveLimits(stringByteCount: 1000))
    let node = TestNode("root", value: text(1000))
    let report = try await keeper.save([node])
    XCTAssertEqual(report.problems, [])

    node.value = text(1001)
    try await assertProblem(with: keeper, of: node, at: "value")
    node.value = "short"
    let long = text(1001)
    node.onEncode = { coder in
      coder.encode(1, forKey: "before")
      coder.encodeContainer(forKey: "outer") { coder in
        coder.encodeContainer(forKey: "inner") { $0.encode(["", long], forKey: "lines") }
      }
    }
    try await assertProblem(with: keeper, of: node, at: "outer.inner.lines")
    await keeper.close()
    let back = TestNode("root")
    _ = try await self.keeper(ArchiveLimits(stringByteCount: 1000)).restore(into: [back])
    XCTAssertEqual(back.value, text(1000))
  }

  private func assertProblem(
    with keeper: StateKeeper, of node: TestNode, at path: String, line: UInt = #line
  ) async throws {
    let report = try await keeper.save([node])
    XCTAssertEqual(report.outcome(of: "root"), .savedWithLastState, line: line)
    XCTAssertEqual(
      report.notes,
      [
        .encodeFailed(
          "A limit was exceeded. Store less in one piece, or raise the limit."
            + " (limitExceeded: bytes of a string, at \(path))")
      ], line: line)
  }

  func testAValueOfTheDelegateThatIsOverTheLimitIsNamedByItsKey() async throws {
    let delegate = TestDelegate()
    let long = text(1001)
    delegate.onWillEncode = { $0.encode(long, forKey: "account") }
    let keeper = try keeper(ArchiveLimits(stringByteCount: 1000))
    keeper.delegate = delegate
    let report = try await keeper.save([])
    XCTAssertEqual(
      report.notes,
      [
        .applicationNotEncoded(
          "A limit was exceeded. Store less in one piece, or raise the limit."
            + " (limitExceeded: bytes of a string, at account)")
      ])
  }

  func testANodeWhoseOwnPartIsOverTheLimitEndsTheSaveWithAnErrorThatNamesIt() async throws {
    let keeper = try keeper(ArchiveLimits(stringByteCount: 100))
    _ = try await keeper.save([TestNode("root", value: "x")])
    let before = launch.storedBytes
    do {
      _ = try await keeper.save([TestNode(text(101))])
      XCTFail("did not throw")
    } catch {
      XCTAssertEqual(
        error.archive,
        ArchiveError(.limitExceeded, path: ["names"], subject: "bytes of a string"))
    }
    XCTAssertEqual(launch.storedBytes, before)
  }
}
