internal import ArchiveCodec

/// The rows of a state, and the findings about them.
///
/// A row stands for its object, its record and its entry in a report, so nothing else maps one of
/// the three to another. Rows live on between saves, so that a save finds out what has changed.
final class Rows {
  // The rows belong to the walk, which is at one row at a time; the check whether two change them
  // at once would take a tenth of a save (benchmark: save nodes).
  @safe @exclusivity(unchecked) var rows: [Row] = []
  @safe @exclusivity(unchecked) var numbers = AddressTable()
  @safe @exclusivity(unchecked) var free: [RowNumber] = []
  @safe @exclusivity(unchecked) var contents = RowContents()
  /// A path is made when somebody asks for it; a small save remembers none, since it needs few.
  @safe @exclusivity(unchecked) var paths = RowPaths()
  @safe @exclusivity(unchecked) var findings = RowFindings()
  @safe @exclusivity(unchecked) var run = SaveRun()
  @safe @exclusivity(unchecked) var whole = StoredWhole()
  @safe @exclusivity(unchecked) var references = RowReferences()
  /// The kept elements and states, and the rows of the elements that are not back.
  @safe @exclusivity(unchecked) var kept = KeptRows()
  @safe @exclusivity(unchecked) var hearing: HeardObjects

  /// - Parameter signal: Is told when an object of a row says that it has changed.
  init(_ signal: ChangeSignal? = nil) {
    hearing = HeardObjects(ChangedRows(signal))
  }

  deinit {
    hearing.endObservations()
    guard hearing.trackedCount > 0 else { return }
    TrackedObjects.remove(
      rows.lazy.filter(\.hearing.isRegistered).compactMap(\.identity), hearing.changes)
  }

  func beginSave() {
    run.beginSave()
    paths = RowPaths(remembersAll: false)
    findings.notes[nil] = nil
    references.beginSave()
    hearing.said = nil
  }

  /// Takes what the last walk has found as what is stored.
  func commit(_ gone: Gone, as version: ArchiveVersion?) {
    whole.version = version
    remove(gone)
    compactContents()
    run.commit()
    kept.commit()
    hearing.changed = []
  }

  /// Notes that the last walk is not stored: the next save asks everything, and writes what is not
  /// stored.
  ///
  /// Rows go that have no stored record and that a walk did not meet, if it has met all elements:
  /// else saves that fail again and again would leave more and more rows.
  func giveUpSave(hasMetAll: Bool) {
    run.isUnderWay = false
    whole.canDiff = false
    guard hasMetAll else { return }
    remove(Gone(rows: unplaced().rows.filter { self[$0].stored.fingerprint == .none }))
    // Before the row of an object that is not held goes, another object may come to its address.
    run.recordsOfOthers.formUnion(unplaced().rows.filter { !self[$0].hearing.isHeld })
  }

  /// Begins a walk through everything; a row that the walk does not meet has gone.
  func beginWalk(_ kept: KeptRecords?) {
    // An element whose path a walk through changes remembered may lie elsewhere now.
    paths = RowPaths()
    run.beginWalk()
    takeChanges()
    self.kept.beginWalk(kept)
    contents = RowContents()
    findings = RowFindings(notes: findings.notes.filter { $0.key == nil })
    whole.beginWalk()
    (references.all, references.missingScopes) = ([:], [])
    (hearing.askedAlone, hearing.unsaid) = ([], [])
  }

  /// Notes the fingerprints of a state that was written as a whole.
  func note(_ fingerprints: [(record: UInt64, fingerprint: RecordFingerprint)]) {
    for (record, fingerprint) in fingerprints {
      switch record {
      case NodeRecord.application: break
      case NodeRecord.tree: whole.tree = fingerprint
      default:
        rows[Int(record - NodeRecord.firstNode)].stored.fingerprint = fingerprint
      }
    }
  }

  /// Whether an object says to these rows when it has changed.
  var isHeard: Bool { hearing.trackedCount > 0 }

