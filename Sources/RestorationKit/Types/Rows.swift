internal import ArchiveCodec

/// The rows of a state, and what is wrong with them.
///
/// A row stands for its object, its record and its entry in a report, so nothing
/// else maps one of these to another. They live on between saves, so that a save
/// finds out what has changed.
final class Rows {
  // They belong to the walk, which is at one row at a time; the check whether two
  // change them at once would take a tenth of a save (benchmark: save nodes).
  @safe @exclusivity(unchecked) var rows: [Row] = []
  @safe @exclusivity(unchecked) var numbers = AddressTable()
  /// The row that the object which is met next is likely to have.
  @safe @exclusivity(unchecked) private var expected = 0
  /// The contained nodes and views of all rows, those of one next to each other.
  @safe @exclusivity(unchecked) var contents: [RowNumber] = []
  /// How many of these no row has any more.
  @safe @exclusivity(unchecked) var unusedContentCount = 0
  /// Made when somebody asks; not for the few rows of a small save.
  @safe @exclusivity(unchecked) var paths: [RestorationPath?] = []
  var remembersPaths = true
  /// How many steps were made to paths that were not remembered.
  var pathStepCount = 0
  /// What else there is to say of them, also of the application, which has no row.
  @safe @exclusivity(unchecked) var notes: [RowNumber?: [ReportNote]] = [:]
  /// What has become of those that are not just saved.
  @safe @exclusivity(unchecked) var outcomes: [RowNumber: PreservationReport.NodeOutcome] = [:]

  /// The classes of what is not back.
  ///
  /// Its values are not for a report that somebody keeps.
  var storedClassNames: [RowNumber: String] = [:]

  // MARK: Between saves

  /// The version of the archive that holds what the rows say; nil if none does.
  var version: ArchiveVersion?
  /// What a poll compares with; nil if nobody polls.
  var said: LastSaid?
  /// The rows of the roots, in the order in which they were given.
  var roots: [RowNumber] = []
  /// Those of all roots that are stored, also of what only references reach.
  var storedRoots: [RowNumber] = []
  /// Of each that refers to what only references reach, to what.
  var references: [RowNumber?: Set<RowNumber>] = [:]
  /// What the classes that are saved were called before.
  var formerNames: [String: [String]] = [:]
  /// What is stored of the application, but for the facts of the save.
  var application: [RecordFingerprint] = []
  /// The size of that in bytes.
  var applicationByteCount = 0
  var tree = RecordFingerprint.none
  /// Whether all that somebody contains or refers to has its place and its state.
  @safe @exclusivity(unchecked) var isRegular = false
  /// How often something was registered before the last walk.
  var registrationCount = 0
  /// What scopes objects and had no place when they got theirs.
  @safe @exclusivity(unchecked) var missingScopes: Set<ObjectIdentifier> = []
  /// The rows that have a place.
  @safe @exclusivity(unchecked) var placedCount = 0
  /// What is kept, and the rows of what of it is not back.
  var kept = KeptRows()
  /// Those beside whose states others are kept.
  var besides: Set<RowNumber> = []
  /// Of those that have values with a sensitivity, and of the application.
  @safe @exclusivity(unchecked) var sensitive: [RowNumber?: RowSensitivity] = [:]
  /// The values of rows that went in this save.
  var goneAges: [ValueAges.Values] = []
  /// The rows that use subkeys; some may do so no more.
  var subkeyUsers: [UInt64: RowNumber?] = [:]
  /// The one of ``SecretKeys/lossCount`` that was seen last.
  var secretLossCount = 0
  /// Those of them that a save asks because a value has ended.
  var due: [RowNumber] = []
  /// The rows that every save asks although none asks those above them; some may
  /// not be there any more.
  var entries: [RowNumber] = []
  @safe @exclusivity(unchecked) var free: [RowNumber] = []
  /// The objects of rows that are asked without those above them.
  var objects: [WeakObject] = []
  let changes: ChangedRows
  var trackedCount = 0
  /// The rows of a save that was not stored, whose objects go on saying when they change.
  var heard: Rows?
  @safe @exclusivity(unchecked) var walk: UInt32 = 0
  @safe @exclusivity(unchecked) var save: UInt32 = 0
  /// Those that have said that they changed before this save, or in it.
  var changed: Set<RowNumber> = []
  /// To what the application referred in the save before this one.
  var referencesOfApplication: Set<RowNumber> = []

  /// Those whose stored records are those of others, which were at the same address before
  /// this save.
  private(set) var foreign: Set<RowNumber> = []
  /// What lost its place in this save, and may have another.
  var loose: [RowNumber] = []

