internal import ArchiveCodec

/// Which elements of the stored tree the rows of a walk stand for.
///
/// As long as the rows say what is stored, an element is that of its object, wherever the object is
/// by now: another object may have the path of the element. An element that no object had, and
/// every element if nobody knows whose it was, is that of the object with its path now.
struct LastElements: LastStates {
  private let tree: StoredTree
  private let rows: Rows
  private var places: RecordPlaces
  /// The rows of the elements, by place; nil for elements that have gone.
  private var numbers: [RowNumber?]
  private var placesByPath: [RowNumber: Int] = [:]

  /// Finds the rows that the elements have now; with `knowsObjects` the rows say which record was
  /// stored of each object.
  ///
  /// - Complexity: O(*n*) in the elements and the rows.
  init(_ tree: StoredTree, _ rows: Rows, knowsObjects: Bool) {
    self.tree = tree
    self.rows = rows
    let stored = tree.outline.rows
    places = RecordPlaces(count: stored.count)
    numbers = Array(repeating: nil, count: stored.count)
    var others: [Int] = []
    for (place, element) in stored.enumerated() {
      places[element.record] = place
      if knowsObjects, let number = rows.number(ofRecord: element.record),
        rows[number].identity != nil || rows.isStored(number)
      {
        numbers[place] = rows.isStored(number) && rows.isOwn(number) ? number : nil
      } else {
        others.append(place)
      }
    }
    if !others.isEmpty { match(others) }
  }

  /// Finds the rows that have the paths of some elements now.
  ///
  /// Names are compared from the roots on, and not paths, which are as long as the tree is
  /// deep.
  private mutating func match(_ others: [Int]) {
    var named: [Sibling: RowNumber] = [:]
    for number in rows.rows.indices.lazy.map({ RowNumber($0) }) where rows.isStored(number) {
      named[Sibling(rows[number])] = number
    }
    var found: [RowNumber?] = []
    found.reserveCapacity(numbers.count)
    for (place, element) in tree.outline.rows.enumerated() {
      let parent = element.parent.flatMap { found[$0] }
      let isBelowNothing = element.parent != nil && parent == nil
      found.append(
        isBelowNothing
          ? nil
          : named[
            Sibling(
              element.kind, below: parent, tree.outline.identifier(of: place),
              index: tree.outline.siblingIndex(of: place))])
    }
    for place in others {
      numbers[place] = found[place]
      if let number = found[place] { placesByPath[number] = place }
    }
  }

  /// The record that an object with a stored record has now; nil if the object has gone.
  func record(_ stored: UInt64) -> UInt64? {
    places[stored].flatMap { numbers[$0]?.record }
  }

  var formerNames: [String: [String]] { tree.formerNames }

  /// The states that may stay for a row, that of the row's own element first.
  func states(of number: RowNumber) -> [LastState] {
    [ownPlace(of: number), placesByPath[number]].compactMap(\.self)
      .map { LastState(form: tree.outline.form(of: $0), values: tree.values[$0]) }
  }

  private func ownPlace(of number: RowNumber) -> Int? {
    guard let place = places[number.record], numbers[place] == number else { return nil }
    // The object that was at the address when the rows were made may have gone before the first
    // save, so the name is compared, too.
    guard rows.run.hasCommitted || tree.outline.identifier(of: place) == rows[number].identifier
    else {
      return nil
    }
    return place
  }
}
