internal import ArchiveCodec
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Goes through the trees once and writes a record for all there is to preserve.
///
/// Parents come before what they contain, and that in order, and what they
/// present last; a node's views follow it directly. Then comes what only
/// references reach, and last what is kept and not back. The stack is a list, so
/// a deep tree costs no call stack; every node is visited once.
final class PreservationWalk {
  let builder: RecordBuilder
  let registry: ObjectRegistry
  let trace: ((RestorationTrace) -> Void)?
  /// When the save began.
  let now: Date
  let kept: KeptRecords?
  var lines: [PreservationReport.Entry] = []

  /// What is still to be visited; the last is next.
  var stack: [Visit] = []
  /// What somebody referred to, in that order.
  private var referrals: [Referral] = []
  var roots: [UInt64] = []

  private(set) var records: [ObjectIdentifier: UInt64] = [:]
  /// What has its place in the tree, and its line.
  var placed: [ObjectIdentifier: Int] = [:]
  /// Nodes that were left out with one above them, and the line that says so.
  var excluded: [ObjectIdentifier: Int] = [:]
  /// What came second under an identifier; a reference does not help it.
  var duplicates: Set<ObjectIdentifier> = []
  /// Lines of nodes that found a place after all.
  var obsoleteLines: Set<Int> = []
  var siblings: Set<Sibling> = []
  private var nextRecord = NodeRecord.firstNode
  /// The records of what is kept and not back, by its places.
  var keptNumbers: [Int: UInt64] = [:]
  /// What the classes that are saved were called before.
  private var formerNames: [String: [String]] = [:]
  /// What is written when all else has its record, and how far that is.
  var storedParts: [StoredPart] = []
  var nextStored = 0
  /// What is kept and waits for what may take its place, and how far that is.
  var waiting: [(place: Int, sibling: Sibling)] = []
  var nextWaiting = 0
  /// Paths of what is kept that something may take, or will when it is visited.
  var untaken: [Sibling: Int] = [:]
  /// What has taken the place of something that is kept.
  var takenPlaces: [Int: any RestorableObject] = [:]
  /// What was kept for long enough.
  var expiredPlaces: [Int] = []
  /// What has no record yet, because its state could not be encoded.
  var lost: [LostState] = []
  /// Keeps everything alive, so that identities stay unique during the walk.
  var seen: [any RestorableObject] = []

  struct Visit {
    let node: any RestorableNode
    let path: RestorationPath
    let place: Place
    /// The record of the one above.
    var parent: UInt64 = 0
    /// What lies below it in a stack and is not preserved.
    var gap: RestorationPath?

    enum Place {
      case root(isDetached: Bool)
      case contained
      case referred(by: UInt64)
      /// Only to be reported: the node at this path ends the walk below it.
      case excluded(by: RestorationPath)
    }
  }

  struct Referral {
    let object: any RestorableObject
    let referrer: UInt64
    let key: String
    /// The line of the one that refers.
    let line: Int
  }

  struct Sibling: Hashable {
    let kind: ElementKind
    let parent: UInt64
    let identifier: String
    let index: Int

    init(kind: ElementKind, parent: UInt64, identifier: String, index: Int) {
      self.kind = kind
      self.parent = parent
      self.identifier = identifier
      self.index = index
    }

    init(_ content: NodeRecord, below parent: UInt64) {
      self.init(
        kind: content.kind, parent: parent, identifier: content.identifier,
        index: content.siblingIndex)
    }

    init(_ kind: ElementKind, _ path: RestorationPath, below parent: UInt64) {
      self.init(
        kind: kind, parent: parent, identifier: path.identifier ?? "", index: path.siblingIndex)
    }
  }

  /// More entries than these end the walk.
  private let nodeLimit: Int
  /// Whether nobody looks at the lines any more.
  private var hasEnded = false

  init(
    registry: ObjectRegistry, limits: ArchiveLimits, nodeLimit: Int, now: Date,
    trace: ((RestorationTrace) -> Void)? = nil
  ) {
    self.registry = registry
    self.now = now
    kept = registry.kept
    builder = RecordBuilder(limits: limits, keys: NodeRecord.keys)
    self.nodeLimit = nodeLimit
    self.trace = trace
  }

  /// Nothing of this walk is reported any more; a coder that is kept holds no nodes
  /// after this.
  func end() {
    hasEnded = true
    (seen, stack, referrals, takenPlaces) = ([], [], [], [:])
  }

  /// Says in this report, or in the next one, that a coder did nothing.
  func noteKeptCoder(of path: RestorationPath, key: String, line: Int) {
    if hasEnded {
      registry.noteKeptCoder(of: path, key: key)
    } else {
      note(.coderKept(key: key), line: line)
    }
  }

