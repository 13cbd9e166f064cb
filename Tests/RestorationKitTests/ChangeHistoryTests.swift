import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

/// Random histories of a tree: what saves of changes have stored is at any time what
/// one save of everything stores.
@MainActor
final class ChangeHistoryTests: XCTestCase {
  /// A tree that changes, and all that may be in it.
  private struct World {
    var roots: [any HistoryNode] = []
    var nodes: [any HistoryNode] = []
    var objects: [TestObject] = []
    /// Those whose encoding has thrown: what is stored of them depends on the past.
    var wereLost: Set<String> = []
    private var count = 0

    @MainActor
    mutating func make(_ random: inout SeededGenerator, name: String? = nil) -> any HistoryNode {
      count += 1
      let name = name ?? "n\(count)"
      let node: any HistoryNode =
        switch Int.random(in: 0..<8, using: &random) {
        case 0, 1: PlainNode(name)
        case 2: ObservedNode(name)
        case 3: TrackedStack(name)
        default: TrackedNode(name)
        }
      node.value = "made \(count)"
      nodes.append(node)
      return node
    }

    @MainActor
    func contains(_ node: any HistoryNode, below other: any HistoryNode) -> Bool {
      var stack: [any RestorableNode] = [node]
      while let next = stack.popLast() {
        if next === other { return true }
        stack += next.restorationChildren + [next.restorationPresented].compactMap(\.self)
      }
      return false
    }
  }

  private let launch = Launch()
  private let fails = Flag()
  private var random = SeededGenerator()

  private func keeper(_ world: World, over launch: Launch, _ fails: Flag?) throws -> StateKeeper {
    let store = HookedStore(launch.store) { name, call throws(ArchiveError) in
      if name == "main", call.isWrite, fails?.isSet == true { throw ArchiveError(.storageFull) }
    }
    let keeper = try StateKeeper(
      application: Launch.application, directory: store, keys: launch.keys, now: { launch.now })
    for (place, object) in world.objects.enumerated() {
      keeper.registerObject(object, restorationIdentifier: "object \(place)")
    }
    return keeper
  }

  // MARK: Changes

  private func pick<Element>(_ elements: [Element]) -> Element {
    elements[Int.random(in: 0..<elements.count, using: &random)]
  }

  /// Changes something; returns what, in words.
  private func change(_ world: inout World) -> String {
    let node = pick(world.nodes)
    let other = pick(world.nodes)
    switch Int.random(in: 0..<22, using: &random) {
    case 0...5:
      node.value = "\(UInt8.random(in: 0...255, using: &random))"
      return "value of \(node.name ?? "nil")"
    case 6...8:
      let made = world.make(&random)
      node.below.insert(made, at: Int.random(in: 0...node.below.count, using: &random))
      return "new \(made.name ?? "nil") below \(node.name ?? "nil")"
    case 9, 10:
      guard !node.below.isEmpty else { return "nothing" }
      node.below.remove(at: Int.random(in: 0..<node.below.count, using: &random))
      return "one less below \(node.name ?? "nil")"
    case 11, 12:
      guard !node.below.isEmpty else { return "nothing" }
      let place = Int.random(in: 0..<node.below.count, using: &random)
      guard let moved = node.below[place] as? any HistoryNode,
        !world.contains(moved, below: other)
      else { return "nothing" }
      node.below.remove(at: place)
      other.below.append(moved)
      return "\(moved.name ?? "nil") from \(node.name ?? "nil") to \(other.name ?? "nil")"
    case 13:
      node.below.shuffle(using: &random)
      return "shuffled \(node.name ?? "nil")"
    case 14:
      guard !world.contains(other, below: node) else { return "nothing" }
      node.shown = node.shown == nil ? other : nil
      return "\(node.name ?? "nil") shows \(node.shown?.restorationIdentifier ?? "nothing")"
    case 15, 16:
      let targets: [any StateRestoring] = [other, pick(world.objects)]
      node.references = Bool.random(using: &random) ? [] : targets
      let target = node.references.isEmpty ? "none" : other.name ?? "nil"
      return "\(node.name ?? "nil") refers to \(target)"
    case 17:
      node.throwsInEncode.toggle()
      if node.throwsInEncode { world.wereLost.insert(node.name ?? "") }
      return "\(node.name ?? "nil") throws \(node.throwsInEncode)"
    case 18:
      node.name = node.name == nil ? "again \(world.nodes.count)" : pick([nil, "same", "other"])
      if node.throwsInEncode { world.wereLost.insert(node.name ?? "") }
      return "named \(node.name ?? "nil")"
    case 19:
      node.views =
        node.views.isEmpty ? [TestView("view"), TestView("label")] : []
      return "views of \(node.name ?? "nil")"
    case 20:
      let made = world.make(&random, name: "same")
      node.below.append(made)
      return "a same one below \(node.name ?? "nil")"
    default:
      pick(world.objects).value = "\(UInt8.random(in: 0...255, using: &random))"
      return "an object"
    }
  }

