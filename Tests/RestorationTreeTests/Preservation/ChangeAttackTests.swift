import ArchiveCodec
import Foundation
import RestorationKit
import Synchronization
import TestSupport
import XCTest

/// What saves of changes store and report where something uncommon happens.
@MainActor
final class ChangeAttackTests: ChangeTestCase {
  func testANewNodeDidNotForgetToSayAnythingWhenEverythingIsAskedAfterAll() async throws {
    let keeper = try launch.keeper()
    let (root, nodes) = try await savedTree(with: keeper)
    let (new, referring) = (TrackedNode("new"), TrackedNode("referring"))
    referring.references = [TestObject("stray")]
    root.below = nodes + [new, referring]
    let report = try await keeper.save([root])
    XCTAssertEqual(report.notes, [.unstored("references", "TestObject")])
  }

  func testANodeDidNotForgetToSayThatAnotherOneLetsItHaveItsChild() async throws {
    let keeper = try launch.keeper()
    let (root, nodes) = try await savedTree(with: keeper)
    let child = TrackedNode("child")
    (nodes[0].below, nodes[1].below) = ([child], [child])
    _ = try await keeper.save([root])
    nodes[0].below = []
    let report = try await keeper.save([root])
    XCTAssertEqual(report.notes, [])
    try await assertStoredAsAWhole([root])
  }

  func testANodeDidNotForgetToSayThatAnotherOneLetsItHaveItsView() async throws {
    let keeper = try launch.keeper()
    let (root, nodes) = try await savedTree(with: keeper)
    let view = TestView("view")
    (nodes[0].views, nodes[1].views) = ([view], [view])
    _ = try await keeper.save([root])
    nodes[0].views = []
    let report = try await keeper.save([root])
    XCTAssertEqual(report.notes, [])
    try await assertStoredAsAWhole([root])
  }

  func testANodeDidNotForgetToSayThatItIsContainedAndNotOnlyReferredTo() async throws {
    let keeper = try launch.keeper()
    let (root, nodes) = try await savedTree(with: keeper)
    let referred = TrackedNode("referred")
    nodes[0].references = [referred]
    _ = try await keeper.save([root])
    nodes[1].below = [referred]
    let report = try await keeper.save([root])
    XCTAssertEqual(report.notes, [])
    try await assertStoredAsAWhole([root])
  }

  func testASaveOfChangesTakesAsManyNodesAsASaveOfEverything() async throws {
    let keeper = try launch.keeper()
    keeper.policy.nodeLimit = 7
    let (root, last) = (TrackedNode("root"), TrackedNode("last"))
    last.views = (0..<4).map { TestView("\($0)") }
    root.below = [last]
    _ = try await keeper.save([root])
    root.below = [TrackedNode("a"), TrackedNode("b"), last]
    _ = try await keeper.save([root])
    try await assertStoredAsAWhole([root]) { $0.policy.nodeLimit = 7 }
  }

  func testObjectsThatMakeAnotherWheneverTheyAreAskedEndWithAnError() async throws {
    for isTracked in [false, true] {
      let launch = Launch()
      let keeper = try launch.keeper()
      keeper.policy.nodeLimit = 100
      let root = TrackedNode("root")
      if isTracked { _ = try await keeper.save([root]) }
      var count = 0
      func make() -> TestObject {
        let object = TestObject("\(count)")
        keeper.registerObject(object, restorationIdentifier: "object \(count)")
        count += 1
        object.onEncode = { coder in
          if count < 1000 { coder.encode(make(), forKey: "next") }
        }
        return object
      }
      root.references = [make()]
      do {
        _ = try await keeper.save([root])
        XCTFail("did not throw")
      } catch {
        XCTAssertEqual(error.code, .tooManyNodes)
      }
      XCTAssertLessThan(count, 300)
    }
  }

  func testViewsThatMakeAnotherWheneverTheyAreAskedEndWithAnError() async throws {
    for identifier in ["view", nil] {
      let keeper = try launch.keeper()
      keeper.policy.nodeLimit = 100
      let root = TrackedNode("root")
      var count = 0
      func make() -> MakingView {
        count += 1
        return MakingView(identifier.map { "\($0) \(count)" }) { count < 1000 ? [make()] : [] }
      }
      root.views = [make()]
      do {
        _ = try await keeper.save([root])
        XCTFail("did not throw")
      } catch {
        XCTAssertEqual(error.code, .tooManyNodes)
      }
    }
  }

  func testViewsThatAreMadeWhenTheyAreAskedForAreAllStored() async throws {
    let keeper = try launch.keeper()
    let root = TrackedNode("root")
    // The memory of one is likely to be used again.
    root.views = [
      MakingView(nil) { (0..<20).map { number in MakingView(nil) { [MakingView("\(number)")] } } }
    ]
    _ = try await keeper.save([root])
    XCTAssertEqual(try launch.storedPaths().count, 21)
  }