  /// The application first, then the rest in the order of the walk.
  ///
  /// The application is there if there is something to say of it.
  var entries: [PreservationReport.Entry] { lines.indices.filter(isReported).map { lines[$0] } }

  /// The first line with a problem; those of one path, since it belongs to both.
  var firstProblem: String? {
    let reported = lines.indices.lazy.filter(isReported)
    guard let first = reported.first(where: { lines[$0].isProblem }).map({ lines[$0] }) else {
      return nil
    }
    return reported.map { self.lines[$0] }
      .filter { $0.kind == first.kind && $0.path == first.path }
      .map(\.description).joined(separator: "\n")
  }

  private func isReported(_ line: Int) -> Bool {
    !obsoleteLines.contains(line) && (line > 0 || !lines[line].notes.isEmpty)
  }

  /// Writes the application's record; if a body throws, there is none.
  func encodeApplication(
    facts: (KeyedEncoder) -> Void, host: ((KeyedEncoder) throws -> Void)?,
    notes: [ReportNote], state: (StateEncoder, KeyedEncoder) throws -> Void
  ) throws {
    lines.append(
      PreservationReport.Entry(
        kind: .application, path: RestorationPath(), className: "application", outcome: .saved,
        notes: notes))
    try builder.append(record: NodeRecord.application) { encoder in
      try encoder.encodeContainer(forKey: NodeRecord.stateKey) { encoder in
        try withCoder(encoder, RestorationPath(), NodeRecord.application, line: 0) {
          try state($0, encoder)
        }
      }
      encoder.encodeContainer(forKey: NodeRecord.factsKey) { facts($0) }
      if let host { try encoder.encodeContainer(forKey: NodeRecord.hostKey, host) }
    }
  }

  /// Visits the roots, all below them, and all that is referred to.
  ///
  /// Whether the snapshot is ignored is asked when every node has been called.
  func walk(
    _ roots: [any RestorableNode], isSnapshotIgnored: () -> Bool
  ) throws {
    for root in roots {
      if let visit = place(root, below: nil, RestorationPath(), .root(isDetached: false)) {
        stack.append(visit)
      }
    }
    stack.reverse()
    waitForRoots()
    try drain()
    var next = 0
    repeat {
      while next < referrals.count {
        try follow(referrals[next])
        next += 1
      }
      // What is kept may refer to what nothing else reaches.
      try keepWaiting()
    } while next < referrals.count
    // What is kept may be of classes that only other versions of the app know.
    let formerNames = formerNames.merging(kept?.formerNames ?? [:]) { own, _ in own }
    let snapshot = snapshotUse(roots, isIgnored: isSnapshotIgnored())
    try builder.append(record: NodeRecord.tree) { encoder in
      encoder.encodeReferences(to: self.roots, forKey: NodeRecord.rootsKey)
      snapshot.encode(with: encoder)
      guard !formerNames.isEmpty else { return }
      encoder.encodeContainer(forKey: NodeRecord.formerNamesKey) { encoder in
        for (name, former) in formerNames.sorted(by: { $0.key < $1.key }) {
          encoder.encode(former, forKey: name)
        }
      }
    }
  }

  func drain() throws {
    while let visit = stack.popLast() {
      guard lines.count <= nodeLimit else {
        throw RestorationError.tooManyNodes(visit.path, nodeLimit)
      }
      if case .excluded(let gap) = visit.place {
        report(visit, below: gap)
      } else {
        try preserve(visit)
      }
    }
  }

  /// The records; first ``keepLastStates(from:)`` must have written what was lost.
  func finish() throws(ArchiveError) -> RecordBatch { try builder.finish() }

  func note(_ note: ReportNote, line: Int) {
    lines[line].notes.append(note)
  }

  /// Notes what belongs to no element.
  func noteApplication(_ note: ReportNote) { self.note(note, line: 0) }

  // MARK: References

  /// The record of what is referred to; nil if it cannot be, which is noted.
  func reference(
    to object: any RestorableObject, from referrer: UInt64, key: String, line: Int
  ) -> UInt64? {
    if placed[ObjectIdentifier(object)] == nil {
      guard canBeReferred(object) else {
        let className = registry.className(of: object)
        note(.referenceWithoutIdentifier(key: key, className: className), line: line)
        return nil
      }
      referrals.append(Referral(object: object, referrer: referrer, key: key, line: line))
    }
    return record(of: object)
  }

  func canBeReferred(_ object: any RestorableObject) -> Bool {
    switch object {
    case let node as any RestorableNode: registry.identifier(of: node) != nil
    case let view as any RestorableView: view.restorationIdentifier?.isEmpty == false
    default: registry.identifier(ofRegistered: object) != nil
    }
  }

