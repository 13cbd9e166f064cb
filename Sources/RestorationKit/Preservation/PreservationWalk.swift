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
/// a deep tree costs no call stack; every node is visited once. A save of what has
/// changed asks fewer of them, in the same order.
final class PreservationWalk: StateEncoding {
  let builder: RecordBuilder
  /// That of all objects; their coder keeps it.
  let encoder: KeyedEncoder
  let types: TypeTable
  let objects: ObjectTable
  let trace: ((RestorationTrace) -> Void)?
  /// When the save began.
  let now: Date
  let rows: Rows
  let secrets: SecretKeys
  /// See ``SecretUse/clearCount``.
  let clearCount: Int
  /// Whether all is written, and not only what is stored otherwise.
  let rewrites: Bool
  /// Whether it is only about who is there and what they say, and nothing is stored.
  let isRehearsal: Bool
  @safe @exclusivity(unchecked) var report = WalkReport()

  /// What is still to be visited; the last is next.
  @safe @exclusivity(unchecked) var stack: [Visit] = []
  /// What is known of the nodes that are left out.
  var exclusions: [Exclusion] = []
  /// Of some in a stack, what lies below them there and is not preserved.
  @safe @exclusivity(unchecked) var gaps: [RowNumber: RestorationPath] = [:]
  /// What somebody referred to, in that order.
  var referrals: [Referral] = []
  /// The coder of the last object; the next one gets it too, unless somebody kept it.
  @safe @exclusivity(unchecked) var coder: StateEncoder?

  /// The names of the children of the node that is visited.
  @safe @exclusivity(unchecked) var names = NameCheck()
  /// The names of those that had no part in that.
  var siblings: Set<Sibling> = []
  /// Whether those of all objects are among these.
  var namesObjects = false
  /// Whose children are among these.
  var namedParents: Set<RowNumber> = []

  /// Whether the application has something to store that is not stored.
  private(set) var isApplicationChanged = false
  private(set) var isTreeChanged = false
  /// Whether nothing was left out: all that somebody contains or refers to has its place and
  /// its state.
  var isRegular: Bool { rows.isRegular && !report.hasProblems }
  /// Whether every object is asked.
  private(set) var asksEverything = false
  /// What the rows said of those that are written, for a walk that may begin anew.
  var undo: [Undo] = []
  /// Whether it may.
  @safe @exclusivity(unchecked) private(set) var keepsUndo = true
  /// What was known of the values with a sensitivity of those that are written.
  var sensitiveUndo: [SensitiveUndo] = []
  /// The subkeys that were made in this walk.
  var madeSubkeys: Set<UInt64> = []

  /// What is found out about what a restore could not bring back; nil if that is nothing.
  var keeping: KeptSurvey?
  /// What has no record yet, because its state could not be encoded.
  var lost: [LostState] = []

  /// Keep everything alive, so that identities stay unique during the walk: the
  /// arrays that nodes gave, and what came alone.
  private var seenContents: [[any RestorableNode]] = []
  private var seen: [any StateRestoring] = []

  /// More entries than these end the walk.
  let nodeLimit: Int
  /// The rows of objects that are not there any more: they lose their place with what
  /// contained them, or only asking everything tells where they went.
  var gone: [RowNumber] = []
  /// Whether the record of an element is written.
  var hasWritten = false
  /// Those of the tabs that were asked which nothing else holds.
  var askedTabs: [RowNumber: any StateRestoring] = [:]
  /// Whether nobody looks at the notes any more.
  private(set) var hasEnded = false

  /// What bounds the state.
  let budget: SizeBudget?
  /// What bounds what is kept.
  let keptBound: KeptBound?
  /// What is stored, if the rows do not know it and the budget may ask for it.
  let stored: StoredTree?
  /// What becomes of those for which there is no room.
  var fates: [ObjectIdentifier: BudgetPlan.Fate] = [:]
  /// Whether there are such; most saves test this alone.
  @safe @exclusivity(unchecked) var hasFates = false

  struct Undo {
    let number: RowNumber
    let stored: RecordFingerprint
    let byteCount: UInt32
    let wasAsked: Bool
  }

  struct Referral {
    let object: any StateRestoring
    /// Nil for the application.
    let referrer: RowNumber?
    let key: String
  }

  /// Begins a walk that writes with a builder of what changes the rows' archive; nil
  /// writes all anew.
  init(
    _ rows: Rows, changing builder: RecordBuilder? = nil, types: TypeTable, objects: ObjectTable,
    limits: ArchiveLimits, secrets: SecretKeys, nodeLimit: Int, now: Date,
    budget: SizeBudget? = nil, keptBound: KeptBound? = KeptBound(), stored: StoredTree? = nil,
    isRehearsal: Bool = false, remembersSaid: Bool = false,
    trace: ((RestorationTrace) -> Void)? = nil
  ) {
    (self.budget, self.keptBound, self.stored) = (budget, keptBound, stored)
    self.rows = rows
    self.types = types
    self.objects = objects
    self.secrets = secrets
    clearCount = secrets.clearCount
    self.now = now
    keeping = isRehearsal ? nil : objects.kept.map { KeptSurvey($0, keptBound) }
    self.isRehearsal = isRehearsal
    rewrites = builder == nil
    self.builder = builder ?? RecordBuilder(limits: limits, keys: NodeRecord.keys)
    encoder = self.builder.makeEncoder()
    self.nodeLimit = nodeLimit
    self.trace = trace
    rows.beginSave()
    rows.said = remembersSaid ? LastSaid(viewLimit: nodeLimit) : nil
    if isRehearsal { return }
    if !rows.sensitive.isEmpty || !objects.ages.isEmpty { beginAges() }
  }