  /// Whether a save can find out what has changed without asking everything.
  var tellChanges: Bool { whole.version != nil && whole.canDiff && isHeard }

  // MARK: Rows

  subscript(number: RowNumber) -> Row {
    // A getter, and no coroutine that reads: a coroutine takes memory for each call.
    @inline(__always) get { rows[number.index] }
    @inline(__always) _modify { yield &rows[number.index] }
  }

  /// The row of an object, nil if the walk has not met it.
  @inline(__always)
  func number(of object: AnyObject) -> RowNumber? {
    guard let index = index(of: ObjectIdentifier(object)), rows[index].met.walk == run.walk else {
      return nil
    }
    return RowNumber(index)
  }

  /// Most objects come in the order of the walk before; the next row lies near the
  /// last one, and the slot of an address does not (benchmark: save nodes).
  @inline(__always)
  private func index(of identity: ObjectIdentifier) -> Int? {
    if numbers.likely < rows.count, rows[numbers.likely].identity == identity {
      return numbers.likely
    }
    return numbers.find(identity)
  }

  /// The row of an object that has its place; nil for any other object.
  func placed(_ object: AnyObject) -> RowNumber? {
    number(of: object).flatMap { self[$0].met.status == .placed ? $0 : nil }
  }

  /// Whether a row is a part of the state that was saved.
  func isStored(_ number: RowNumber) -> Bool {
    self[number].met.walk == run.walk && self[number].met.status == .placed && !self[number].isFree
  }

  /// The row of a record; nil if none has the number.
  func number(ofRecord record: UInt64) -> RowNumber? {
    guard record >= NodeRecord.firstNode, record - NodeRecord.firstNode < UInt64(rows.count)
    else { return nil }
    return RowNumber(Int(record - NodeRecord.firstNode))
  }

  /// Whether the stored record of a row is that of its object, as far as is known.
  func isOwn(_ number: RowNumber) -> Bool {
    run.recordsOfOthers.isEmpty || !run.recordsOfOthers.contains(number)
  }

  /// Notes that the stored record of a row is that of another object.
  func noteRecordOfAnother(_ number: RowNumber) { run.recordsOfOthers.insert(number) }

  /// The rows of all objects that have their place.
  var placed: some Sequence<RowNumber> {
    rows.indices.lazy.map { RowNumber($0) }
      .filter { [self] in
        self[$0].met.walk == run.walk && self[$0].met.status == .placed && self[$0].type != nil
      }
  }

  /// The row of an object that the walk meets: the row of its address from the saves before, or a
  /// new one.
  ///
  /// Another object may have been at the address then, so the record is compared before it stays.
  @inline(__always)
  func meet(_ object: any StateRestoring, _ kind: ElementKind, _ type: TypeInfo) -> RowNumber {
    let identity = ObjectIdentifier(object)
    if let index = index(of: identity) {
      numbers.likely = index + 1
      let number = RowNumber(index)
      if type !== rows[index].type {
        stopTracking(number)
        // A registration makes another description of the same class, which is no other object.
        if let before = rows[index].type, before.type != type.type {
          run.recordsOfOthers.insert(number)
        }
      }
      rows[index].begin(kind, type, walk: run.walk)
      return number
    }
    let number: RowNumber
    if free.isEmpty {
      rows.append(Row(kind, type, identity, walk: run.walk))
      number = RowNumber(rows.count - 1)
    } else {
      number = reuse(Row(kind, type, identity, walk: run.walk))
    }
    numbers.set(number.index, for: identity)
    return number
  }

  func add(_ row: consuming Row) -> RowNumber {
    guard free.isEmpty else { return reuse(row) }
    rows.append(row)
    return RowNumber(rows.count - 1)
  }

  @inline(never)
  private func reuse(_ row: Row) -> RowNumber {
    let number = free.removeLast()
    rows[number.index] = row
    forget(number)
    return number
  }

