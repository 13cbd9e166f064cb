internal import ArchiveCodec
internal import RestorationFoundation

/// Goes through the trees once and writes a record for all there is to preserve.
///
/// A parent comes before its children, which come in order, and the node that it presents comes
/// last; the views of a node follow it directly. Then come the elements that only references reach,
/// and last the kept elements that are not back. The stack is a list, so a deep tree costs no call
/// stack; every node is visited once. A save of changes asks fewer nodes, in the same order.
final class PreservationWalk: StateEncoding {
  /// How a save goes, as its caller has decided.
  struct Conditions {
    /// A walk with more entries ends with an error.
    let nodeLimit: Int
    /// When the save began.
    let now: Date
    /// The bound of kept elements and states.
    var keptBound: KeptBound? = KeptBound()
    /// How many nodes that say when they change are asked whether they contain other nodes than
    /// before and have not said so: a mistake that only a save of everything would find.
    var checkedNodeCount = 0
    /// Whether the walk only finds out which objects are there and what they say, and nothing is
    /// stored.
    var isRehearsal = false
    /// Whether a poll may compare with what objects say now.
    var remembersSaid = false
  }

  let conditions: Conditions
  let objects: ObjectTable
  let rows: Rows
  let records: RecordWriting
  @safe @exclusivity(unchecked) var report = WalkReport()
  @safe @exclusivity(unchecked) var agenda = WalkAgenda()
  @safe @exclusivity(unchecked) var names = SiblingNames(meetsObjects: false)
  /// The findings about elements and states that a restore could not bring back; nil if there are
  /// none.
  @safe @exclusivity(unchecked) var keeping: KeptSurvey?
  /// The coder of the last object; the next one gets it too, unless somebody kept it.
  @safe @exclusivity(unchecked) var coder: StateEncoder?
  /// What the objects without tracking say, for a poll; nil if nobody polls.
  let said: LastSaid?
  /// The rows whose elements have gone, once the walk is over.
  private var gone = Rows.Gone()

  var types: TypeTable { objects.types }
  var builder: RecordBuilder { records.builder }
  var encoder: KeyedEncoder { records.encoder }
  var now: Date { conditions.now }
  var nodeLimit: Int { conditions.nodeLimit }
  /// Whether every object is asked.
  var asksEverything: Bool { agenda.isWhole }
  /// Whether the next save can write what differs alone, since nothing was left out.
  var canDiff: Bool { rows.whole.canDiff && !report.hasProblems }

  /// Begins a walk that writes with a builder of changes to the rows' archive; nil writes all
  /// records anew.
  init(
    _ rows: Rows, changing builder: RecordBuilder? = nil, objects: ObjectTable,
    limits: ArchiveLimits, _ conditions: Conditions
  ) {
    self.conditions = conditions
    self.objects = objects
    self.rows = rows
    records = RecordWriting(rows, changing: builder, limits)
    said = conditions.remembersSaid ? LastSaid(viewLimit: conditions.nodeLimit) : nil
    rows.beginSave()
    if !conditions.isRehearsal {
      keeping = objects.kept.map { KeptSurvey($0, conditions.keptBound) }
    }
  }

  /// Ends the walk, of which nothing is reported any more; a coder that is kept holds no nodes
  /// after this.
  func end() {
    agenda = WalkAgenda(isWhole: agenda.isWhole)
    keeping?.letGo()
    coder = nil
  }

  // MARK: The whole

  /// Writes the application's record; if a body throws, no record is written.
  func encodeApplication(
    facts: (KeyedEncoder) -> Void, host: ((KeyedEncoder) throws -> Void)?,
    state: (StateEncoder) throws -> Void
  ) throws {
    try builder.begin(record: NodeRecord.application, with: encoder)
    let written: [RecordFingerprint]
    do {
      // The facts say when the state was saved, so they are not compared.
      var fingerprints: [RecordFingerprint] = []
      func encode(forKey key: String, _ body: () throws -> Void) throws {
        let container = encoder.beginContainer(forKey: key)
        try body()
        encoder.endContainer(container)
        fingerprints.append(encoder.fingerprint(of: container))
      }
      let coder = openCoder(nil)
      defer { coder.close() }
      try encode(forKey: NodeRecord.stateKey) { try state(coder) }
      if let host { try encode(forKey: NodeRecord.hostKey) { try host(encoder) } }
      encoder.encodeContainer(forKey: NodeRecord.factsKey) { facts($0) }
      written = fingerprints
    } catch {
      builder.abandon()
      throw error
    }
    try records.endApplication(written, time: time)
  }

  /// The time of the save as its commit says it.
  var time: UInt32 { SaveFacts.number(of: now) }

  /// Visits the roots, all nodes below them, and all objects that are referred to.
  ///
  /// With `everything`, objects that say when they change are asked, too.
  func walk(
    _ roots: [any RestorableNode], everything asksAll: Bool
  ) throws {
    agenda.keepAlive(roots)
    said?.noteRoots(roots, objects)
    if !asksAll, canTellChanges {
      let mark = try builder.mark()
      let notes = rows.findings.notes[nil]
      do {
        try walkChanges(roots)
        return try encodeTree()
      } catch is NeedsEverything {
        // Only asking all objects tells what happened to some of them.
        beginAnew(from: mark, notes)
      }
    }
    try walkEverything(roots)
    rows.whole.canDiff = canDiff
    noteKept()
    try encodeTree()
  }

  /// Forgets what the walk has found out since a mark.
  private func beginAnew(from mark: RecordBuilder.Mark, _ notes: [ReportNote]?) {
    records.beginAnew(from: mark)
    rows.findings.notes[nil] = notes
    report = WalkReport()
    keeping = kept.map { KeptSurvey($0, conditions.keptBound) }
  }

