import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

/// Archives of somebody who has the key and draws the tree as he likes.
@MainActor
final class HostileTreeTests: XCTestCase {
  private let launch = Launch()

  /// A node that makes a new one whenever it is asked.
  @MainActor
  private final class Endless: @MainActor RestorableNode {
    let restorationIdentifier: String?
    /// How many were made; it ends, so that the test does.
    static var count = 0

    init(_ identifier: String?) {
      restorationIdentifier = identifier
      Self.count += 1
    }

    var restorationChildren: [any RestorableNode] {
      Self.count < 10_000 ? [Endless(restorationIdentifier)] : []
    }
  }

  func testATreeThatMakesAChildWheneverItIsAskedEndsWithAnErrorThatNamesThePath() async throws {
    for identifier in ["again", nil] {
      let keeper = try launch.keeper()
      _ = try await keeper.save([TestNode("a", value: "before")])
      let before = launch.storedBytes
      keeper.policy.nodeLimit = 100
      Endless.count = 0
      guard let identifier else {
        // Nodes below one that is left out are not asked.
        _ = try await keeper.save([TestNode("a", children: [Endless(nil)])])
        XCTAssertEqual(Endless.count, 1)
        continue
      }
      do {
        _ = try await keeper.save([TestNode("a", children: [Endless(identifier)])])
        XCTFail("did not throw")
      } catch {
        let path = (["a"] + Array(repeating: identifier, count: 7)).joined(separator: "/")
        XCTAssertEqual(
          WholeError(error),
          WholeError(
            .tooManyNodes,
            "There are more than 100 nodes; the walk was at “\(path)/…”."
              + " Let restorationChildren return the nodes that are there and make none,"
              + " or raise the keeper's policy.nodeLimit."))
      }
      // With the application and the node above them there are 100 entries.
      XCTAssertEqual(Endless.count, 100)
      XCTAssertEqual(launch.storedBytes, before)
    }
  }

  func testAsManyNodesAsTheLimitAreSaved() async throws {
    let keeper = try launch.keeper()
    let children = (0..<99).map { TestNode("\($0)") }
    keeper.policy.nodeLimit = 100
    let report = try await keeper.save([TestNode("a", children: children)])
    XCTAssertEqual(report.outcome, .saved)
  }
}
