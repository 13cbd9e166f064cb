import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// Random histories with much that is kept: what saves of changes have stored is what saves of
/// everything store of the same.
@MainActor
final class KeptChangeHistoryTests: XCTestCase {
  /// One of two apps to which the same happens.
  @MainActor private final class Side {
    let launch = Launch()
    var keeper: StateKeeper
    var nodes: [String: any HistoryNode] = [:]
    var roots: [any RestorableNode] = []
    var object: TrackedObject?

    init() throws {
      keeper = try launch.keeper()
    }

    /// Begins a launch; the classes of two nodes have versions.
    func begin(version: Int) throws {
      keeper = try launch.keeper()
      let migrations = migrations(to: version)
      try keeper.register(TrackedSplit.self, version: version, migrations: migrations)
      try keeper.register(PlainTabs.self, version: version, migrations: migrations)
      (nodes, roots) = ([:], [])
    }

    @discardableResult
    func make(_ name: String, below parent: String? = nil) -> any HistoryNode {
      let node: any HistoryNode =
        switch name.first {
        case "v": TrackedSplit(name)
        case "w": PlainTabs(name)
        case "p": PlainNode(name)
        case "o": ObservedNode(name)
        default: TrackedNode(name)
        }
      nodes[name] = node
      if let parent = parent.flatMap({ nodes[$0] }) { parent.below.append(node) }
      if parent == nil { roots.append(node) }
      return node
    }

    /// Makes most of what there is once more, in a new launch.
    func launchAgain(version: Int, _ random: inout SeededGenerator) throws {
      let policy = keeper.policy
      var rest: [(node: any RestorableNode, parent: String?)] = roots.reversed().map { ($0, nil) }
      try begin(version: version)
      keeper.policy = policy
      while let (node, parent) = rest.popLast() {
        guard let name = (node as? any HistoryNode)?.name, nodes[name] == nil,
          parent == nil || Int.random(in: 0..<8, using: &random) > 0
        else { continue }
        make(name, below: parent)
        rest += node.restorationChildren.reversed().map { ($0, name) }
      }
    }

    /// What the later launches make; the first one makes more.
    func build(isWhole: Bool) {
      for root in ["t0", "t1"] { make(root) }
      for (name, parent) in [
        ("t2", "t0"), ("p3", "t0"), ("o4", "t0"), ("v5", "t1"), ("w6", "t1"), ("t7", "v5"),
        ("t8", "p3"), ("t9", "w6"),
      ] { make(name, below: parent) }
      guard isWhole else { return }
      for name in nodes.keys { nodes[name]?.value = "saved \(name)" }
      for (name, parent) in [
        ("u1", "t2"), ("u2", "p3"), ("u3", "v5"), ("u4", "w6"), ("u5", "u1"), ("u6", "t1"),
        ("u7", "t9"),
      ] { make(name, below: parent).value = "kept \(name)" }
      make("u8").value = "kept root"
      nodes["u5"]?.references = [nodes["t8"]].compactMap { $0 }
      nodes["u6"]?.references = [nodes["v5"]].compactMap { $0 }
    }
  }

  private static let historyCount = LongTests.count(20, or: "RESTORATION_HISTORY_COUNT")
  private static let stepCount = 25

  /// A file for what each step has stored and reported, to compare two versions of the library:
  /// `RESTORATION_HISTORY_LOG=PATH`, with `TEST_SEED` for the first history.
  private static let log = ProcessInfo.processInfo.environment["RESTORATION_HISTORY_LOG"]
  private var lines: [String] = []

  private func log(
    _ seed: UInt64, _ step: Int, _ story: [String], _ report: PreservationReport, _ side: Side
  ) throws {
    guard Self.log != nil else { return }
    lines.append("\(seed), \(step): \(story.suffix(2))")
    lines += report.entries.map(\.description).sorted() + report.kept.map { "kept: \($0)" }.sorted()
    lines += try side.launch.storedRecords()?.words ?? ["nothing"]
  }

  /// Where the nodes are that later launches do not make at once.
  private static let parents = [
    "u1": "t2", "u2": "p3", "u3": "v5", "u4": "w6", "u5": "u1", "u6": "t1", "u7": "t9",
  ]

  /// What also the store has to do with.
  private func happen(
    _ side: Side, _ random: inout SeededGenerator, _ step: Int
  ) async throws -> String {
    switch Int.random(in: 0..<60, using: &random) {
    case 0...2:
      let (name, parent) = Self.parents.sorted { $0.key < $1.key }[
        Int.random(in: 0..<Self.parents.count, using: &random)]
      guard side.nodes[name] == nil, let above = side.nodes[parent] else { return "nothing" }
      let node = side.make(name, below: parent)
      let report = try await side.keeper.restore(late: node, below: above)
      return "\(name) comes late: \(report.outcome)"
    case 3:
      try await side.keeper.discardState()
      return "a discard"
    case 4...6:
      let version = Int.random(in: 1...2, using: &random)
      await side.keeper.close()
      try side.launchAgain(version: version, &random)
      let report = try await side.keeper.restore(into: side.roots)
      return "a launch of version \(version): \(report.kept.count) kept"
    default: return change(side, &random, step)
    }
  }