  /// Whether a save can do without asking the objects that say when they change and have not said
  /// so.
  private var canTellChanges: Bool {
    !records.rewrites && rows.tellChanges && rows.whole.registrationCount == registrationCount
      && rows.run.placedCount < nodeLimit && rows.kept.stays(kept, conditions.keptBound, at: now)
  }

  private var registrationCount: Int { types.changeCount + objects.changeCount }

  private func walkEverything(_ roots: [any RestorableNode]) throws {
    agenda = agenda.begunAnew()
    names = SiblingNames(meetsObjects: true)
    // The count is taken before any hook runs: an object that a hook registers comes too late for
    // the objects that were asked before, so the next save asks everything.
    rows.whole.registrationCount = registrationCount
    rows.beginWalk(kept)
    for root in roots {
      guard let visit = place(root, below: nil, .root(isDetached: false)) else { continue }
      if case .root(let number, _) = visit.place { rows.whole.roots.append(number) }
      agenda.stack.append(visit)
    }
    agenda.stack.reverse()
    meetKeptRoots()
    try drain()
    try followReferrals()
  }

  func followReferrals() throws {
    var next = 0
    repeat {
      while next < agenda.referrals.count {
        try follow(agenda.referrals[next])
        next += 1
      }
      // Kept states may refer to objects that nothing else reaches.
      try settleKept()
    } while next < agenda.referrals.count
    for referral in agenda.referrals {
      if let number = rows.placed(referral.object) {
        noteReference(to: number, from: referral.referrer)
      } else {
        // Another object may get the record that was named.
        rows.whole.canDiff = false
      }
    }
  }

  /// The roots in order; the registered objects among them are in an order that does not depend on
  /// which row referred to them first.
  private var orderedRoots: [RowNumber] {
    var objects = rows.whole.storedRoots.filter { rows[$0].kind == .object }
    objects.sort { $0.index > $1.index }
    return rows.whole.storedRoots.map { number in
      rows[number].kind == .object ? objects.popLast() ?? number : number
    }
  }

  private func encodeTree() throws {
    // Kept elements may be of classes that only other versions of the app know.
    let formerNames = rows.whole.formerNames.merging(kept?.source.formerNames ?? [:]) { own, _ in
      own
    }
    try builder.begin(record: NodeRecord.tree, with: encoder)
    encoder.encodeReferences(to: orderedRoots.map(\.record), forKey: NodeRecord.rootsKey)
    if !formerNames.isEmpty {
      encoder.encodeContainer(forKey: NodeRecord.formerNamesKey) { encoder in
        for (name, former) in formerNames.sorted(by: { $0.key < $1.key }) {
          encoder.encode(former, forKey: name)
        }
      }
    }
    try records.endTree()
  }

  func drain() throws {
    while let visit = agenda.stack.popLast() {
      try checkCount(path(of: visit))
      if case .excluded(let number) = visit.place {
        leaveOut(visit.node, agenda.exclusions[number])
      } else {
        try preserve(visit)
      }
    }
  }

  /// Makes sure that there is room for one more element; a walk through everything says whether
  /// there is.
  func checkCount(_ path: @autoclosure () -> RestorationPath) throws {
    guard report.count >= nodeLimit || !asksEverything && rows.run.placedCount > nodeLimit else {
      return
    }
    guard asksEverything else { throw NeedsEverything() }
    throw RestorationError.tooManyNodes(path(), nodeLimit)
  }

  /// The records to write, and the numbers of the records to remove.
  ///
  /// Before, ``keepLastStates(from:)`` must have written the objects that were lost.
  func finish() throws(ArchiveError) -> (records: RecordBatch, removed: [UInt64]) {
    gone = asksEverything ? rows.unplaced() : rows.unplacedLoose()
    said?.noteNames(of: builder)
    return (try builder.finish(), rows.storedRecords(of: gone))
  }

  /// Lets the rows know that the walk is stored; until then, they say what is stored without it.
  func commit(as version: ArchiveVersion?) {
    records.commit()
    rows.commit(gone, as: version)
    rows.hearing.said = said
  }

  // MARK: Rows

  /// The row of an object, which need not have a place.
  func row(of object: any StateRestoring, _ kind: ElementKind) -> RowNumber {
    row(of: object, kind, known: rows.number(of: object))
  }

  /// The row of an object whose number among the rows is known; nil if the object has no row yet.
  func row(of object: any StateRestoring, _ kind: ElementKind, known: RowNumber?) -> RowNumber {
    let info = types.info(of: object)
    let number = known ?? rows.meet(object, kind, info)
    // The row may be that of another object, which went and was at the same address.
    if rows[number].type !== info { rows.whole.canDiff = false }
    return number
  }

  /// Gives an object its place, and a line in the report where it is now.
  func place(
    _ number: RowNumber, _ kind: ElementKind, below parent: RowNumber?,
    _ identifier: String, siblingIndex: Int = 0
  ) {
    report.forget(number)
    let wasBelowReference = rows[number].reach.isBelowReference
    rows.place(number, kind, below: parent, identifier, siblingIndex: siblingIndex)
    // Only the whole tree says which of the references that lead to the element comes first.
    if !asksEverything, !wasBelowReference, rows[number].reach.isBelowReference,
      rows[number].reach.isReferredTo
    {
      rows.whole.canDiff = false
    }
  }

  /// Adds a note that belongs to no element.
  func noteApplication(_ note: ReportNote) { rows.note(note, nil) }
}
