import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// What is kept, where saves of changes meet references, bounds and nodes that come and go.
@MainActor
final class KeptCrossingTests: XCTestCase {
  @MainActor private class Screen: @MainActor RestorableNode {
    class var stateTracking: StateTracking { .invalidated }
    let restorationIdentifier: String?
    var below: [any RestorableNode] { didSet { invalidateRestorableState() } }
    var value: String? { didSet { invalidateRestorableState() } }
    var friend: (any StateRestoring)? { didSet { invalidateRestorableState() } }
    var restorationChildren: [any RestorableNode] { below }
    init(_ name: String, _ value: String? = nil, _ below: [any RestorableNode] = []) {
      (restorationIdentifier, self.value, self.below) = (name, value, below)
    }
    func encodeRestorableState(with coder: StateEncoder) throws {
      coder.encode(value, forKey: "value")
      coder.encode(friend, forKey: "friend")
    }
    func decodeRestorableState(with coder: StateDecoder) throws {
      value = try coder.decodeIfPresent(forKey: "value")
      friend = try coder.decodeObject(forKey: "friend")
    }
  }
  @MainActor private final class Versioned: Screen {}
  @MainActor private final class Always: Screen {
    override class var stateTracking: StateTracking { .always }
  }

  private func keeper(_ launch: Launch, version: Int = 1) throws -> StateKeeper {
    let keeper = try launch.keeper()
    let steps = migrations(to: version)
    try keeper.register(Versioned.self, version: version, migrations: steps)
    try keeper.register(Always.self, version: version, migrations: steps)
    return keeper
  }

  func testAReferenceInWhatIsKeptNamesNobodyElse() async throws {
    for everything in [false, true] {
      let launch = Launch()
      let (u1, u2) = (Screen("u1", "one"), Screen("u2", "two"))
      u2.friend = u1
      _ = try await self.keeper(launch).save([
        Screen("root", nil, [Screen("t1", nil, [u1]), Screen("t2", nil, [u2])])
      ])
      let keeper = try self.keeper(launch)
      let (t1, t2) = (Screen("t1"), Screen("t2"))
      let root = Screen("root", nil, [t1, t2])
      _ = try await keeper.restore(into: [root])
      t1.below = [Screen("u1", "own")]  // takes the place of what is kept
      _ = try await keeper.save([root])
      t1.below = []
      _ = try await everything ? keeper.saveEverything([root]) : keeper.save([root])
      t1.below = [Screen("other", "other")]
      _ = try await everything ? keeper.saveEverything([root]) : keeper.save([root])
      let again = Screen("u2")
      _ = try await self.keeper(launch).restore(into: [
        Screen("root", nil, [Screen("t1", nil, [Screen("other")]), Screen("t2", nil, [again])])
      ])
      XCTAssertEqual(again.value, "two")
      let friend = (again.friend as? Screen)?.restorationIdentifier
      XCTAssertNil(friend, "everything: \(everything)")
    }
  }

  func testASilentChangeIsFoundWhileSomethingIsKept() async throws {
    for isKept in [false, true] {
      let launch = Launch()
      _ = try await self.keeper(launch).save([
        Screen("root", nil, [Screen("t", nil, isKept ? [Screen("u", "kept")] : [])])
      ])
      let keeper = try self.keeper(launch)
      let node = TrackedNode("n")
      let root = Screen("root", nil, [Screen("t"), node])
      _ = try await keeper.restore(into: [root])
      _ = try await keeper.save([root])
      node.isQuiet = true
      node.value = "silent"
      _ = try await keeper.save([root])
      XCTAssertEqual(try launch.storedRecords()?["root/n"]?.value, "")
      node.value = "silent again"
      var heard: [[String]] = []
      keeper.hearProblems { heard.append($0) }
      _ = try await keeper.save([root])
      XCTAssertEqual(heard.map(\.count), [1], "A save of a test asks everything; kept: \(isKept)")
    }
  }

  func testAStateThatWentWithItsNodeIsNotListed() async throws {
    let launch = Launch()
    _ = try await self.keeper(launch, version: 2).save([
      Screen("root", nil, [Versioned("v", "newer"), Screen("t")])
    ])
    let keeper = try self.keeper(launch)
    let (v, t) = (Versioned("v"), Screen("t"))
    let root = Screen("root", nil, [v, t])
    _ = try await keeper.restore(into: [root])
    let first = try await keeper.save([root])
    XCTAssertEqual(first.kept.map(\.path.description), ["root/v"])
    root.below = [t]
    let report = try await keeper.save([root])
    XCTAssertEqual(try launch.storedPaths(), ["root", "root/t"])
    XCTAssertEqual(report.kept.map(\.path.description), [])
    _ = v
  }

  func testAReferenceBesideAStateAsksNotEverythingForEver() async throws {
    for hasFriend in [false, true] {
      let launch = Launch()
      let before = try self.keeper(launch, version: 2)
      let (o0, a0, r0) = (TrackedObject("o"), Always("a", "newer"), Screen("root"))
      before.registerObject(o0, restorationIdentifier: "object")
      a0.friend = hasFriend ? o0 : nil
      r0.friend = o0
      r0.below = [a0, Screen("t")]
      _ = try await before.save([r0])
      let keeper = try self.keeper(launch)
      let (object, a, t) = (TrackedObject("o"), Always("a"), Screen("t"))
      keeper.registerObject(object, restorationIdentifier: "object")
      let root = Screen("root", nil, [a, t])
      _ = try await keeper.restore(into: [root])
      a.value = "older"
      for step in 0..<4 {
        t.value = "\(step)"
        let report = try await keeper.save([root])
        if step > 1 { XCTAssertGreaterThan(report.unaskedCount, 0, "friend: \(hasFriend)") }
      }
    }
  }
}