  /// Nothing of this walk is reported any more; a coder that is kept holds no nodes
  /// after this.
  func end() {
    hasEnded = true
    (seen, seenContents, stack, referrals, askedTabs) = ([], [], [], [], [:])
    keeping?.letGo()
    sensitiveUndo = []
    if !isKnownUniquelyReferenced(&coder) { letGoOfCoder() }
    coder = nil
  }

  // MARK: The whole

  /// Writes the application's record; if a body throws, there is none.
  func encodeApplication(
    facts: (KeyedEncoder) -> Void, host: ((KeyedEncoder) throws -> Void)?,
    notes: [ReportNote], state: (StateEncoder) throws -> Void
  ) throws {
    for note in notes { rows.note(note, nil) }
    try builder.begin(record: NodeRecord.application, with: encoder)
    do {
      // Without the facts, which say when it was saved.
      var fingerprints: [RecordFingerprint] = []
      rows.applicationByteCount = 0
      func encode(forKey key: String, _ body: () throws -> Void) throws {
        let container = encoder.beginContainer(forKey: key)
        try body()
        encoder.endContainer(container)
        fingerprints.append(encoder.fingerprint(of: container))
        rows.applicationByteCount += encoder.byteCount(of: container)
      }
      let coder = openCoder(nil)
      defer { coder.close() }
      try encode(forKey: NodeRecord.stateKey) {
        try state(coder)
        coder.finishContainer()
      }
      if let written = encodeSensitiveOfApplication(coder.sensitive) {
        fingerprints.append(written.fingerprint)
        rows.applicationByteCount += written.byteCount
      }
      if let host { try encode(forKey: NodeRecord.hostKey) { try host(encoder) } }
      encoder.encodeContainer(forKey: NodeRecord.factsKey) { facts($0) }
      isApplicationChanged = fingerprints != rows.application
      rows.application = fingerprints
    } catch {
      builder.abandon()
      throw error
    }
    if rewrites || isApplicationChanged || time == 0 {
      try builder.end()
    } else {
      builder.abandon()
    }
  }

  /// What the commit says of the time of the save.
  var time: UInt32 { SaveFacts.number(of: now) }

  /// Visits the roots, all below them, and all that is referred to.
  ///
  /// Whether the snapshot is ignored is asked when every node has been called. With
  /// `everything` also those are asked that say when they change.
  func walk(
    _ roots: [any RestorableNode], everything asksAll: Bool, isSnapshotIgnored: () -> Bool
  ) throws {
    seenContents.append(roots)
    rows.said?.noteRoots(roots, objects)
    if !asksAll, canTellChanges {
      let mark = try builder.mark()
      let notes = rows.notes[nil]
      do {
        try walkChanges(roots)
        return try encodeTree(isTopPreserved: isTopPreserved(), isIgnored: isSnapshotIgnored())
      } catch is NeedsEverything {
        // What happened to them is found out by asking all of them.
        for undo in undo { rows[undo.number].isAsked = false }
        beginAnew(from: mark, notes)
      }
    }
    try walkEverythingWithinBudget(roots)
    if !isRehearsal { objects.ages.endWalk() }
    rows.said?.hasLeftOut = hasFates
    let isTopPreserved = isTopPreserved(roots)
    rows.isRegular = isRegular && isTopPreserved
    noteKept()
    try encodeTree(isTopPreserved: isTopPreserved, isIgnored: isSnapshotIgnored())
  }

  /// Forgets what the walk has found out since a mark.
  func beginAnew(from mark: RecordBuilder.Mark, _ notes: [ReportNote]?) {
    builder.goBack(to: mark)
    rows.notes[nil] = notes
    for undo in undo.reversed() {
      rows[undo.number].stored = undo.stored
      rows[undo.number].byteCount = undo.byteCount
    }
    undo = []
    takeBackSensitive()
    referrals.removeAll { $0.referrer != nil }
    hasWritten = false
    (report, stack, lost, siblings, namedParents) = (WalkReport(), [], [], [], [])
    (exclusions, gaps, askedTabs) = ([], [:], [:])
    keeping = kept.map { KeptSurvey($0, keptBound) }
    rows.besides = []
  }

  /// Forgets that this walk has asked, for one that asks all the same again.
  func restoreWasAsked() {
    for undo in undo.reversed() { rows[undo.number].isAsked = undo.wasAsked }
  }

  /// Whether those that never say when they change can be asked alone.
  private var canTellChanges: Bool {
    !rewrites && rows.tellChanges && rows.registrationCount == registrationCount
      && rows.placedCount < nodeLimit && rows.kept.stays(kept, keptBound, at: now)
  }

