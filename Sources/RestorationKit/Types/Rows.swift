internal import ArchiveCodec

/// The rows of a state, and what is wrong with them.
///
/// A row stands for its object, its record and its entry in a report, so nothing
/// else maps one of these to another. They live on between saves, so that a save
/// finds out what has changed.
final class Rows {
  // They belong to the walk, which is at one row at a time; the check whether two
  // change them at once would take a tenth of a save (benchmark: save nodes).
  @safe @exclusivity(unchecked) private var rows: [Row] = []
  @safe @exclusivity(unchecked) private var numbers = AddressTable()
  /// The contained nodes and views of all rows, those of one next to each other.
  @safe @exclusivity(unchecked) private var contents: [RowNumber] = []
  /// How many of these no row has any more.
  private var unusedContentCount = 0
  /// Made when somebody asks; not for the few rows of a small save.
  private var paths: [RestorationPath?] = []
  private var remembersPaths = true
  /// How many steps were made to paths that were not remembered.
  private var pathStepCount = 0
  /// What else there is to say of them, also of the application, which has no row.
  private(set) var notes: [RowNumber?: [ReportNote]] = [:]
  /// What has become of those that are not just saved.
  private var outcomes: [RowNumber: PreservationReport.NodeOutcome] = [:]

  /// Where what is not back was, and its class.
  ///
  /// Its values are not for a report that somebody keeps.
  private var stored: [RowNumber: (path: RestorationPath, className: String)] = [:]

  // MARK: Between saves

  /// The version of the archive that holds what the rows say; nil if none does.
  var version: ArchiveVersion?
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
  var tree = RecordFingerprint.none
  /// Whether all that somebody contains or refers to has its place and its state.
  var isRegular = false
  /// How often something was registered before the last walk.
  var registrationCount = 0
  /// What scopes objects and had no place when they got theirs.
  var missingScopes: Set<ObjectIdentifier> = []
  /// The rows that have a place.
  var placedCount = 0
  /// The rows of what is kept and not back, by its places.
  private var keptRows: [Int: RowNumber] = [:]
  private var kept: KeptRecords?
  /// The rows that every save asks although none asks those above them; some may
  /// not be there any more.
  private var entries: [RowNumber] = []
  private var free: [RowNumber] = []
  /// The objects of rows that are asked without those above them.
  private var objects: [WeakObject] = []
  let changes = ChangedRows()
  private var trackedCount = 0
  private var walk: UInt32 = 0
  private(set) var save: UInt32 = 0
  /// Those that have said that they changed before this save, or in it.
  private(set) var changed: Set<RowNumber> = []
  /// To what the application referred in the save before this one.
  private(set) var referencesOfApplication: Set<RowNumber> = []

  private struct WeakObject {
    weak var object: (any StateRestoring)?
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
  }

  /// Begins to ask everything; what is not met is gone.
  func beginWalk(_ kept: KeptRecords?) {
    remembersPaths = true
    walk &+= 1
    takeChanges()
    loose = []
    if self.kept !== kept { (self.kept, keptRows) = (kept, [:]) }
    (contents, unusedContentCount) = ([], 0)
    (notes, outcomes, stored) = (notes.filter { $0.key == nil }, [:], [:])
    (roots, storedRoots, references, entries) = ([], [], [:], [])
    formerNames = [:]
    missingScopes = []
    isRegular = true
    placedCount = 0
  }