  func testViewsInThePlaceOfThoseThatAChildMadeAreStored() async throws {
    let keeper = try launch.keeper()
    let root = ViewMakingNode("root") {
      [MakingView(nil) { (0..<20).map { MakingView("\($0)") } }]
    }
    root.restorationChildren = [ViewMakingNode("child") { (0..<20).map { MakingView("c\($0)") } }]
    _ = try await keeper.save([root])
    XCTAssertEqual(try launch.storedPaths().count, 42)
  }

  func testWhenNothingIsKeptAnyMoreASaveAsksWhatHasChanged() async throws {
    for way in 0..<3 {
      let launch = Launch()
      let saving = try launch.keeper()
      let old = TrackedNode("root")
      old.below = (0..<20).map { TrackedNode("n\($0)") } + [TrackedNode("late")]
      old.below[20].invalidateRestorableState()
      _ = try await saving.save([old])
      await saving.close()
      let keeper = try launch.keeper()
      let root = TrackedNode("root")
      let nodes = (0..<20).map { TrackedNode("n\($0)") }
      root.below = nodes
      _ = try await keeper.restore(into: [root])
      _ = try await keeper.save([root])
      XCTAssertTrue(try launch.storedPaths().contains("root/late"))
      let late = TrackedNode("late")
      switch way {
      case 0:
        root.below.append(late)
        _ = try await keeper.restore(late: late, below: root)
      case 1: root.below.append(late)
      default: launch.now += 400 * 24 * 60 * 60
      }
      for _ in 0..<2 { _ = try await keeper.save([root]) }
      nodes[3].value = "changed"
      let report = try await keeper.save([root])
      XCTAssertEqual(report.entries.count, 1, "\(way)")
      XCTAssertEqual(try launch.storedRecords()?["root/n3"]?.value, "changed")
      XCTAssertEqual(try launch.storedPaths().contains("root/late"), way != 2)
    }
  }

  func testWhatIsNotKeptAnyMoreGoesThoughSomethingKeptRefersToIt() async throws {
    let saving = try launch.keeper()
    let old = TrackedNode("root")
    let (above, gone, referring) = (
      TrackedNode("above"), TrackedNode("gone"), TrackedNode("referring")
    )
    (old.below, above.below, referring.references) = ([above, referring], [gone], [gone])
    _ = try await saving.save([old])
    await saving.close()
    let keeper = try launch.keeper()
    let (root, back) = (TrackedNode("root"), TrackedNode("above"))
    root.below = [back]
    _ = try await keeper.restore(into: [root])
    _ = try await keeper.save([root])
    XCTAssertEqual(
      try launch.storedPaths(), ["root", "root/above", "root/above/gone", "root/referring"])
    root.below = []
    _ = try await keeper.save([root])
    XCTAssertEqual(try launch.storedPaths(), ["root", "root/referring"])
  }

  /// Something of the tree, or of what it refers to, changes.
  private func change(
    _ nodes: inout [PlainNode], _ object: TrackedObject, _ keeper: StateKeeper,
    _ random: inout SeededGenerator
  ) async throws {
    let node = nodes[Int.random(in: 0..<nodes.count, using: &random)]
    switch Int.random(in: 0..<10, using: &random) {
    case 0, 1: node.value = "\(UInt8.random(in: 0...255, using: &random))"
    case 2, 3, 4:
      let isLate = Bool.random(using: &random)
      nodes.append(make("n\(Int.random(in: 0..<8, using: &random))", &random))
      node.below.append(nodes[nodes.count - 1])
      if isLate { try await keeper.restore(late: nodes[nodes.count - 1], below: node) }
    case 5: if !node.below.isEmpty { node.below.removeLast() }
    case 6: node.references = [object, nodes[0]]
    case 7: node.throwsInEncode.toggle()
    case 8: launch.now += 10 * 24 * 60 * 60
    default: node.views = node.views.isEmpty ? [TestView("view")] : []
    }
  }

  private func make(_ name: String, _ random: inout SeededGenerator) -> PlainNode {
    switch Int.random(in: 0..<4, using: &random) {
    case 0: PlainNode(name)
    case 1: TrackedStack(name)
    default: TrackedNode(name)
    }
  }

  /// Nodes of which each lies below one of those before it.
  private func makeTree(_ count: Int, _ random: inout SeededGenerator) -> [PlainNode] {
    var nodes = [make("root", &random)]
    for number in 0..<count {
      let node = make("n\(number)", &random)
      nodes[Int.random(in: 0..<nodes.count, using: &random)].below.append(node)
      nodes.append(node)
    }
    return nodes
  }

