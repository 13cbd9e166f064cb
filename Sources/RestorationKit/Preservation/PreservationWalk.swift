internal import ArchiveCodec

/// Goes through the trees once and writes a record for every node to preserve.
///
/// Parents come before what they contain, and that in order, and what they
/// present last. Then come the nodes that only references reach. The stack is
/// a list, so a deep tree costs no call stack; every node is visited once.
final class PreservationWalk {
  private let builder = RecordBuilder(keys: NodeRecord.keys)
  private let registry: NodeRegistry
  private var lines: [PreservationReport.Entry] = []

  /// What is still to be visited; the last is next.
  private var stack: [Visit] = []
  /// Nodes that somebody referred to, in that order.
  private var referrals: [Referral] = []
  private var roots: [UInt64] = []

  private var records: [ObjectIdentifier: UInt64] = [:]
  /// Nodes that have their place in the tree.
  private var placed: Set<ObjectIdentifier> = []
  /// Nodes that were left out with one above them, and the line that says so.
  private var excluded: [ObjectIdentifier: Int] = [:]
  /// Nodes that came second under an identifier; a reference does not help them.
  private var duplicates: Set<ObjectIdentifier> = []
  /// Lines of nodes that found a place after all.
  private var obsoleteLines: Set<Int> = []
  private var siblings: Set<Sibling> = []
  private var nextRecord = NodeRecord.firstNode
  /// Keeps every node alive, so that identities stay unique during the walk.
  private var seen: [any RestorableNode] = []

  private struct Visit {
    let node: any RestorableNode
    let path: RestorationPath
    let place: Place

    enum Place {
      case root(isDetached: Bool)
      case contained
      case referred(by: UInt64)
      /// Only to be reported: the node at this path ends the walk below it.
      case excluded(by: RestorationPath)
    }
  }

  private struct Referral {
    let node: any RestorableNode
    let referrer: UInt64
    let path: RestorationPath
  }

  private struct Sibling: Hashable {
    let parent: UInt64
    let identifier: String
  }

  init(registry: NodeRegistry) {
    self.registry = registry
  }

  /// The application first, then the nodes in the order of the walk.
  var entries: [PreservationReport.Entry] {
    lines.enumerated().filter { !obsoleteLines.contains($0.offset) }.map(\.element)
  }

  /// Writes the application's record; if the body throws, there is none.
  func encodeApplication(
    facts: (KeyedEncoder) -> Void, state: (StateEncoder, KeyedEncoder) throws -> Void
  ) throws {
    lines.append(
      PreservationReport.Entry(
        path: RestorationPath(), className: "application", outcome: .saved, isDetached: false))
    try builder.append(record: NodeRecord.application) { encoder in
      encoder.encodeContainer(forKey: NodeRecord.factsKey) { facts($0) }
      try encoder.encodeContainer(forKey: NodeRecord.stateKey) { encoder in
        try withCoder(encoder, RestorationPath(), NodeRecord.application, line: 0) {
          try state($0, encoder)
        }
      }
    }
  }

  /// Visits the roots, all below them, and all that is referred to.
  func walk(_ roots: [any RestorableNode]) throws {
    for root in roots {
      if let visit = place(root, below: nil, RestorationPath(), .root(isDetached: false)) {
        stack.append(visit)
      }
    }
    stack.reverse()
    try drain()
    var next = 0
    while next < referrals.count {
      try follow(referrals[next])
      next += 1
    }
    try builder.append(record: NodeRecord.tree) { encoder in
      encoder.encodeReferences(to: self.roots, forKey: NodeRecord.rootsKey)
    }
  }

  /// The records; a coder that is kept holds no nodes after this.
  func finish() throws(ArchiveError) -> RecordBatch {
    seen = []
    referrals = []
    return try builder.finish()
  }

  /// The record of a node that is referred to; nil if it cannot be.
  func reference(
    to node: any RestorableNode, from referrer: UInt64, path: RestorationPath
  ) -> UInt64? {
    guard registry.identifier(of: node) != nil else { return nil }
    if !placed.contains(ObjectIdentifier(node)) {
      referrals.append(Referral(node: node, referrer: referrer, path: path))
    }
    return record(of: node)
  }

  func note(_ problem: PreservationProblem, line: Int) {
    lines[line].problems.append(problem)
  }

  private func record(of node: any RestorableNode) -> UInt64 {
    if let record = records[ObjectIdentifier(node)] { return record }
    defer { nextRecord += 1 }
    seen.append(node)
    records[ObjectIdentifier(node)] = nextRecord
    return nextRecord
  }

  private func drain() throws {
    while let visit = stack.popLast() {
      if case .excluded(let gap) = visit.place {
        report(visit, below: gap)
      } else {
        try preserve(visit)
      }
    }
  }

  /// Gives a node its place, or reports why it has none.
  private func place(
    _ node: any RestorableNode, below parent: UInt64?, _ parentPath: RestorationPath,
    _ place: Visit.Place
  ) -> Visit? {
    guard let identifier = registry.identifier(of: node) else {
      let path = parentPath.appending("")
      return Visit(node: node, path: path, place: .excluded(by: path))
    }
    let path = parentPath.appending(identifier)
    guard identifier.utf8.count <= Self.longestIdentifier else {
      let gap = parentPath.appending("")
      add(node, gap, .noIdentifier, [.identifierTooLong(byteCount: identifier.utf8.count)])
      return nil
    }
    guard !placed.contains(ObjectIdentifier(node)) else {
      add(node, path, .containedTwice, [.containedTwice])
      return nil
    }
    guard siblings.insert(Sibling(parent: parent ?? 0, identifier: identifier)).inserted else {
      duplicates.insert(ObjectIdentifier(node))
      return Visit(node: node, path: path, place: .excluded(by: path))
    }
    placed.insert(ObjectIdentifier(node))
    _ = record(of: node)
    return Visit(node: node, path: path, place: place)
  }