  private var registrationCount: Int { types.changeCount + objects.changeCount }

  func walkEverything(_ roots: [any RestorableNode]) throws {
    asksEverything = true
    keepsUndo = budget?.hard != nil
    // What a hook registers comes too late for those that were asked before it.
    rows.registrationCount = registrationCount
    rows.beginWalk(kept)
    if !isRehearsal { objects.ages.beginWalk() }
    for root in roots {
      guard let visit = place(root, below: nil, .root(isDetached: false)) else { continue }
      if case .root(let number, _) = visit.place { rows.roots.append(number) }
      stack.append(visit)
    }
    stack.reverse()
    meetKeptRoots()
    try drain()
    try followReferrals()
  }

  func followReferrals() throws {
    var next = 0
    repeat {
      while next < referrals.count {
        try follow(referrals[next])
        next += 1
      }
      // What is kept may refer to what nothing else reaches.
      try settleKept()
    } while next < referrals.count
    for referral in referrals {
      if let number = rows.placed(referral.object) {
        noteReference(to: number, from: referral.referrer)
      } else {
        // Another one may get its record.
        rows.isRegular = false
      }
    }
  }

  /// The roots in order, and the objects among them in one that does not depend on who
  /// referred to them first.
  private var orderedRoots: [RowNumber] {
    var objects = rows.storedRoots.filter { rows[$0].kind == .object }
    objects.sort { $0.place > $1.place }
    return rows.storedRoots.map { number in
      rows[number].kind == .object ? objects.popLast() ?? number : number
    }
  }

  private func encodeTree(isTopPreserved: Bool, isIgnored: Bool) throws {
    // What is kept may be of classes that only other versions of the app know.
    let formerNames = rows.formerNames.merging(kept?.formerNames ?? [:]) { own, _ in own }
    let snapshot: SnapshotUse =
      !isTopPreserved ? .topIsNotPreserved : isIgnored ? .ignoredOnce : .matching
    try builder.begin(record: NodeRecord.tree, with: encoder)
    encoder.encodeReferences(to: orderedRoots.map(\.record), forKey: NodeRecord.rootsKey)
    snapshot.encode(with: encoder)
    if !formerNames.isEmpty {
      encoder.encodeContainer(forKey: NodeRecord.formerNamesKey) { encoder in
        for (name, former) in formerNames.sorted(by: { $0.key < $1.key }) {
          encoder.encode(former, forKey: name)
        }
      }
    }
    if rewrites {
      try builder.end()
      return
    }
    // A wish to ignore the snapshot is for the version that is written with it.
    let known = snapshot == .ignoredOnce ? nil : rows.tree
    (rows.tree, _, isTreeChanged) = try builder.end(ifOtherThan: known)
  }

  func drain() throws {
    while let visit = stack.popLast() {
      try checkCount(path(of: visit))
      if case .excluded(let number) = visit.place {
        leaveOut(visit.node, exclusions[number])
      } else {
        try preserve(visit)
      }
    }
  }

  /// Makes sure that there is room for one more; a walk through everything says whether
  /// there is.
  func checkCount(_ path: @autoclosure () -> RestorationPath) throws {
    guard report.count >= nodeLimit || !asksEverything && rows.placedCount > nodeLimit else {
      return
    }
    guard asksEverything else { throw NeedsEverything() }
    throw RestorationError.tooManyNodes(path(), nodeLimit)
  }

  /// The records, and those to remove; first ``keepLastStates(from:)`` must have
  /// written what was lost.
  func finish() throws(ArchiveError) -> (records: RecordBatch, removed: [UInt64]) {
    let removed = asksEverything ? rows.removeUnplaced() : rows.removeLoose()
    rows.said?.noteNames(of: builder)
    return (try builder.finish(), removed)
  }

  // MARK: Rows

  /// Does something with each node that the walk has met so far.
  func forEachSeenNode(_ body: (any RestorableNode) -> Void) {
    for nodes in seenContents { nodes.forEach(body) }
    for case let node as any RestorableNode in seen { body(node) }
  }

  /// Makes sure that an object stays what its address says.
  func keepAlive(_ object: any StateRestoring) { seen.append(object) }
  func keepAlive(_ nodes: [any RestorableNode]) { seenContents.append(nodes) }

  /// The row of an object, which need not have a place.
  func row(of object: any StateRestoring, _ kind: ElementKind) -> RowNumber {
    let info = types.info(of: object)
    let number = rows.number(of: object) ?? rows.meet(object, kind, info)
    // The row may be that of one that went and was at the same address.
    if rows[number].type !== info { rows.isRegular = false }
    return number
  }

  /// Gives an object its place, and a line in the report where it is now.
  func place(
    _ number: RowNumber, _ kind: ElementKind, below parent: RowNumber?,
    _ identifier: String, siblingIndex: Int = 0
  ) {
    report.forget(number)
    rows.place(number, kind, below: parent, identifier, siblingIndex: siblingIndex)
  }

  /// Notes what belongs to no element.
  func noteApplication(_ note: ReportNote) { rows.note(note, nil) }
}