  /// Gives a row its place; a row that was left out gets another line and path by this.
  func place(
    _ number: RowNumber, _ kind: ElementKind, below parent: RowNumber?, _ identifier: String,
    siblingIndex: Int
  ) {
    let status = rows[number.index].met.status
    if status == .excluded { forget(number) }
    if status != .placed { run.placedCount += 1 }
    if !references.missingScopes.isEmpty, let identity = self[number].identity,
      references.missingScopes.contains(identity)
    {
      whole.canDiff = false
    }
    findings.setOutcome(.saved, number)
    let isDoubtful = rows[number.index].place(
      kind, below: parent, identifier, siblingIndex: siblingIndex,
      isBelowReference: parent.map { rows[$0.index].reach.isBelowReference } ?? false)
    if isDoubtful { run.recordsOfOthers.insert(number) }
  }

  /// Notes where a row that is left out would have its place.
  func exclude(
    _ number: RowNumber, below parent: RowNumber?, _ identifier: String, siblingIndex: Int
  ) {
    place(number, .node, below: parent, identifier, siblingIndex: siblingIndex)
    unplace(number, .excluded)
    whole.canDiff = false
  }

  func unplace(_ number: RowNumber, _ status: Row.Meeting.Status) {
    run.placedCount -= 1
    self[number].met.status = status
  }

  func forget(_ number: RowNumber) {
    findings.forgetNotes(of: number)
    findings.setOutcome(.saved, number)
    paths.forget(number)
  }

  // MARK: Contents

  func children(of number: RowNumber) -> ArraySlice<RowNumber> {
    contents[self[number].below.children]
  }

  func views(of number: RowNumber) -> ArraySlice<RowNumber> { contents[self[number].below.views] }

  /// The rows that a row contains and presents.
  func contained(in number: RowNumber) -> [RowNumber] {
    children(of: number) + [self[number].below.presented].compactMap(\.self)
  }

  /// Begins the children of a node; children that are added belong to it until the next node
  /// begins.
  func beginChildren(of number: RowNumber) {
    self[number].below.children = contents.begin(insteadOf: self[number].below.children)
  }

  @inline(__always)
  func addChild(_ child: RowNumber, of number: RowNumber) {
    contents.append(child)
    self[number].below.children = self[number].below.children.lowerBound..<contents.end
  }

  func setViews(_ views: some Collection<RowNumber>, of number: RowNumber) {
    guard !views.isEmpty || !self[number].below.views.isEmpty else { return }
    let start = contents.begin(insteadOf: self[number].below.views).lowerBound
    for view in views { contents.append(view) }
    self[number].below.views = start..<contents.end
  }

  /// Frees the memory of contents that no row has any more.
  ///
  /// - Complexity: O(*n*) in the rows, when most of the contents belong to none.
  func compactContents() {
    guard contents.isSparse else { return }
    var compact = RowContents()
    for index in rows.indices where rows[index].met.walk == run.walk {
      rows[index].below.children = compact.append(contents[rows[index].below.children])
      rows[index].below.views = compact.append(contents[rows[index].below.views])
    }
    contents = compact
  }

  // MARK: Kept elements

  /// The row of a kept element, the same in every save; it has no place until the save keeps the
  /// element.
  func row(ofKept index: Int, _ element: StoredTree.Element) -> RowNumber {
    if let number = kept.numbers[index], self[number].met.walk == run.walk { return number }
    let number = kept.numbers[index] ?? add(Row(element.content.kind, nil, walk: run.walk))
    kept.numbers[index] = number
    self[number].begin(element.content.kind, nil, walk: run.walk)
    self[number].identifier = element.content.identifier
    self[number].siblingIndex = Int32(truncatingIfNeeded: element.content.siblingIndex)
    findings.classNames[number] = element.content.className
    return number
  }

  /// Gives the row of a kept element its place.
  func placeKept(_ number: RowNumber, below parent: RowNumber?) {
    self[number].parent = parent
    guard self[number].met.status != .placed else { return }
    self[number].met.status = .placed
    run.placedCount += 1
  }
}