  private func isPreserved(_ visit: Visit) -> Bool {
    if case .excluded = visit.place { false } else { true }
  }

  private func preserve(_ visit: Visit) throws {
    let node = visit.node
    let number = record(of: node)
    var record = NodeRecord(
      identifier: visit.path.identifier ?? "", className: registry.className(of: node))
    record.storyboard = registry.storyboard(of: node)
    var problems: [PreservationProblem] = []
    if let restorationClass = registry.restorationClass(of: node) {
      record.restorationClassName = restorationClass.name
      if !restorationClass.isRegistered {
        problems.append(.restorationClassNotRegistered(restorationClass.name))
      }
    }
    var isDetached = false
    switch visit.place {
    case .root(let detached):
      roots.append(number)
      isDetached = detached
    case .referred(let referrer): record.referrer = referrer
    case .contained, .excluded: break
    }
    let line = add(node, visit.path, .saved, problems, isDetached: isDetached)
    if let obsolete = excluded[ObjectIdentifier(node)] { obsoleteLines.insert(obsolete) }

    let children = node.restorationChildren.compactMap {
      place($0, below: number, visit.path, .contained)
    }
    record.children = children.filter(isPreserved).map { self.record(of: $0.node) }
    let presented = node.restorationPresented.flatMap {
      place($0, below: number, visit.path, .contained)
    }
    if let presented, isPreserved(presented) { record.presented = self.record(of: presented.node) }
    if let presented { stack.append(presented) }
    stack.append(contentsOf: children.reversed())
    try write(record, of: node, number, visit.path, line: line)
  }

  private func write(
    _ record: NodeRecord, of node: any RestorableNode, _ number: UInt64, _ path: RestorationPath,
    line: Int
  ) throws {
    do {
      try builder.append(record: number) { encoder in
        encoder.encodeContainer(forKey: NodeRecord.nodeKey) { record.encode(with: $0) }
        do {
          try encoder.encodeContainer(forKey: NodeRecord.stateKey) { encoder in
            try withCoder(encoder, path, number, line: line, node.encodeRestorableState)
          }
        } catch {
          loseState(line, error)
        }
      }
    } catch {
      // A value was too large for any archive: keep the node, drop its state.
      loseState(line, error)
      try builder.append(record: number) { encoder in
        encoder.encodeContainer(forKey: NodeRecord.nodeKey) { record.encode(with: $0) }
      }
    }
  }

  private func loseState(_ line: Int, _ error: any Error) {
    lines[line].outcome = .savedWithoutState
    lines[line].problems.append(.encodeFailed("\(error)"))
  }

  private func withCoder(
    _ encoder: KeyedEncoder, _ path: RestorationPath, _ record: UInt64,
    line: Int, _ body: (StateEncoder) throws -> Void
  ) throws {
    let coder = StateEncoder(encoder, path: path, record: record, line: line, walk: self)
    defer { coder.close() }
    try body(coder)
  }

  /// Preserves a node that nothing contains, or that is below one left out.
  private func follow(_ referral: Referral) throws {
    let identity = ObjectIdentifier(referral.node)
    guard !placed.contains(identity), !duplicates.contains(identity) else { return }
    let isBelowGap = excluded[identity] != nil
    let visit =
      isBelowGap || referral.referrer == NodeRecord.application
      ? place(referral.node, below: nil, RestorationPath(), .root(isDetached: isBelowGap))
      : place(
        referral.node, below: referral.referrer, referral.path, .referred(by: referral.referrer))
    if let visit { stack.append(visit) }
    try drain()
  }

  /// Reports a node that is left out, and goes on to what is below it.
  private func report(_ visit: Visit, below gap: RestorationPath) {
    let identity = ObjectIdentifier(visit.node)
    guard !placed.contains(identity) else { return }
    if let line = excluded[identity] {
      if duplicates.contains(identity) { markDuplicate(line, visit.path) }
      return
    }
    seen.append(visit.node)
    excluded[identity] =
      if visit.path != gap {
        add(visit.node, visit.path, .excluded(by: gap))
      } else if let identifier = gap.identifier, !identifier.isEmpty {
        add(visit.node, gap, .duplicate, [.duplicateIdentifier(identifier)])
      } else {
        add(visit.node, gap, .noIdentifier)
      }
    let below =
      visit.node.restorationChildren + [visit.node.restorationPresented].compactMap(\.self)
    stack.append(
      contentsOf: below.reversed().map { node in
        Visit(
          node: node, path: visit.path.appending(registry.identifier(of: node) ?? ""),
          place: .excluded(by: gap))
      })
  }

  /// A node below a gap that was referred to, but whose path was taken too.
  private func markDuplicate(_ line: Int, _ path: RestorationPath) {
    guard lines[line].outcome != .duplicate else { return }
    lines[line].outcome = .duplicate
    lines[line].problems.append(.duplicateIdentifier(path.identifier ?? ""))
  }

  /// In bytes of UTF-8, as for the keys of the format.
  static let longestIdentifier = ArchiveLimits.standard.keyByteCount

  /// Returns the number of the new line.
  @discardableResult
  private func add(
    _ node: any RestorableNode, _ path: RestorationPath,
    _ outcome: PreservationReport.NodeOutcome, _ problems: [PreservationProblem] = [],
    isDetached: Bool = false
  ) -> Int {
    lines.append(
      PreservationReport.Entry(
        path: path, className: registry.className(of: node), outcome: outcome,
        isDetached: isDetached,
        problems: problems))
    return lines.count - 1
  }
}
