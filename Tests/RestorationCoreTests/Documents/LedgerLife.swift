import Foundation
import RestorationKit
import TestSupport

/// A random life of an app: its launches, and what its user and its later versions do.
@MainActor
final class LedgerLife {
  private var random: SeededGenerator
  private let launch = Launch()
  private var ledger: Ledger
  private var keeper: StateKeeper?
  private var delegate = TestDelegate()
  private var roots: [LedgerNode] = []
  /// The nodes that only references reach, as far as the app has them.
  private var friends: [LedgerNode] = []
  /// What the app had, and has not made in this launch: the path above, and the plan.
  private var absent: [(above: String, plan: LedgerPlan)] = []
  /// Nodes that the app has taken out of the tree, and has not forgotten.
  private var cache: [LedgerNode] = []
  private var versions: [String: Int] = [:]
  private var brokenSteps: Set<String> = []
  private var textCount = 0
  private var hasRestored = false
  private(set) var log: [String] = []
  private static let types: [LedgerNode.Type] = [
    PlainLedgerNode.self, TellingLedgerNode.self, MadeLedgerNode.self,
  ]
  private static let names = ["a", "b", "c", "d"]
  private static let mostNodes = 14

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
    ledger = Ledger(launch)
  }

  /// Lives for some steps.
  ///
  /// - Parameter count: The number of steps.
  /// - Returns: The texts that are lost at the first save that loses one.
  /// - Throws: The errors of saves and restores, none of which a life expects.
  func run(steps count: Int) async throws -> [String] {
    roots = [chance(50) ? TellingLedgerNode("root", newText()) : PlainLedgerNode("root", newText())]
    try await start(restoring: false)
    for _ in 0..<count {
      let lost = try await step()
      if !lost.isEmpty { return lost }
    }
    return try await save()
  }

  private func step() async throws -> [String] {
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<22: edit()
    case 22..<30: add()
    case 30..<35: remove()
    case 35..<40: move()
    case 40..<43: rename()
    case 43..<48: toggleEncode()
    case 48..<54: refer()
    case 54..<62: try await come()
    case 62..<63: try await discard()
    case 63..<65: await discardKept()
    case 65..<67: pass()
    case 67..<80: return try await relaunch()
    default: return try await save()
    }
    return []
  }

  // MARK: The tree

  private var tree: [String: LedgerNode] {
    var (all, left): ([String: LedgerNode], [(String, LedgerNode)]) = ([:], [])
    left = roots.map { ($0.name, $0) }
    while let (path, node) = left.popLast() {
      all[path] = node
      left += node.below.map { ("\(path)/\($0.name)", $0) }
    }
    return all
  }

  private func any() -> (path: String, node: LedgerNode)? {
    let tree = tree
    return tree.keys.sorted().randomElement(using: &random).flatMap { path in
      tree[path].map { (path, $0) }
    }
  }

  private func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

  private func newText() -> String {
    textCount += 1
    return "t\(textCount)"
  }

  private func make(_ name: String, _ type: LedgerNode.Type) -> LedgerNode {
    let type = chance(8) ? Self.types.randomElement(using: &random) ?? type : type
    let node = type.init(name, newText())
    node.throwsInDecode = chance(12)
    return node
  }

  private func freeName(below parent: LedgerNode) -> String? {
    let used = Set(parent.below.map(\.name))
    return Self.names.filter { !used.contains($0) }.randomElement(using: &random)
  }

  private func edit() {
    guard let (path, node) = any() else { return }
    let friend = chance(20) ? friends.randomElement(using: &random) : nil
    (friend ?? node).text = newText()
    log.append("edit \(friend?.name ?? path): \((friend ?? node).text)")
  }

  private func add() {
    guard tree.count < Self.mostNodes, let (path, parent) = any(),
      let name = freeName(below: parent)
    else { return }
    let cached = chance(30) ? cache.popLast() : nil
    let node =
      cached
      ?? make(name, Self.types.randomElement(using: &random) ?? PlainLedgerNode.self)
    node.name = name
    parent.below.append(node)
    log.append(
      "add \(path)/\(name): \(type(of: node)) \(node.text)\(cached == nil ? "" : " again")")
  }

  private func remove() {
    guard let (path, parent) = any(),
      let place = parent.below.indices.randomElement(using: &random)
    else { return }
    let node = parent.below.remove(at: place)
    if chance(50) { cache.append(node) }
    log.append("remove \(path)/\(node.name)")
  }

  private func move() {
    let tree = tree
    guard let (from, node) = any(), let (to, parent) = any(),
      !"\(to)/".hasPrefix("\(from)/"), let name = freeName(below: parent),
      let old = tree.values.first(where: { $0.below.contains { $0 === node } })
    else { return }
    old.below.removeAll { $0 === node }
    node.name = name
    parent.below.append(node)
    log.append("move \(from) to \(to)/\(name)")
  }

  private func rename() {
    guard let (path, parent) = any(), let node = parent.below.randomElement(using: &random),
      let name = freeName(below: parent)
    else { return }
    log.append("rename \(path)/\(node.name) to \(name)")
    node.name = name
  }

  private func toggleEncode() {
    guard let (path, node) = any() else { return }
    node.throwsInEncode.toggle()
    log.append("encode of \(path) \(node.throwsInEncode ? "throws" : "works")")
  }

  private func refer() {
    guard let (path, node) = any() else { return }
    if chance(40) {
      node.friends = []
    } else if let friend = friends.randomElement(using: &random), chance(50) {
      node.friends.append(friend)
    } else {
      let friend = make("friend\(textCount)", PlainLedgerNode.self)
      friends.append(friend)
      node.friends.append(friend)
    }
    log.append("\(path) refers to \(node.friends.map(\.name))")
  }

  // MARK: Launches

  private func relaunch() async throws -> [String] {
    var lost: [String] = []
    if chance(60), hasRestored { lost = try await save() }
    if chance(60) {
      await keeper?.close()
      log.append("close")
    } else {
      log.append("kill")
    }
    launch.endProcess()
    let plans = roots.map(LedgerPlan.init(of:))
    let late = absent
    keeper = nil
    (roots, absent, cache, friends) = ([], [], [], [])
    for type in Self.types where chance(25) {
      versions["\(type)"] = Int.random(in: 1...3, using: &random)
    }
    brokenSteps = []
    for type in Self.types where chance(8) { brokenSteps.insert("\(type)") }
    launch.now += Double.random(in: 0...200_000, using: &random)
    roots = plans.compactMap { build($0, above: "") }
    absent += late.filter { late in
      !absent.contains { $0.above == late.above && $0.plan.name == late.plan.name }
    }
    try await start(restoring: !chance(3))
    return lost
  }

  /// Makes what an app makes before the restore; the rest is absent.
  private func build(_ plan: LedgerPlan, above: String) -> LedgerNode? {
    guard above.isEmpty || (chance(70) && plan.type != MadeLedgerNode.self) else {
      absent.append((above, plan))
      return nil
    }
    let node = make(plan.name, plan.type)
    let path = above.isEmpty ? plan.name : "\(above)/\(plan.name)"
    node.below = plan.below.compactMap { build($0, above: path) }
    return node
  }

  private func start(restoring: Bool) async throws {
    let crashing = restoring && chance(12)
    delegate = TestDelegate()
    delegate.onNode = { [unowned self] path, _ in
      made(at: path.numbered, PlainLedgerNode.self)
    }
    let keeper = try launch.keeper(delegate: delegate)
    self.keeper = keeper
    for type in Self.types {
      let steps = migrations(to: versions["\(type)"] ?? 1) { [brokenSteps] _, _ in
        if brokenSteps.contains("\(type)") { throw LedgerNode.Failure() }
      }
      try keeper.register(
        type, as: "\(type)", version: versions["\(type)"] ?? 1, migrations: steps,
        restoration: type == MadeLedgerNode.self
          ? { [unowned self] path, _ in try madeOrVetoed(at: path) } : nil)
    }
    hasRestored = restoring
    log.append(
      "launch \(versions.sorted { $0.key < $1.key }) broken \(brokenSteps) of \(tree.keys.sorted())"
    )
    try ledger.begin(with: [:])
    guard restoring else { return log.append("no restore") }
    if crashing, let (path, node) = any() {
      node.onDecode = { [launch] in launch.endProcess() }
      log.append("crash in \(path)")
      do { _ = try await keeper.restore(into: roots) } catch {}
      for node in tree.values { node.onDecode = nil }
      launch.endProcess()
      // The next launch has what this one was to have.
      let plans = roots.map(LedgerPlan.init(of:))
      self.keeper = nil
      (roots, friends) = (plans.map(whole), [])
      return try await start(restoring: true)
    }
    let report = try await keeper.restore(into: roots)
    log.append("restored \(tree.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.text)" })")
    if report.outcome != .restored { log.append("\(report.outcome)") }
    try ledger.begin(with: tree)
  }

  private func whole(_ plan: LedgerPlan) -> LedgerNode {
    let node = make(plan.name, plan.type)
    node.below = plan.below.map(whole)
    return node
  }

  /// What the delegate makes: something that is absent, and whose node above is there.
  private func made(at path: String, _ type: LedgerNode.Type) -> LedgerNode? {
    if path.split(separator: "/").last?.hasPrefix("friend") == true {
      guard chance(70) else { return nil }
      let name = path.split(separator: "/").last.map(String.init) ?? ""
      let friend = make(name, PlainLedgerNode.self)
      friends.removeAll { $0.name == name }
      friends.append(friend)
      return friend
    }
    guard chance(60) else { return nil }
    return arrive(at: path)
  }

  private func arrive(at path: String) -> LedgerNode? {
    let place = absent.firstIndex {
      ($0.above.isEmpty ? $0.plan.name : "\($0.above)/\($0.plan.name)") == path
    }
    guard let place else { return nil }
    let (above, plan) = absent[place]
    guard let parent = tree[above], !parent.below.contains(where: { $0.name == plan.name }) else {
      return nil
    }
    absent.remove(at: place)
    let node = make(plan.name, plan.type)
    node.below = plan.below.compactMap { build($0, above: path) }
    parent.below.append(node)
    return node
  }

  private func madeOrVetoed(at path: RestorationPath) throws -> LedgerNode? {
    if chance(10) {
      // Of equal siblings it is the one of this number.
      ledger.release(from: path.numbered)
      log.append("veto of \(path.numbered)")
      return nil
    }
    if chance(25) { throw LedgerNode.Failure() }
    if let node = arrive(at: path.numbered) { return node }
    throw LedgerNode.Failure()
  }

  // MARK: Saves and what comes late

  private func save() async throws -> [String] {
    guard let keeper else { return [] }
    _ = try await keeper.save(roots)
    let tree = tree
    hasRestored = true
    let lost = try ledger.check(tree, friends)
    log.append("saved \(ledger.words)")
    return lost
  }

  private func come() async throws {
    let tree = tree
    guard chance(75), let late = absent.randomElement(using: &random) else {
      // A node that is back may take a body that it has not read.
      guard hasRestored, let (path, node) = any() else { return }
      node.throwsInDecode = chance(20)
      let (owned, said) = (node.owned, node.text)
      let report = try await keeper?.restore(late: node)
      // What the node has said before it was given another body has taken the place of what it had.
      if node.owned != owned { ledger.release(owned.subtracting([said])) }
      return log.append("late again \(path): \(report.map { "\($0.outcome)" } ?? "") \(node.text)")
    }
    let path = late.above.isEmpty ? late.plan.name : "\(late.above)/\(late.plan.name)"
    guard let parent = tree[late.above], let node = arrive(at: path) else { return }
    log.append("come \(path): \(node.text)")
    guard hasRestored, chance(60) else { return }
    let report = try await keeper?.restore(late: node, below: parent)
    for (path, node) in self.tree where tree[path] == nil {
      switch report?.outcome(of: path) {
      case .restored, .restoredWithoutState, .decodeFailed, .newerVersion, .migrationFailed,
        .classMismatch:
        ledger.note(node, at: path)
      default: break
      }
    }
    log.append("late \(path): \(node.text)")
  }

  private func discard() async throws {
    try await keeper?.discardState()
    for node in Array(tree.values) + friends + cache { node.owned = [] }
    ledger.discard()
    log.append("discard")
  }

  private func discardKept() async {
    guard let (path, node) = any() else { return }
    await keeper?.discardKeptState(of: node)
    ledger.releaseUnread(of: node)
    log.append("discard kept of \(path)")
  }

  private func pass() {
    let isLong = chance(20)
    launch.now += isLong ? 400 * 24 * 3600 : 24 * 3600
    if isLong { ledger.age() }
    log.append(isLong ? "a year passes" : "a day passes")
  }
}

extension RestorationPath {
  /// The path as the ledger has it.
  fileprivate var numbered: String {
    var parts: [String] = []
    var next = self
    while let above = next.parent {
      parts.append(
        (next.identifier ?? "") + (next.siblingIndex == 0 ? "" : "[\(next.siblingIndex)]"))
      next = above
    }
    return parts.reversed().joined(separator: "/")
  }
}
