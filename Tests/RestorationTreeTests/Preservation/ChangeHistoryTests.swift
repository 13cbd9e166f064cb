import ArchiveCodec
import Foundation
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
    var trackedObjects: [TrackedObject] = []
    /// To whom the application refers.
    var applicationReferences: [any StateRestoring] = []
    var applicationValue = ""
    var registersClasses = false
    /// Whether there may be what only a save of everything can explain.
    var isRough = false
    /// Those whose encoding has thrown: what is stored of them depends on the past.
    var wereLost: Set<String> = []
    private var count = 0

    @MainActor
    mutating func make(_ random: inout SeededGenerator, name: String? = nil) -> any HistoryNode {
      count += 1
      let name = name ?? "n\(count)"
      let node: any HistoryNode =
        switch Int.random(in: 0..<11, using: &random) {
        case 0, 1: PlainNode(name)
        case 2: ObservedNode(name)
        case 3: TrackedStack(name)
        case 4: TrackedSplit(name)
        case 5: TrackedTabs(name)
        case 6: PlainTabs(name)
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
  private let delegate = TestDelegate()
  private var random = SeededGenerator()

  private func keeper(_ world: World, over launch: Launch, _ fails: Flag?) throws -> StateKeeper {
    let store = HookedStore(launch.store) { name, call throws(ArchiveError) in
      if name == "main", call.isWrite, fails?.isSet == true { throw ArchiveError(.storageFull) }
    }
    let keeper = try StateKeeper(
      application: Launch.application, directory: store, keys: launch.keys, now: { launch.now })
    keeper.delegate = delegate
    show(world)
    for (place, object) in world.objects.enumerated() {
      // In a rough world the last two have the same name.
      let number = world.isRough ? min(place, 1) : place
      keeper.registerObject(object, restorationIdentifier: "object \(number)")
    }
    for (place, object) in world.trackedObjects.enumerated() {
      keeper.registerObject(object, restorationIdentifier: "tracked \(place)")
    }
    if world.registersClasses { try registerClasses(keeper) }
    return keeper
  }

  /// What the application encodes from now on.
  private func show(_ world: World) {
    delegate.onWillEncode = { coder in
      coder.encode(world.applicationValue, forKey: "value")
      coder.encode(world.applicationReferences, forKey: "references")
    }
  }

  private func registerClasses(_ keeper: StateKeeper) throws {
    try keeper.register(TrackedStack.self, as: "Stack", aliases: ["OldStack"])
    try keeper.register(PlainTabs.self, as: "Tabs", aliases: ["OldTabs"])
  }

  // MARK: Changes

  private func pick<Element>(_ elements: [Element]) -> Element {
    elements[Int.random(in: 0..<elements.count, using: &random)]
  }

  /// Names that are equal or missing, errors, and nodes that two contain.
  private static let roughKinds: Set = [14, 17, 18, 20, 22, 24, 27]

  private func anyParent(_ node: any HistoryNode, _ world: World) -> (any StateRestoring)? {
    let parents: [(any StateRestoring)?] = [
      nil, node, pick(world.objects), pick(world.trackedObjects),
    ]
    return pick(parents)
  }

  private func isInCircle(_ object: TrackedObject) -> Bool {
    var above = object.restorationParent as? any RestorableObject
    while let next = above, next !== object {
      above = next.restorationParent as? any RestorableObject
    }
    return above != nil
  }

  /// Changes something; returns what, in words.
  private func change(_ world: inout World) -> String {
    let node = pick(world.nodes)
    let other = pick(world.nodes)
    let kind = Int.random(in: 0..<32, using: &random)
    guard world.isRough || !Self.roughKinds.contains(kind) else { return "nothing" }
    switch kind {
    case 22:
      let tabs = world.nodes.compactMap { $0 as? any RestorableTabs }
      guard !tabs.isEmpty else { return "nothing" }
      let chosen = pick(tabs)
      let choices: [(any RestorableNode)?] = [nil, other] + chosen.restorationChildren
      chosen.selectedTab = pick(choices)
      let selected = chosen.selectedTab?.restorationName ?? "nil"
      return "\(chosen.restorationName ?? "nil") selects \(selected)"
    case 23:
      let object = pick(world.trackedObjects)
      object.restorationParent = anyParent(node, world)
      // Which of those that scope each other lies below the other one is a matter of the past.
      if !world.isRough, isInCircle(object) { object.restorationParent = nil }
      return "another parent of a tracked object"
    case 24:
      pick(world.objects).restorationParent = anyParent(node, world)
      return "another parent of an object"
    case 25:
      let targets: [any StateRestoring] = [
        other, node, pick(world.objects), pick(world.trackedObjects),
      ]
      world.applicationReferences = targets.shuffled(using: &random)
        .suffix(Int.random(in: 0...3, using: &random))
      return "the application refers to \(world.applicationReferences.count)"
    case 26:
      world.applicationValue = "\(UInt8.random(in: 0...255, using: &random))"
      return "the application"
    case 27:
      // Contained twice, at least for a while.
      guard !world.contains(other, below: node) else { return "nothing" }
      node.below.append(other)
      return "\(other.name ?? "nil") also below \(node.name ?? "nil")"
    case 28:
      let object = pick(world.trackedObjects)
      let targets: [any StateRestoring] = [
        other, pick(world.objects), pick(world.trackedObjects),
      ]
      object.references = targets.suffix(Int.random(in: 0...3, using: &random))
      return "a tracked object refers to \(object.references.count)"
    case 29:
      node.references = [pick(world.trackedObjects)]
      if let view = node.views.first { node.references.append(view) }
      return "\(node.name ?? "nil") refers to a view and an object"
    case 30:
      let inner = TestView(pick(["inner", "label"]), value: "\(world.nodes.count)")
      node.views = [TestView(pick(["view", nil]), subviews: [inner]), TestView("last")]
      return "views in views of \(node.name ?? "nil")"
    case 31:
      // What nobody else holds dies, and its address is used again.
      guard node.below.contains(where: { $0 === other }) else { return "nothing" }
      let isFree = !world.roots.contains { $0 === other }
      if isFree { world.nodes.removeAll { $0 === other } }
      node.below.removeAll { $0 === other }
      node.below.append(world.make(&random))
      return "\(other.name ?? "nil") dies below \(node.name ?? "nil")"
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
      return "\(node.name ?? "nil") shows \(node.shown?.restorationName ?? "nothing")"
    case 15, 16:
      let targets: [any StateRestoring] = [other, pick(world.objects)]
      node.references = Bool.random(using: &random) ? [] : targets
      return
        "\(node.name ?? "nil") refers to \(node.references.isEmpty ? "none" : other.name ?? "nil")"
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

  private func checkAgainstEverything(
    _ world: World, by keeper: StateKeeper, _ message: String
  ) async throws {
    // Which of two of one name has a place is a matter of the past, which no other keeper has.
    if world.isRough {
      // Of two who contain a node that says nothing of its changes the next save may choose the other one.
      _ = try await keeper.save(world.roots)
      guard Bool.random(using: &random) else { return }
      let stored = try launch.storedRecords()?.words ?? []
      _ = try await keeper.saveEverything(world.roots)
      let expected = try launch.storedRecords()?.words ?? []
      XCTAssertEqual(
        stored.filter { !expected.contains($0) }, expected.filter { !stored.contains($0) }, message)
      XCTAssertEqual(stored, expected, message)
      return
    }
    let fresh = Launch()
    let whole = try self.keeper(world, over: fresh, nil)
    _ = try await whole.save(world.roots)
    let stored = try launch.storedRecords()?.words(withoutThoseOf: world.wereLost) ?? []
    let expected = try fresh.storedRecords()?.words(withoutThoseOf: world.wereLost) ?? []
    XCTAssertEqual(
      stored.filter { !expected.contains($0) }, expected.filter { !stored.contains($0) }, message)
    XCTAssertEqual(stored, expected, message)
  }

  private func makeWorld() -> World {
    var world = World()
    world.isRough = Bool.random(using: &random)
    world.objects = (0..<3).map { TestObject("\($0)") }
    world.trackedObjects = (0..<3).map { TrackedObject("\($0)") }
    for _ in 0..<2 { world.roots.append(world.make(&random)) }
    for _ in 0..<10 {
      let parent = pick(world.nodes)
      parent.below.append(world.make(&random))
    }
    return world
  }

  func testWhatSavesOfChangesStoreIsWhatASaveOfEverythingStores() async throws {
    var changeCount = 0
    histories: for _ in 0..<Self.historyCount {
      // Each has a seed of its own, with which it can be run alone.
      random = SeededGenerator()
      try launch.removeState()
      var world = makeWorld()
      var story: [String] = []
      var keeper = try keeper(world, over: launch, fails)
      _ = try await keeper.restore()
      var older: [UInt8]?
      for _ in 0..<Self.stepCount {
        for _ in 0...Int.random(in: 0..<3, using: &random) { story.append(change(&world)) }
        switch Int.random(in: 0..<18, using: &random) {
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
          older = nil
          // What is kept of what only references reach is stored beside the rest.
          if report.notes.contains(.kept) { continue histories }
        case 2:
          _ = try await keeper.saveEverything(world.roots)
          story.append("everything")
        case 3:
          try await keeper.discardState()
          story.append("a discard")
        case 4:
          delegate.saves = false
          _ = try await keeper.save(world.roots)
          delegate.saves = true
          try launch.assertNothingIsStored()
          story.append("a save that was declined")
        case 5:
          launch.storedBytes = older
          story.append("an older copy")
        case 6:
          launch.keys.isLocked = true
          _ = try await keeper.save(world.roots)
          launch.keys.isLocked = false
          story.append("a locked key")
        case 7:
          if !world.registersClasses { try registerClasses(keeper) }
          world.registersClasses = true
          story.append("classes registered")
        case 8:
          older = launch.storedBytes
        default: break
        }
        show(world)
        let report = try await keeper.save(world.roots)
        XCTAssertEqual(report.outcome, .saved)
        if report.unaskedCount > 0 { changeCount += 1 }
        story.append("saved \(report.unaskedCount) unasked")
        let message = "TEST_SEED=\(random.seed): \(story.suffix(12))"
        try await checkAgainstEverything(world, by: keeper, message)
        show(world)
        let again = try await keeper.save(world.roots)
        XCTAssertEqual(again.writtenByteCount, 0, message)
        if self.testRun?.failureCount ?? 0 > 0 { return }
      }
      await keeper.close()
    }
    XCTAssertGreaterThan(changeCount, 0)
  }

  private static let historyCount = LongTests.count(10, or: "RESTORATION_HISTORY_COUNT")
  private static let stepCount = 40
}