  private func change(_ side: Side, _ random: inout SeededGenerator, _ step: Int) -> String {
    let names = side.nodes.keys.sorted()
    let name = names[Int.random(in: 0..<names.count, using: &random)]
    let other = names[Int.random(in: 0..<names.count, using: &random)]
    guard let node = side.nodes[name], let target = side.nodes[other] else { return "nothing" }
    switch Int.random(in: 0..<17, using: &random) {
    case 0..<7:
      node.value = "\(step)"
      return "value of \(name)"
    case 7:
      side.make("t\(step + 100)", below: name)
      return "t\(step + 100) below \(name)"
    case 8:
      guard !node.below.isEmpty else { return "nothing" }
      node.below.removeLast()
      return "one less below \(name)"
    case 9:
      guard let moved = node.below.popLast() as? any HistoryNode else { return "nothing" }
      let isAbove = sequence(first: [moved] as [any RestorableNode]) { level in
        let below = level.flatMap(\.restorationChildren)
        return below.isEmpty ? nil : below
      }.joined().contains { $0 === target }
      (isAbove ? node : target).below.append(moved)
      return "\(moved.name ?? "") from \(name) to \(other)"
    case 10:
      node.below.reverse()
      return "\(name) turned round"
    case 11:
      let kept = "u\(Int.random(in: 1...8, using: &random))"
      guard side.nodes[kept] == nil else { return "nothing" }
      side.make(kept, below: name)
      return "\(kept) below \(name)"
    case 12:
      let days = [10.0, 200, -5][Int.random(in: 0..<3, using: &random)]
      side.launch.now += days * 24 * 60 * 60
      return "\(days) days"
    case 13:
      let most = [nil, 100, 1000][Int.random(in: 0..<3, using: &random)]
      side.keeper.policy.keptByteCount = most
      return "at most \(most ?? -1) bytes"
    case 14:
      node.references = [target]
      return "\(name) refers to \(other)"
    case 15:
      node.throwsInEncode.toggle()
      return "\(name) throws: \(node.throwsInEncode)"
    default:
      side.launch.keys.isLocked = true
      return "a locked key"
    }
  }