  private func takeChanges() {
    for number in changes.take() where number.place < rows.count {
      self[number].isObserved = false
      changed.insert(number)
    }
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

  /// Whether a save can find out what has changed without asking everything.
  var tellChanges: Bool { version != nil && isRegular && trackedCount > 0 }

  // MARK: Rows

  subscript(number: RowNumber) -> Row {
    @inline(__always) _read { yield rows[number.place] }
    @inline(__always) _modify { yield &rows[number.place] }
  }

  /// The row of an object, nil if the walk has not met it.
  @inline(__always)
  func number(of object: AnyObject) -> RowNumber? {
    guard let place = numbers.find(ObjectIdentifier(object)), rows[place].walk == walk else {
      return nil
    }
    return RowNumber(place)
  }

  /// The row of an object that has its place, nil for all others.
  func placed(_ object: AnyObject) -> RowNumber? {
    number(of: object).flatMap { self[$0].status == .placed ? $0 : nil }
  }

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
    if let place = numbers.find(identity) {
      let number = RowNumber(place)
      if type !== rows[place].type { stopTracking(number) }
      rows[place].begin(kind, type, walk: walk)
      return number
    }
    let number = add(Row(kind, type))
    rows[number.place].identity = identity
    numbers.set(number.place, for: identity)
    return number
  }

  @inline(__always)
  private func add(_ row: Row) -> RowNumber {
    var row = row
    row.walk = walk
    if let number = free.popLast() {
      rows[number.place] = row
      forget(number)
      return number
    }
    let number = RowNumber(rows.count)
    rows.append(row)
    return number
  }

  /// Gives a row its place; one that was left out has another line and path then.
  func place(
    _ number: RowNumber, below parent: RowNumber?, _ identifier: String, siblingIndex: Int
  ) {
    if self[number].status == .excluded { forget(number) }
    if self[number].status != .placed { placedCount += 1 }
    if !missingScopes.isEmpty, let identity = self[number].identity,
      missingScopes.contains(identity)
    {
      isRegular = false
    }
    let hasMoved =
      self[number].siblingIndex != siblingIndex || self[number].identifier != identifier
    self[number].hasMoved = hasMoved
    if hasMoved { self[number].isAsked = false }
    self[number].status = .placed
    setOutcome(.saved, number)
    self[number].parent = parent
    self[number].identifier = identifier
    self[number].siblingIndex = Int32(truncatingIfNeeded: siblingIndex)
  }

  /// Says where a row would be that is left out.
  func exclude(
    _ number: RowNumber, below parent: RowNumber?, _ identifier: String, siblingIndex: Int
  ) {
    place(number, below: parent, identifier, siblingIndex: siblingIndex)
    unplace(number, .excluded)
    isRegular = false
  }

  private func unplace(_ number: RowNumber, _ status: Row.Status) {
    placedCount -= 1
    self[number].status = status
  }

  private func forget(_ number: RowNumber) {
    forgetNotes(of: number)
    setOutcome(.saved, number)
    if number.place < paths.count { paths[number.place] = nil }
  }

  // MARK: Contents

