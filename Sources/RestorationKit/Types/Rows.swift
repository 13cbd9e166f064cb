/// The rows of a state, and what is wrong with them.
///
/// A row stands for its object, its record and its entry in a report, so nothing
/// else maps one of these to another.
final class Rows {
  // They belong to the walk, which is at one row at a time; the check whether two
  // change them at once would take a tenth of a save (benchmark: save nodes).
  @safe @exclusivity(unchecked) private var rows: [Row] = []
  @safe @exclusivity(unchecked) private var numbers = AddressTable()
  /// The contained nodes of all rows, those of one next to each other.
  @safe @exclusivity(unchecked) private var contents: [RowNumber] = []
  /// Made when somebody asks.
  private var paths: [RestorationPath?] = []
  /// What else there is to say of them, also of the application, which has no row.
  private(set) var notes: [RowNumber?: [ReportNote]] = [:]

  /// Where what is not back was, and its class.
  ///
  /// Its values are not for a report that somebody keeps.
  private var stored: [RowNumber: (path: RestorationPath, className: String)] = [:]

  var count: Int { rows.count }

  subscript(number: RowNumber) -> Row {
    @inline(__always) _read { yield rows[number.place] }
    @inline(__always) _modify { yield &rows[number.place] }
  }

  /// The row of an object, nil if it has none.
  @inline(__always)
  func number(of object: AnyObject) -> RowNumber? {
    numbers[ObjectIdentifier(object)].map { RowNumber($0) }
  }

  /// The row of an object that has its place, nil for all others.
  func placed(_ object: AnyObject) -> RowNumber? {
    number(of: object).flatMap { self[$0].status == .placed ? $0 : nil }
  }

  /// All objects that have their place.
  var placed: some Sequence<RowNumber> {
    rows.indices.lazy.map { RowNumber($0) }
      .filter { [self] in self[$0].status == .placed && self[$0].type != nil }
  }

  @inline(__always)
  func add(_ row: Row, for object: AnyObject?) -> RowNumber {
    let number = RowNumber(rows.count)
    rows.append(row)
    if let object { numbers.set(number.place, for: ObjectIdentifier(object)) }
    return number
  }

  /// Gives a row its place; one that was left out has another line and path then.
  func place(
    _ number: RowNumber, below parent: RowNumber?, _ identifier: String, siblingIndex: Int
  ) {
    if self[number].status == .excluded { forget(number) }
    self[number].status = .placed
    self[number].outcome = .saved
    self[number].parent = parent
    self[number].identifier = identifier
    self[number].siblingIndex = Int32(truncatingIfNeeded: siblingIndex)
  }

  /// Says where a row would be that is left out.
  func exclude(
    _ number: RowNumber, below parent: RowNumber?, _ identifier: String, siblingIndex: Int
  ) {
    place(number, below: parent, identifier, siblingIndex: siblingIndex)
    self[number].status = .excluded
  }

  private func forget(_ number: RowNumber) {
    notes[number] = nil
    if number.place < paths.count { paths[number.place] = nil }
  }

  // MARK: Contents

  func children(of number: RowNumber) -> ArraySlice<RowNumber> {
    let range = self[number].children
    return contents[Int(range.lowerBound)..<Int(range.upperBound)]
  }

  /// Begins what a node contains; until the next one begins, children are its.
  func beginChildren(of number: RowNumber) {
    let start = Int32(contents.count)
    self[number].children = start..<start
  }

  @inline(__always)
  func addChild(_ child: RowNumber, of number: RowNumber) {
    contents.append(child)
    self[number].children = self[number].children.lowerBound..<Int32(contents.count)
  }

  // MARK: For people

  /// The path of a row; empty for the application.
  ///
  /// - Complexity: O(1) on average over all rows.
  func path(of number: RowNumber?) -> RestorationPath {
    var unknown: [RowNumber] = []
    var next = number
    var path = RestorationPath()
    while let number = next {
      if number.place < paths.count, let known = paths[number.place] {
        path = known
        break
      }
      unknown.append(number)
      next = self[number].parent
    }
    guard !unknown.isEmpty else { return path }
    if paths.count < rows.count {
      paths.append(contentsOf: repeatElement(nil, count: rows.count - paths.count))
    }
    while let number = unknown.popLast() {
      path = path.appending(
        self[number].identifier, siblingIndex: Int(self[number].siblingIndex))
      paths[number.place] = path
    }
    return path
  }

  /// The same for whoever may be on another thread than those who make reports.
  ///
  /// - Complexity: O(*n*) in the depth of the row.
  func pathAlone(of number: RowNumber?) -> RestorationPath {
    var above: [RowNumber] = []
    var next = number
    var path = RestorationPath()
    while let number = next {
      if let stored = stored[number] {
        path = stored.path
        break
      }
      above.append(number)
      next = self[number].parent
    }
    return above.reversed().reduce(path) { path, number in
      path.appending(self[number].identifier, siblingIndex: Int(self[number].siblingIndex))
    }
  }

  func note(_ note: ReportNote, _ number: RowNumber?) {
    notes[number, default: []].append(note)
  }

  /// Says that a row is written as it was stored, and why.
  func keep(_ number: RowNumber, because outcome: RestorationReport.NodeOutcome) {
    self[number].outcome = .keptAsStored
    note(.keptBecause(outcome), number)
  }

  /// Adds a row for what is not back.
  func add(_ element: StoredTree.Element) -> RowNumber {
    let number = add(Row(element.content.kind, nil), for: nil)
    self[number].status = .placed
    self[number].identifier = element.content.identifier
    stored[number] = (element.path, element.content.className)
    _ = path(of: number)
    paths[number.place] = element.path
    return number
  }

  func className(of number: RowNumber) -> String {
    self[number].type?.name ?? stored[number]?.className ?? ""
  }
}
