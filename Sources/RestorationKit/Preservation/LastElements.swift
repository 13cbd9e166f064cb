internal import ArchiveCodec

/// Which elements of the stored tree the rows of a walk stand for.
///
/// As long as the rows say what is stored, an element is that of its object, wherever that
/// is by now: another one may have its path. What no object had, and all if nobody knows
/// whose it was, is that of what has its path now.
struct LastElements {
  let tree: StoredTree
  private let rows: Rows
  private var places: RecordPlaces
  /// By the places of the elements; nil for those that have gone.
  private var numbers: [RowNumber?]
  private var placesByPath: [RowNumber: Int] = [:]

  /// Finds out what has become of the elements; with `knowsObjects` the rows say what is
  /// stored.
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

  /// Finds what has the paths of some elements now.
  ///
  /// Names are compared from the roots on, and not paths, which are as long as the tree is
  /// deep.
  private mutating func match(_ others: [Int]) {
    var named: [Sibling: RowNumber] = [:]
    for number in rows.rows.indices.lazy.map({ RowNumber($0) }) where rows.isStored(number) {
      let row = rows[number]
      named[
        Sibling(row.kind, below: row.parent, row.identifier, index: Int(row.siblingIndex))] = number
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

  /// The record that stands now for one that was stored; nil if none does.
  func record(_ stored: UInt64) -> UInt64? {
    places[stored].flatMap { numbers[$0]?.record }
  }

  /// The places of what may be kept for a row, its own first.
  func places(of number: RowNumber) -> [Int] {
    [ownPlace(of: number), placesByPath[number]].compactMap(\.self)
  }

  private func ownPlace(of number: RowNumber) -> Int? {
    guard let place = places[number.record], numbers[place] == number else { return nil }
    // What was at the address when the rows were made may have gone before they saw it.
    guard rows.run.save > 1 || tree.outline.identifier(of: place) == rows[number].identifier else {
      return nil
    }
    return place
  }
}