  private func contents(_ range: Range<Int32>) -> ArraySlice<RowNumber> {
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
  private func compactContents() {
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

  /// The row of what is kept, the same in every save.
  func row(ofKept place: Int, _ element: StoredTree.Element) -> RowNumber {
    if let number = keptRows[place], self[number].walk == walk { return number }
    let number = keptRows[place] ?? add(Row(element.content.kind, nil))
    keptRows[place] = number
    self[number].begin(element.content.kind, nil, walk: walk)
    self[number].status = .placed
    placedCount += 1
    self[number].identifier = element.content.identifier
    stored[number] = (element.path, element.content.className)
    return number
  }

  // MARK: After a restore

  /// The rows of what was restored: the next save asks everything, and finds out
  /// what is stored already.
  ///
  /// Nil if it is not known what is stored, or if the records have numbers with large
  /// gaps.
  ///
  /// - Parameters:
  ///   - tree: What was stored.
  ///   - kept: What of it is kept and not back.
  ///   - object: What is back at a place.
  convenience init?(
    _ tree: StoredTree, _ kept: KeptRecords?, object: (Int) -> (any StateRestoring)?
  ) {
    let stored = tree.outline.rows
    let largest = stored.reduce(NodeRecord.firstNode) { max($0, $1.record) }
    guard tree.isWhole, largest - NodeRecord.firstNode < UInt64(stored.count) * 2 + 1024
    else { return nil }
    self.init()
    version = tree.version
    self.kept = kept
    rows = Array(repeating: Row(.node, nil), count: Int(largest - NodeRecord.firstNode) + 1)
    for place in rows.indices { rows[place].isFree = true }
    for (place, element) in stored.enumerated() {
      let number = RowNumber(Int(element.record - NodeRecord.firstNode))
      rows[number.place].isFree = false
      rows[number.place].stored = tree.fingerprints[place]
      if let object = object(place) {
        rows[number.place].identity = ObjectIdentifier(object)
        numbers.set(number.place, for: ObjectIdentifier(object))
      }
      if let place = kept?.place(ofRecord: element.record) { keptRows[place] = number }
    }
    free = rows.indices.lazy.filter { [rows] in rows[$0].isFree }.map { RowNumber($0) }
  }

  // MARK: Asking

  /// Holds the object of a row that saves ask without the one above it, or that says
  /// itself when it has changed.
  func hold(_ object: any StateRestoring, _ number: RowNumber) {
    guard self[number].isTracked || !isReached(number) else { return }
    if objects.count < rows.count {
      objects.append(
        contentsOf: repeatElement(WeakObject(), count: max(rows.count, 8) * 2 - objects.count))
    }
    if objects[number.place].object !== object {
      objects[number.place].object = object
      self[number].isAsked = false
      self[number].isObserved = false
    }
    if !self[number].isTracked {
      // One that moves is held again.
      if !self[number].isEntry { entries.append(number) }
      self[number].isEntry = true
    } else if !self[number].isRegistered {
      trackedCount += 1
      self[number].isRegistered = true
      TrackedObjects.add(ObjectIdentifier(object), number, changes)
    }
  }

  /// Whether every save comes to a row from above.
  private func isReached(_ number: RowNumber) -> Bool {
    guard !self[number].isReferred else { return false }
    return self[number].parent.map { !self[$0].isTracked } ?? true
  }

  /// The object of a row that was held, if it is still there.
  func object(of number: RowNumber) -> (any StateRestoring)? {
    number.place < objects.count ? objects[number.place].object : nil
  }

  private func stopTracking(_ number: RowNumber) {
    if self[number].isRegistered, let identity = self[number].identity {
      TrackedObjects.remove(CollectionOfOne(identity), changes)
      self[number].isRegistered = false
      trackedCount -= 1
    }
    if number.place < objects.count { objects[number.place].object = nil }
  }

  /// The rows that a save of what has changed asks first: those that said that they
  /// have changed, and those that never say it; none of them twice.
  func rowsToAsk() -> [RowNumber] {
    entries.removeAll { !self[$0].isEntry || self[$0].walk != walk }
    takeChanges()
    return changed.union(entries)
      .filter { self[$0].walk == walk && self[$0].status == .placed }
      .sorted { $0.place < $1.place }
  }

  // MARK: Leaving

  /// Takes the places of a row and of all that has its place below it.
  func loosen(_ top: RowNumber) {
    var stack = [top]
    while let number = stack.popLast() {
      guard self[number].status == .placed else { continue }
      stack += (contained(in: number) + views(of: number)).filter { self[$0].parent == number }
      forgetContents(of: number)
      unplace(number, .unplaced)
      self[number].save = 0
      loose.append(number)
    }
  }

  /// Whoever asks it again finds out what it contains then.
  private func forgetContents(of number: RowNumber) {
    unusedContentCount += self[number].children.count + self[number].views.count
    (self[number].children, self[number].views) = (0..<0, 0..<0)
    self[number].presented = nil
  }

  /// Takes the place of a row that will get it again with all that is below it.
  func unplaceAlone(_ number: RowNumber) { unplace(number, .unplaced) }

  /// What lost its place in this save, and may have another.
  private(set) var loose: [RowNumber] = []

  /// Lets go of what was not met in a walk through everything.
  ///
  /// What was met and has no place keeps its row, since somebody may refer to that.
  ///
  /// - Returns: The records that are stored of what has no place.
  func removeUnplaced() -> [UInt64] {
    var records: [UInt64] = []
    for place in rows.indices
    where rows[place].walk == walk && rows[place].status != .placed && rows[place].stored != .none {
      records.append(RowNumber(place).record)
      rows[place].stored = .none
    }
    return records
      + remove(
        rows.indices.lazy.map { RowNumber($0) }.filter { [self] in self[$0].walk != walk })
  }

  /// The same after a save of what has changed.
  func removeLoose() -> [UInt64] {
    defer { loose = [] }
    compactContents()
    return remove(loose.filter { self[$0].status != .placed })
  }

  private func remove(_ gone: some Sequence<RowNumber>) -> [UInt64] {
    var records: [UInt64] = []
    for number in gone where !self[number].isFree {
      if self[number].stored != .none { records.append(number.record) }
      stopTracking(number)
      if let identity = self[number].identity, numbers[identity] == number.place {
        numbers.remove(identity)
      }
      self[number].identity = nil
      self[number].stored = .none
      self[number].isEntry = false
      self[number].isFree = true
      self[number].walk = 0
      free.append(number)
    }
    if !keptRows.isEmpty { keptRows = keptRows.filter { !self[$0.value].isFree } }
    return records
  }

  // MARK: For people

  /// The path of a row; empty for the application.
  ///
  /// - Complexity: O(1) on average over all rows; O(*n*) in the depth of the row
  ///   where few are asked for.
  func path(of number: RowNumber?) -> RestorationPath {
    var unknown: [RowNumber] = []
    var next = number
    var path = RestorationPath()
    while let number = next {
      if number.place < paths.count, let known = paths[number.place] {
        path = known
        break
      }
      if let stored = stored[number] {
        path = stored.path
        break
      }
      unknown.append(number)
      next = self[number].parent
    }
    guard !unknown.isEmpty else { return path }
    pathStepCount += unknown.count
    // By now that costs more than to remember them; a deep tree would cost its square.
    if pathStepCount > rows.count { remembersPaths = true }
    if remembersPaths, paths.count < rows.count {
      paths.append(contentsOf: repeatElement(nil, count: rows.count - paths.count))
    }
    while let number = unknown.popLast() {
      path = path.appending(
        self[number].identifier, siblingIndex: Int(self[number].siblingIndex))
      if remembersPaths { paths[number.place] = path }
    }
    return path
  }

  func note(_ note: ReportNote, _ number: RowNumber?) {
    notes[number, default: []].append(note)
  }

  func hasNotes(_ number: RowNumber) -> Bool { !notes.isEmpty && notes[number] != nil }

  /// Forgets what was noted when a row was asked before.
  func forgetNotes(of number: RowNumber?) {
    if !notes.isEmpty { notes[number] = nil }
  }

  func outcome(of number: RowNumber) -> PreservationReport.NodeOutcome {
    outcomes[number] ?? .saved
  }

  func setOutcome(_ outcome: PreservationReport.NodeOutcome, _ number: RowNumber) {
    if outcome != .saved {
      outcomes[number] = outcome
    } else if !outcomes.isEmpty {
      outcomes[number] = nil
    }
  }

  /// Says that a row is written as it was stored, and why.
  func keep(_ number: RowNumber, because outcome: RestorationReport.NodeOutcome) {
    setOutcome(.keptAsStored, number)
    note(.keptBecause(outcome), number)
  }

  func className(of number: RowNumber) -> String {
    self[number].type?.name ?? stored[number]?.className ?? ""
  }

  /// The rows as they are, for a report: whatever saves do later, it says the same.
  func copy() -> Rows {
    let copy = Rows()
    (copy.rows, copy.walk) = (rows, walk)
    // Also the paths: that of what was left out is the one that it had then.
    (copy.notes, copy.outcomes, copy.stored, copy.paths) = (notes, outcomes, stored, paths)
    return copy
  }
}
