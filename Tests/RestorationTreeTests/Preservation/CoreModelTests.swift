import RestorationKit
import TestSupport
import XCTest

/// What a save does with any small tree, compared with a plain model of the rules.
@MainActor
final class CoreModelTests: XCTestCase {
  private let launch = Launch()

  /// A tree by numbers, which stand for nodes.
  private struct Shape {
    var identifiers: [String?]
    var roots: [Int] = []
    var children: [[Int]]
    var presented: [Int?]
    /// Whom a node refers to while it is encoded, in order.
    var references: [[Int]]
    var stacks: Set<Int> = []

    init(_ identifiers: [String?]) {
      self.identifiers = identifiers
      children = identifiers.map { _ in [] }
      presented = identifiers.map { _ in nil }
      references = identifiers.map { _ in [] }
    }

    /// Puts a node into the tree; what is presented already makes it a child.
    mutating func put(_ node: Int, _ place: Int, below parent: Int) {
      switch place {
      case 0: roots.append(node)
      case 1 where presented[parent] == nil: presented[parent] = node
      case 2: break
      case 3: children[parent].insert(node, at: 0)
      default: children[parent].append(node)
      }
    }
  }

  private typealias Outcome = PreservationReport.NodeOutcome

  /// The rules, with a set and a dictionary for each question.
  private struct Model {
    struct Name: Hashable {
      let parent: Int?
      let identifier: String
      let index: Int
    }

    struct Visit {
      let node: Int
      let path: RestorationPath
      var gap: RestorationPath?
    }

    let shape: Shape
    var lines: [(path: RestorationPath, outcome: Outcome)] = []
    private var placed: Set<Int> = []
    private var duplicates: Set<Int> = []
    private var names: Set<Name> = []
    private var linesOfExcluded: [Int: Int] = [:]
    private var stack: [Visit] = []
    private var referrals: [(node: Int, referrer: Int, path: RestorationPath)] = []

    init(_ shape: Shape) {
      self.shape = shape
      stack = shape.roots.compactMap { place($0, below: nil, RestorationPath()) }.reversed()
      drain()
      var next = 0
      while next < referrals.count {
        follow(referrals[next])
        next += 1
      }
    }

    private mutating func place(
      _ node: Int, below parent: Int?, _ above: RestorationPath, index: Int = 0,
      isReferred: Bool = false
    ) -> Visit? {
      guard let identifier = shape.identifiers[node], !identifier.isEmpty else {
        return Visit(node: node, path: above.appending(""), gap: above.appending(""))
      }
      let path = above.appending(identifier, siblingIndex: index)
      guard !placed.contains(node) else {
        lines.append((path, .containedTwice))
        return nil
      }
      guard names.insert(Name(parent: parent, identifier: identifier, index: index)).inserted
      else {
        if isReferred {
          return place(node, below: parent, above, index: index + 1, isReferred: true)
        }
        duplicates.insert(node)
        return Visit(node: node, path: path, gap: path)
      }
      placed.insert(node)
      return Visit(node: node, path: path)
    }

    private mutating func drain() {
      while let visit = stack.popLast() {
        if let gap = visit.gap { leaveOut(visit, gap) } else { preserve(visit) }
      }
    }

    private mutating func preserve(_ visit: Visit) {
      lines.append((visit.path, .saved))
      var counts: [String: Int] = [:]
      var below: [Visit] = []
      for child in shape.children[visit.node] {
        var index = 0
        if shape.stacks.contains(visit.node), let identifier = shape.identifiers[child] {
          index = counts[identifier, default: 0]
          counts[identifier] = index + 1
        }
        if let next = place(child, below: visit.node, visit.path, index: index) {
          below.append(next)
        }
      }
      if let presented = shape.presented[visit.node],
        let next = place(presented, below: visit.node, visit.path)
      {
        below.append(next)
      }
      stack += below.reversed()
      for node in shape.references[visit.node] where !placed.contains(node) {
        guard shape.identifiers[node]?.isEmpty == false else { continue }
        referrals.append((node, visit.node, visit.path))
      }
    }

    private mutating func follow(_ referral: (node: Int, referrer: Int, path: RestorationPath)) {
      guard !placed.contains(referral.node) else { return }
      let visit = place(
        referral.node, below: referral.referrer, referral.path, isReferred: true)
      stack += [visit].compactMap(\.self)
      drain()
    }