  // MARK: Comparing

  /// Each element with what is stored of it; the order of what only references reach
  /// is left open.
  private func contents(_ launch: Launch, _ world: World, _ message: String) throws -> [String] {
    let stored = try XCTUnwrap(try launch.storedRecords())
    XCTAssertEqual(stored.strays, [], message)
    return try stored.elements.map { element in
      let name = element.path.split(separator: "/").last.map(String.init) ?? ""
      let plain = name.split(separator: "[").first.map(String.init) ?? ""
      let words = "\(element.kind) \(element.path) \(element.className)"
      guard let state = element.state, !world.wereLost.contains(plain) else { return words }
      let references = try stored.paths(in: state, forKey: "references")
        .map { $0.hasPrefix("record") ? "nowhere" : $0 }
      return "\(words) \(try element.value ?? "-") \(references)"
    }.sorted()
  }

  private func checkAgainstEverything(_ world: World, _ message: String) async throws {
    let fresh = Launch()
    let whole = try keeper(world, over: fresh, nil)
    _ = try await whole.save(world.roots)
    XCTAssertEqual(
      try contents(launch, world, message), try contents(fresh, world, message), message)
  }

  private func makeWorld() -> World {
    var world = World()
    world.objects = [TestObject("1"), TestObject("2")]
    for _ in 0..<2 { world.roots.append(world.make(&random)) }
    for _ in 0..<10 {
      let parent = pick(world.nodes)
      parent.below.append(world.make(&random))
    }
    return world
  }

  func testWhatSavesOfChangesStoreIsWhatASaveOfEverythingStores() async throws {
    histories: for _ in 0..<Self.historyCount {
      // Each has a seed of its own, with which it can be run alone.
      random = SeededGenerator()
      launch.storedBytes = nil
      var world = makeWorld()
      var story: [String] = []
      var keeper = try keeper(world, over: launch, fails)
      _ = try await keeper.restore()
      for _ in 0..<Self.stepCount {
        for _ in 0...Int.random(in: 0..<3, using: &random) { story.append(change(&world)) }
        switch Int.random(in: 0..<12, using: &random) {
        case 0:
          fails.isSet = true
          _ = try? await keeper.save(world.roots)
          fails.isSet = false
          story.append("a save that failed")
        case 1:
          _ = try await keeper.save(world.roots)
          await keeper.close()
          keeper = try self.keeper(world, over: launch, fails)
          let report = try await keeper.restore(into: world.roots)
          story.append("a launch")
          // What is kept of what only references reach is stored beside the rest.
          if report.notes.contains(.kept) { continue histories }
        case 2:
          _ = try await keeper.saveEverything(world.roots)
          story.append("everything")
        default: break
        }
        let report = try await keeper.save(world.roots)
        XCTAssertEqual(report.outcome, .saved)
        story.append("saved \(report.unaskedCount) unasked")
        let message = "TEST_SEED=\(random.seed): \(story.suffix(12))"
        try await checkAgainstEverything(world, message)
        let again = try await keeper.save(world.roots)
        XCTAssertEqual(again.writtenByteCount, 0, message)
        if self.testRun?.failureCount ?? 0 > 0 { return }
      }
      await keeper.close()
    }
  }

  private static let historyCount = 30
  private static let stepCount = 40
}