  struct WeakObject {
    weak var object: (any StateRestoring)?
  }

  /// - Parameter need: Is told when an object of a row says that it has changed.
  init(_ need: SaveNeed? = nil) {
    changes = ChangedRows(need)
  }

  deinit {
    guard trackedCount > 0 else { return }
    TrackedObjects.remove(rows.lazy.filter(\.isRegistered).compactMap(\.identity), changes)
  }

  /// Begins a save.
  func beginSave() {
    save &+= 1
    (paths, remembersPaths, pathStepCount) = ([], false, 0)
    notes[nil] = nil
    referencesOfApplication = references.removeValue(forKey: nil) ?? []
    changed = []
    loose = []
    foreign = []
  }

  /// Begins to ask everything; what is not met is gone.
  func beginWalk(_ kept: KeptRecords?) {
    // What a walk through changes remembered may lie elsewhere.
    (paths, remembersPaths) = ([], true)
    walk &+= 1
    takeChanges()
    loose = []
    self.kept.beginWalk(kept)
    (contents, unusedContentCount) = ([], 0)
    (notes, outcomes, storedClassNames) = (notes.filter { $0.key == nil }, [:], [:])
    (roots, storedRoots, references, entries) = ([], [], [:], [])
    besides = []
    formerNames = [:]
    missingScopes = []
    isRegular = true
    placedCount = 0
  }

  /// Notes what was written as a whole.
  func note(_ fingerprints: [(record: UInt64, fingerprint: RecordFingerprint)]) {
    for (record, fingerprint) in fingerprints {
      switch record {
      case NodeRecord.application: break
      case NodeRecord.tree: tree = fingerprint
      default: rows[Int(record - NodeRecord.firstNode)].stored = fingerprint
      }
    }
  }

  /// Whether an object says to these rows when it has changed.
  var isHeard: Bool { trackedCount > 0 }

  /// Whether a save can find out what has changed without asking everything.
  var tellChanges: Bool { version != nil && isRegular && trackedCount > 0 }

  // MARK: Rows

  subscript(number: RowNumber) -> Row {
    // Not the coroutine that reads, which takes memory for each call.
    @inline(__always) get { rows[number.place] }
    @inline(__always) _modify { yield &rows[number.place] }
  }

  /// The row of an object, nil if the walk has not met it.
  @inline(__always)
  func number(of object: AnyObject) -> RowNumber? {
    guard let place = place(of: ObjectIdentifier(object)), rows[place].walk == walk else {
      return nil
    }
    return RowNumber(place)
  }

  /// Most objects come in the order of the walk before; the next row lies near the
  /// last one, and the slot of an address does not (benchmark: save nodes).
  @inline(__always)
  private func place(of identity: ObjectIdentifier) -> Int? {
    if expected < rows.count, rows[expected].identity == identity { return expected }
    return numbers.find(identity)
  }

  /// The row of an object that has its place, nil for all others.
  func placed(_ object: AnyObject) -> RowNumber? {
    number(of: object).flatMap { self[$0].status == .placed ? $0 : nil }
  }

  /// The row of a record; nil if none has the number.
  func number(ofRecord record: UInt64) -> RowNumber? {
    guard record >= NodeRecord.firstNode, record - NodeRecord.firstNode < UInt64(rows.count)
    else { return nil }
    return RowNumber(Int(record - NodeRecord.firstNode))
  }

  /// Whether what is stored of a row is of its object, as far as that is known.
  func isOwn(_ number: RowNumber) -> Bool { foreign.isEmpty || !foreign.contains(number) }

  /// Notes that what is stored of a row is that of another object.
  func noteForeign(_ number: RowNumber) { foreign.insert(number) }

  /// All objects that have their place.
  var placed: some Sequence<RowNumber> {
    rows.indices.lazy.map { RowNumber($0) }
      .filter { [self] in
        self[$0].walk == walk && self[$0].status == .placed && self[$0].type != nil
      }
  }

  /// A row for an object that the walk meets: that of the saves before, or another.
  ///
  /// Whatever was at the address then, the record is compared before it stays.
  @inline(__always)
  func meet(_ object: any StateRestoring, _ kind: ElementKind, _ type: TypeInfo) -> RowNumber {
    let identity = ObjectIdentifier(object)
    if let place = place(of: identity) {
      expected = place + 1
      let number = RowNumber(place)
      if type !== rows[place].type {
        stopTracking(number)
        // What is registered makes another description of the same class.
        if let before = rows[place].type, before.type != type.type { foreign.insert(number) }
      }
      rows[place].begin(kind, type, walk: walk)
      return number
    }
    let number: RowNumber
    if free.isEmpty {
      rows.append(Row(kind, type, identity, walk: walk))
      number = RowNumber(rows.count - 1)
    } else {
      number = reuse(Row(kind, type, identity, walk: walk))
    }
    numbers.set(number.place, for: identity)
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
    rows[number.place] = row
    forget(number)
    return number
  }