    private mutating func leaveOut(_ visit: Visit, _ gap: RestorationPath) {
      guard !placed.contains(visit.node) else { return }
      if let line = linesOfExcluded[visit.node] {
        if duplicates.contains(visit.node) { lines[line].outcome = .duplicate }
        return
      }
      linesOfExcluded[visit.node] = lines.count
      let own: Outcome = visit.path.identifier == "" ? .noIdentifier : .duplicate
      // What lies below has no line, and is stored if a reference leads there.
      lines.append((visit.path, own))
    }
  }

  private func check(_ shape: Shape, _ keeper: StateKeeper, _ message: String) async throws {
    let nodes = shape.identifiers.indices.map { number in
      shape.stacks.contains(number)
        ? TestStack(shape.identifiers[number]) : TestNode(shape.identifiers[number])
    }
    for (number, node) in nodes.enumerated() {
      node.value = "\(number)"
      node.restorationChildren = shape.children[number].map { nodes[$0] }
      node.restorationPresented = shape.presented[number].map { nodes[$0] }
      node.onEncode = { coder in
        for (place, target) in shape.references[number].enumerated() {
          coder.encode(nodes[target], forKey: "\(place)")
        }
      }
    }
    let report = try await keeper.save(shape.roots.map { nodes[$0] })
    let expected = Model(shape).lines
    let entries = report.entries.filter { $0.kind == .node }
    XCTAssertEqual(entries.map(\.path.description), expected.map(\.path.description), message)
    // A node that only references reach has its number at the end of the save, after the lines of what is left out.
    XCTAssertEqual(
      entries.filter { $0.outcome == .saved }.map(\.path),
      expected.filter { $0.outcome == .saved }.map(\.path), message)
    XCTAssertEqual(entries.map(\.outcome), expected.map(\.outcome), message)
    let stored = try XCTUnwrap(try launch.storedRecords())
    XCTAssertEqual(stored.strays, [], message)
    XCTAssertEqual(
      stored.elements.count, expected.count { $0.outcome == .saved }, message)
    for node in nodes {
      (node.restorationChildren, node.restorationPresented, node.onEncode) = ([], nil, nil)
    }
  }

  func testEveryTreeOfTwoNodesIsSavedByTheRules() async throws {
    let keeper = try launch.keeper()
    let names: [String?] = [nil, "a", "\u{e9}", "e\u{301}"]
    for number in LongTests.some(of: 0..<4 * 4 * 5 * 5 * 3 * 2) {
      var rest = number
      func next(_ count: Int) -> Int {
        defer { rest /= count }
        return rest % count
      }
      var shape = Shape([names[next(4)], names[next(4)]])
      shape.put(0, 0, below: 0)
      shape.put(1, next(5), below: 0)
      // A second place of one of the nodes, and a reference between them; the last
      // is none.
      let again = next(5)
      if again < 4 { shape.put(again / 2, 4, below: again % 2) }
      let referrer = next(3)
      if referrer < 2 { shape.references[referrer] = [1 - referrer] }
      if next(2) == 1 { shape.stacks = [0] }
      try await check(shape, keeper, "tree \(number)")
    }
  }

  func testTreesOfUpToSixNodesAreSavedByTheRules() async throws {
    let keeper = try launch.keeper()
    let names: [String?] = [nil, "", "a", "a", "b", "\u{e9}", "e\u{301}"]
    var generator = SeededGenerator()
    for number in 0..<LongTests.count(1500) {
      func next(_ count: Int) -> Int { Int.random(in: 0..<count, using: &generator) }
      let count = 1 + next(6)
      var shape = Shape((0..<count).map { _ in names[next(names.count)] })
      shape.put(0, 0, below: 0)
      for node in 0..<count where node > 0 { shape.put(node, next(7), below: next(node)) }
      for _ in 0..<next(3) { shape.put(next(count), 1 + next(4), below: next(count)) }
      // Any of several that refer to a node may have it, so at most one refers.
      for _ in 0..<next(2) { shape.references[next(count)].append(next(count)) }
      shape.stacks = Set((0..<count).filter { _ in next(3) == 0 })
      try await check(shape, keeper, "seed \(generator.seed), tree \(number): \(shape)")
    }
  }
}