  func testWhatSavesOfChangesKeepIsWhatSavesOfEverythingKeep() async throws {
    var changeCount = 0
    let first = SeededGenerator().seed
    for history in 0..<UInt64(Self.historyCount) {
      let seed = SeededGenerator(seed: first &+ history)
      let sides = [try Side(), try Side()]
      var story: [String] = []
      for side in sides {
        try side.begin(version: 2)
        side.build(isWhole: true)
        _ = try await side.keeper.save(side.roots)
        try side.begin(version: 1)
        side.build(isWhole: false)
        let report = try await side.keeper.restore(into: side.roots)
        XCTAssertEqual(report.kept.count, 9)
      }
      var random = seed
      for step in 0..<Self.stepCount {
        var next = random
        for (place, side) in sides.enumerated() {
          next = random
          for number in 0...1 {
            let what: String
            do {
              what = try await happen(side, &next, 2 * step + number)
            } catch {
              XCTFail("TEST_SEED=\(seed.seed), step \(step) \(number): \(story.suffix(10))")
              throw error
            }
            if place == 0 { story.append(what) }
          }
        }
        random = next
        let report = try await sides[0].keeper.save(sides[0].roots)
        let whole = try await sides[1].keeper.saveEverything(sides[1].roots)
        let message = "TEST_SEED=\(seed.seed), step \(step): \(story.suffix(10))"
        XCTAssertEqual(report.outcome, whole.outcome, message)
        // In the order of the last save that has asked everything.
        XCTAssertEqual(Set(report.kept), Set(whole.kept), message)
        for side in sides { side.launch.keys.isLocked = false }
        if report.unaskedCount > 0, !report.kept.isEmpty { changeCount += 1 }
        XCTAssertEqual(
          try sides[0].launch.storedRecords()?.words, try sides[1].launch.storedRecords()?.words,
          message)
        try log(seed.seed, step, story, whole, sides[1])
        if testRun?.failureCount ?? 0 > 0 { return }
      }
    }
    XCTAssertGreaterThan(changeCount, Self.historyCount)
    if let log = Self.log {
      try Data(lines.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: log))
    }
  }

  /// Lets two apps save all after a restore, then a change, one of them by asking everything, and
  /// compares what is stored.
  private func assertSameAsEverything(
    saved: (Side) throws -> Void, restoring: (Side) throws -> Void = { _ in },
    restored: (Side) throws -> Void = { _ in }, _ change: (Side) throws -> Void,
    line: UInt = #line
  ) async throws {
    var words: [[String]] = []
    var kept: [Set<ReportEntry>] = []
    for savesEverything in [false, true] {
      let side = try Side()
      try side.begin(version: 2)
      try saved(side)
      _ = try await side.keeper.save(side.roots)
      try side.begin(version: 1)
      try restoring(side)
      _ = try await side.keeper.restore(into: side.roots)
      try restored(side)
      _ = try await side.keeper.save(side.roots)
      try change(side)
      let report =
        try await savesEverything
        ? side.keeper.saveEverything(side.roots) : side.keeper.save(side.roots)
      kept.append(Set(report.kept))
      words.append(try XCTUnwrap(try side.launch.storedRecords()).words)
    }
    XCTAssertEqual(words[0], words[1], line: line)
    XCTAssertEqual(kept[0], kept[1], line: line)
    XCTAssertFalse(words[0].isEmpty, line: line)
  }

  private func build(_ names: [String]) -> (Side) -> Void {
    { side in
      side.make("t0")
      for name in names { side.make(name, below: "t0").value = "saved \(name)" }
    }
  }

  func testARecordThatStaysAsItIsStoredNamesNewChildren() async throws {
    for name in ["v1", "w1"] {
      try await assertSameAsEverything(saved: build([name, "t2"]), restoring: build([name, "t2"])) {
        $0.make("t3", below: name)
      }
    }
  }

  func testARecordThatStaysAsItIsStoredHasItsNewIndex() async throws {
    func build(_ side: Side) {
      side.make("v0")
      let nodes = ["v1", "v2"].map { name in
        let node = side.make(name, below: "v0")
        node.name = "same"
        return node
      }
      for (place, node) in nodes.enumerated() { node.value = "saved \(place)" }
    }
    try await assertSameAsEverything(saved: build, restoring: build) {
      $0.nodes["v0"]?.below.reverse()
    }
  }

  func testWhatIsKeptOfANodeAndBelowItComesBackWithIt() async throws {
    for (name, below, isBack) in [
      ("t1", "u2", false), ("v1", "u2", false), ("v1", "t2", true), ("t1", "v2", true),
    ] {
      var away: [any RestorableNode] = []
      try await assertSameAsEverything(
        saved: { side in
          self.build([name])(side)
          side.make(below, below: name).value = "saved below"
        },
        restoring: { side in
          self.build([name])(side)
          if isBack { side.make(below, below: name) }
        },
        restored: { side in
          away = side.nodes["t0"]?.below ?? []
          side.nodes["t0"]?.below = []
        }, { $0.nodes["t0"]?.below = away })
    }
  }

  func testAStateThatWasDroppedComesBackWithNoSaveOfANodeThatThrows() async throws {
    for savesEverything in [false, true] {
      let side = try Side()
      try side.begin(version: 2)
      build(["w1", "t2"])(side)
      _ = try await side.keeper.save(side.roots)
      try side.begin(version: 1)
      build(["w1", "t2"])(side)
      _ = try await side.keeper.restore(into: side.roots)
      // The newer state is kept beside the own one, until there is no room for it.
      side.nodes["w1"]?.value = "own"
      var report = try await side.keeper.save(side.roots)
      XCTAssertEqual(report.kept.map(\.path.description), ["t0/w1"])
      side.nodes["w1"]?.throwsInEncode = true
      side.keeper.policy.keptByteCount = 0
      report = try await side.keeper.save(side.roots)
      XCTAssertTrue(report.description.contains("is dropped"), report.description)
      side.keeper.policy.keptByteCount = nil
      side.nodes["t2"]?.value = "changed"
      report =
        try await savesEverything
        ? side.keeper.saveEverything(side.roots) : side.keeper.save(side.roots)
      XCTAssertEqual(report.kept, [])
      let words = try XCTUnwrap(try side.launch.storedRecords()).words
      XCTAssertEqual(
        words.filter { $0.contains("w1 ") },
        ["node t0/w1 PlainTabs  1 references: [], value: own"])
    }
  }

  func testAnObjectTakesTheNameOfOneThatIsKept() async throws {
    func object(_ value: String, _ side: Side) -> TrackedObject {
      let object = TrackedObject(value)
      side.object = object
      side.keeper.registerObject(object, restorationIdentifier: "object")
      return object
    }
    try await assertSameAsEverything(
      saved: { side in
        self.build(["t1"])(side)
        side.nodes["t1"]?.references = [object("saved", side)]
      }, restoring: build(["t1"]),
      restored: { side in _ = object("own", side) },
      { side in side.nodes["t1"]?.references = [side.object].compactMap(\.self) })
  }
}