  /// Gives a row its place; one that was left out has another line and path then.
  func place(
    _ number: RowNumber, _ kind: ElementKind, below parent: RowNumber?, _ identifier: String,
    siblingIndex: Int
  ) {
    let status = rows[number.place].status
    if status == .excluded { forget(number) }
    if status != .placed { placedCount += 1 }
    if !missingScopes.isEmpty, let identity = self[number].identity,
      missingScopes.contains(identity)
    {
      isRegular = false
    }
    setOutcome(.saved, number)
    let isDoubtful = rows[number.place].place(
      kind, below: parent, identifier, siblingIndex: siblingIndex,
      isBelowReference: parent.map { rows[$0.place].isBelowReference } ?? false)
    if isDoubtful { foreign.insert(number) }
  }

  /// Says where a row would be that is left out.
  func exclude(
    _ number: RowNumber, below parent: RowNumber?, _ identifier: String, siblingIndex: Int
  ) {
    place(number, .node, below: parent, identifier, siblingIndex: siblingIndex)
    unplace(number, .excluded)
    isRegular = false
  }

  func unplace(_ number: RowNumber, _ status: Row.Status) {
    placedCount -= 1
    self[number].status = status
  }

  func forget(_ number: RowNumber) {
    forgetNotes(of: number)
    setOutcome(.saved, number)
    if number.place < paths.count { paths[number.place] = nil }
  }

  // MARK: Contents

  func contents(_ range: Range<Int32>) -> ArraySlice<RowNumber> {
    contents[Int(range.lowerBound)..<Int(range.upperBound)]
  }

  func children(of number: RowNumber) -> ArraySlice<RowNumber> { contents(self[number].children) }

  func views(of number: RowNumber) -> ArraySlice<RowNumber> { contents(self[number].views) }

  /// What a row contains and presents.
  func contained(in number: RowNumber) -> [RowNumber] {
    children(of: number) + [self[number].presented].compactMap(\.self)
  }

  /// Begins what a node contains; until the next one begins, children are its.
  func beginChildren(of number: RowNumber) {
    let start = Int32(contents.count)
    unusedContentCount += self[number].children.count
    self[number].children = start..<start
  }

  @inline(__always)
  func addChild(_ child: RowNumber, of number: RowNumber) {
    contents.append(child)
    self[number].children = self[number].children.lowerBound..<Int32(contents.count)
  }

  func setViews(_ views: some Collection<RowNumber>, of number: RowNumber) {
    guard !views.isEmpty || !self[number].views.isEmpty else { return }
    let start = Int32(contents.count)
    unusedContentCount += self[number].views.count
    contents.append(contentsOf: views)
    self[number].views = start..<Int32(contents.count)
  }

  /// Takes the memory of contents that no row has any more.
  ///
  /// - Complexity: O(*n*) in the rows, when there are more of those than of others.
  func compactContents() {
    guard unusedContentCount > 1024, unusedContentCount > contents.count / 2 else { return }
    let old = contents
    contents = []
    unusedContentCount = 0
    func move(_ range: inout Range<Int32>) {
      let start = Int32(contents.count)
      contents.append(contentsOf: old[Int(range.lowerBound)..<Int(range.upperBound)])
      range = start..<Int32(contents.count)
    }
    for place in rows.indices where rows[place].walk == walk {
      move(&rows[place].children)
      move(&rows[place].views)
    }
  }

  // MARK: What is not back

  /// The row of what is kept, the same in every save; it has no place until it is kept.
  func row(ofKept place: Int, _ element: StoredTree.Element) -> RowNumber {
    if let number = kept.numbers[place], self[number].walk == walk { return number }
    let number = kept.numbers[place] ?? add(Row(element.content.kind, nil, walk: walk))
    kept.numbers[place] = number
    self[number].begin(element.content.kind, nil, walk: walk)
    self[number].identifier = element.content.identifier
    self[number].siblingIndex = Int32(truncatingIfNeeded: element.content.siblingIndex)
    storedClassNames[number] = element.content.className
    return number
  }

  /// Gives the row of what is kept its place.
  func placeKept(_ number: RowNumber, below parent: RowNumber?) {
    self[number].parent = parent
    guard self[number].status != .placed else { return }
    self[number].status = .placed
    placedCount += 1
  }
}