  private func follow(_ referral: Referral) throws {
    let identity = ObjectIdentifier(referral.object)
    guard placed[identity] == nil, !duplicates.contains(identity) else { return }
    switch referral.object {
    case let node as any RestorableNode: try follow(referral, to: node)
    case is any RestorableView:
      note(.referenceToUnpreservedView(key: referral.key), line: referral.line)
    default: try preserveObject(referral.object)
    }
  }

  func record(of object: any RestorableObject) -> UInt64 {
    let identity = ObjectIdentifier(object)
    if let record = records[identity] { return record }
    let record = newRecord()
    seen.append(object)
    records[identity] = record
    return record
  }

  func newRecord() -> UInt64 {
    defer { nextRecord += 1 }
    return nextRecord
  }

  // MARK: Records

  /// Adds the line of what has its place now.
  func addPlaced(
    _ kind: ElementKind, _ object: any RestorableObject, _ path: RestorationPath
  ) -> Int {
    let line = add(kind, object, path, .saved)
    placed[ObjectIdentifier(object)] = line
    return line
  }

  /// A record with what all kinds of objects have.
  func makeRecord(
    _ kind: ElementKind, of object: any RestorableObject, _ path: RestorationPath,
    restorationClass: Any.Type?, line: Int
  ) -> NodeRecord {
    var record = NodeRecord(kind, path, className: lines[line].className)
    if let known = registry.restorationClass(of: object, naming: restorationClass) {
      record.restorationClassName = known.name
      if !known.isRegistered {
        note(.restorationClassNotRegistered(known.name), line: line)
      }
    }
    if !registry.formerNames.isEmpty {
      for name in [record.className, record.restorationClassName].compactMap(\.self) {
        noteFormerNames(of: name)
      }
    }
    record.version =
      registry.version(ofClass: record.className, restoredBy: record.restorationClassName).number
    return record
  }

  private func noteFormerNames(of name: String) {
    guard formerNames[name] == nil, name.utf8.count <= Self.longestIdentifier else { return }
    formerNames[name] = registry.formerNames[name]
  }

  func write(_ record: NodeRecord, of object: any RestorableObject, line: Int) throws {
    let number = self.record(of: object)
    if let state = kept?.state(of: object) {
      return keepState(state, record, number, line: line)
    }
    let path = lines[line].path
    let traits = registry.traits(of: object)
    let builtIn = traits.intersection(BuiltInState.encodedTraits)
    let inheritsHooks = traits.contains(.inheritsConformance)
    func encodeOwnPart(_ encoder: KeyedEncoder) {
      encoder.encodeContainer(forKey: NodeRecord.nodeKey) { record.encode(with: $0) }
      guard !builtIn.isEmpty else { return }
      encoder.encodeContainer(forKey: NodeRecord.builtInKey) { encoder in
        BuiltInState.encode(object, with: encoder) { node in
          placed[ObjectIdentifier(node)] == nil ? nil : self.record(of: node)
        }
      }
    }
    do {
      try builder.append(record: number) { encoder in
        encodeOwnPart(encoder)
        try encoder.encodeContainer(forKey: NodeRecord.stateKey) { encoder in
          trace?(RestorationTrace(call: .encodeRestorableState, path: path))
          // The keys in an error are those of the object, without ours around them.
          try encoder.attempt {
            try withCoder(encoder, path, number, line: line) { coder in
              try object.encodeRestorableState(with: coder)
              if !coder.isUsed, inheritsHooks { note(.unusedInheritedHooks, line: line) }
            }
          }
        }
      }
    } catch {
      // It threw, or a value was too large for any archive: keep the node, and
      // what is stored of it.
      loseState(line, error)
      lost.append(
        LostState(
          record: record, number: number, line: line,
          ownPart: try KeyedDecoder.encoding(limits: builder.limits, encodeOwnPart)))
    }
  }

  func loseState(_ line: Int, _ error: any Error) {
    lines[line].outcome = .savedWithoutState
    note(.encodeFailed(error.reason), line: line)
  }

  private func withCoder(
    _ encoder: KeyedEncoder, _ path: RestorationPath, _ record: UInt64,
    line: Int, _ body: (StateEncoder) throws -> Void
  ) throws {
    let coder = StateEncoder(encoder, path: path, record: record, line: line, walk: self)
    defer { coder.close() }
    try body(coder)
  }

  /// Returns the number of the new line.
  @discardableResult
  func add(
    _ kind: ElementKind, _ object: any RestorableObject, _ path: RestorationPath,
    _ outcome: PreservationReport.NodeOutcome, _ notes: [ReportNote] = []
  ) -> Int {
    lines.append(
      PreservationReport.Entry(
        kind: kind, path: path, className: registry.className(of: object), outcome: outcome,
        notes: notes))
    return lines.count - 1
  }

  /// In bytes of UTF-8, as for the keys of the format.
  static let longestIdentifier = ArchiveLimits.standard.keyByteCount
}