  func testWhatIsStoredBesideWhatIsKeptIsWhatASaveOfTheWholeStateStores() async throws {
    for _ in 0..<5 {
      var random = SeededGenerator()
      let fails = Flag()
      let store = HookedStore(launch.store) { name, call throws(ArchiveError) in
        if fails.isSet, name == "main", call.isWrite { throw ArchiveError(.storageFull) }
      }
      launch.storedBytes = nil
      let objects = [TrackedObject("0"), TrackedObject("1")]
      func keeper() throws -> StateKeeper {
        let keeper = try StateKeeper(
          application: Launch.application, directory: store, keys: launch.keys,
          now: { [launch] in launch.now })
        for (place, object) in objects.enumerated() {
          keeper.registerObject(object, restorationIdentifier: "object \(place)")
        }
        return keeper
      }
      let old = makeTree(8, &random)
      for node in old {
        node.value = "old"
        if Bool.random(using: &random) { node.views = [TestView("view", value: "old")] }
        if Bool.random(using: &random) {
          node.references = [old[Int.random(in: 0..<old.count, using: &random)], objects[0]]
        }
      }
      let saving = try keeper()
      _ = try await saving.save([old[0]])
      await saving.close()
      let keeper = try keeper()
      var nodes = makeTree(Int.random(in: 1..<7, using: &random), &random)
      let root = nodes[0]
      _ = try await keeper.restore(into: [root])
      for _ in 0..<12 {
        for _ in 0..<2 { try await change(&nodes, objects[1], keeper, &random) }
        // What replaces something kept is known to all that is kept by the second one.
        for _ in 0..<2 { _ = try await keeper.save([root]) }
        let words = try launch.storedRecords()?.words
        // After a save that failed the whole state is written.
        fails.isSet = true
        root.value += "x"
        _ = try? await keeper.save([root])
        root.value.removeLast()
        fails.isSet = false
        _ = try await keeper.save([root])
        XCTAssertEqual(words, try launch.storedRecords()?.words, "TEST_SEED=\(random.seed)")
      }
      await keeper.close()
    }
  }

  func testWhateverCallOfTheStorageFailsALaterSaveStoresAllAndSetsNothingAside() async throws {
    for length in [1, 2] {
      var number = 0
      var isOver = false
      while !isOver {
        let launch = Launch()
        let failure = CallFailure(length: length)
        let store = HookedStore(launch.store) { name, _ throws(ArchiveError) in
          if name == "main" { try failure.note() }
        }
        let keeper = try StateKeeper(
          application: Launch.application, directory: store, keys: launch.keys)
        let root = TrackedNode("root")
        let nodes = (0..<3).map { TrackedNode("n\($0)") }
        root.below = nodes
        _ = try await keeper.save([root])
        failure.begin(after: number)
        for step in 0..<5 {
          // The second change is so long that the file is written anew.
          nodes[0].value = String(repeating: "x", count: step == 1 ? 90_000 : 10) + "\(step)"
          root.below = step % 2 == 0 ? [nodes[0], nodes[1]] : nodes
          let before = launch.storedBytes
          let message = "\(length) from \(number), step \(step)"
          do {
            let report = try await keeper.save([root])
            XCTAssertEqual(report.outcome, .saved, message)
            XCTAssertNil(report.setAside, message)
          } catch  where error.archive?.code != .notDurable {
            XCTAssertEqual(launch.storedBytes, before, message)
            continue
          } catch {}
          let fresh = Launch()
          _ = try await fresh.keeper().save([root])
          XCTAssertEqual(
            try launch.storedRecords()?.words, try fresh.storedRecords()?.words, message)
        }
        isOver = failure.callCount < number
        number += 1
        await keeper.close()
      }
      XCTAssertGreaterThan(number, 20)
    }
  }
}

/// A view that makes its subviews when it is asked for them.
@MainActor
private final class MakingView: @MainActor RestorableView {
  let restorationIdentifier: String?
  private let make: () -> [any RestorableView]

  init(_ identifier: String?, _ make: @escaping () -> [any RestorableView] = { [] }) {
    (restorationIdentifier, self.make) = (identifier, make)
  }

  var restorationSubviews: [any RestorableView] { make() }
}

/// A node that makes its views when it is asked for them.
@MainActor
private final class ViewMakingNode: @MainActor RestorableNode {
  let restorationIdentifier: String?
  var restorationChildren: [any RestorableNode] = []
  private let make: () -> [any RestorableView]

  init(_ identifier: String, _ make: @escaping () -> [any RestorableView]) {
    (restorationIdentifier, self.make) = (identifier, make)
  }

  var restorationViews: [any RestorableView] { make() }
}

/// Lets one call of a store after another fail, whatever it does.
private final class CallFailure: Sendable {
  private let count = Mutex(Int.min)
  private let first = Mutex(0)
  private let length: Int

  init(length: Int) { self.length = length }

  /// Begins to count, and lets some calls fail after so many others.
  func begin(after first: Int) {
    self.first.withLock { $0 = first }
    count.withLock { $0 = 0 }
  }

  /// How many calls there were since then.
  var callCount: Int { count.withLock { $0 } }

  func note() throws(ArchiveError) {
    let number = count.withLock { count in
      defer { if count >= 0 { count += 1 } }
      return count
    }
    let failing = first.withLock { $0 }
    if number >= failing, number < failing + length { throw ArchiveError(.inputOutput) }
  }
}
