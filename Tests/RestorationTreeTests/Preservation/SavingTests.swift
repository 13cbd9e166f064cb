import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

@MainActor
final class SavingTests: XCTestCase {
  private let launch = Launch()

  func testOfManySavesAtOnceTheOneThatWalkedLastStays() async throws {
    let keeper = try launch.keeper()
    let node = TestNode("a")
    let saves = (1...20).map { number in
      Task { @MainActor in
        node.value = "\(number)"
        return try await keeper.save([node]).outcome
      }
    }
    var outcomes: [ReportOutcome] = []
    for save in saves { outcomes.append(try await save.value) }
    XCTAssertTrue(outcomes.allSatisfy { $0 == .saved })
    let restored = TestNode("a")
    _ = try await launch.keeper().restore(into: [restored])
    XCTAssertEqual(restored.value, node.value)
  }

  func testDiscardingRemovesTheState() async throws {
    let keeper = try launch.keeper()
    _ = try await keeper.save([TestNode("a")])
    try await keeper.discardState()
    try launch.assertNothingIsStored()
    try await keeper.discardState()
    let report = try await launch.keeper().restore()
    XCTAssertEqual(report.outcome, .noArchive)
  }

  func testALockedStateIsDiscardedWithoutItsKeyAndTheNextSaveBegins() async throws {
    _ = try await launch.keeper().save([TestNode("a", value: "secret")])
    let keeper = try launch.keeper()
    launch.keys.isLocked = true
    let locked = try await keeper.restore()
    XCTAssertEqual(locked.outcome, .locked)
    try await keeper.discardState()
    XCTAssertNil(launch.storedBytes)
    launch.keys.isLocked = false
    let report = try await keeper.save([TestNode("a", value: "new")])
    XCTAssertEqual(report.outcome, .saved)
    let node = TestNode("a")
    _ = try await launch.keeper().restore(into: [node])
    XCTAssertEqual(node.value, "new")
  }

  func testTheArchiveStaysAfterARestore() async throws {
    _ = try await launch.keeper().save([TestNode("a", value: "kept")])
    _ = try await launch.keeper().restore(into: [TestNode("a")])
    let node = TestNode("a")
    _ = try await launch.keeper().restore(into: [node])
    XCTAssertEqual(node.value, "kept")
  }

  func testTheGenerationGrowsFromLaunchToLaunch() async throws {
    for generation in 1...3 as ClosedRange<UInt64> {
      let keeper = try launch.keeper()
      _ = try await keeper.restore()
      // A save writes nothing where nothing has changed.
      let node = TestNode("a", value: "\(generation)")
      let report = try await keeper.save([node])
      XCTAssertEqual(report.version?.generation, generation)
    }
  }

  func testAReportHasALineForEveryNodeAndProblem() async throws {
    let root = TestNode("root", children: [TestNode(nil, children: [TestNode("deep")])])
    root.onEncode = { $0.encode(TestObject(), forKey: "object") }
    let saved = try await launch.keeper().save([root])
    let problem =
      "that is not stored. Give it a restoration identifier, register it with"
      + " keeper.registerObject, or let a node have it among its restorationViews."
    XCTAssertEqual(
      saved.description,
      """
      Saved \(saved.byteCount) bytes.
        root (TestNode): saved
          problem: The key “object” refers to a TestObject \(problem)
        root/∅ (TestNode): left out, it has no usable restoration identifier
      """)
    let restored = try await launch.keeper().restore()
    XCTAssertEqual(
      restored.description,
      """
      Restored 0 of 1 nodes, 1 with problems.
        root (TestNode): not found; register its class with a closure that makes it, answer in\
       the delegate, or let the node above it contain it before you restore; if it is built\
       later, call restore(late:below:); saves keep it as it is stored, until a node is saved in its\
       place
      """)
  }

  func testAKeeperWorksOnAnyActor() async throws {
    actor Server {
      final class Session: RestorableNode {
        let restorationIdentifier: String? = "session"
        var count = 0
        func encodeRestorableState(with coder: StateEncoder) { coder.encode(count, forKey: "n") }
        func decodeRestorableState(with coder: StateDecoder) throws {
          count = try coder.decode(forKey: "n")
        }
      }
      let session = Session()
      let keeper: StateKeeper
      init(_ store: MemoryStateDirectory, _ keys: MemoryKeyProvider) throws {
        keeper = try StateKeeper(application: "org.example.server", directory: store, keys: keys)
      }
      func count(_ count: Int) async throws {
        session.count = count
        _ = try await keeper.save([session])
      }
      func restored() async throws -> Int {
        _ = try await keeper.restore(into: [session])
        return session.count
      }
    }
    try await Server(launch.store, launch.keys).count(7)
    let count = try await Server(launch.store, launch.keys).restored()
    XCTAssertEqual(count, 7)
  }
}
