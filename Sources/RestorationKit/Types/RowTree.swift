/// The rows that have their place in a state, each followed by all below it.
///
/// The order does not depend on the numbers of rows: siblings are sorted by their names.
struct RowTree {
  /// The rows in this order; a place in it is also one in the other arrays.
  private(set) var rows: [RowNumber] = []
  /// The index of the row above; less than 0 for a root.
  private(set) var parents: [Int] = []
  /// The place behind the last row below each row.
  private(set) var ends: [Int] = []

  /// - Complexity: O(*n* log *n*) in the rows.
  init(_ all: Rows) {
    var placed: [RowNumber] = []
    for index in all.rows.indices where all.isStored(RowNumber(index)) {
      placed.append(RowNumber(index))
    }
    placed.sort { all.comes($1, before: $0) }
    // Lists of the rows below each row. A new row is put in front, so the rows are sorted
    // backwards.
    var first: [RowNumber?: RowNumber] = [:]
    var next: [RowNumber: RowNumber] = [:]
    for number in placed {
      let parent = all[number].parent.flatMap { all.isStored($0) ? $0 : nil }
      next[number] = first[parent]
      first[parent] = number
    }
    rows.reserveCapacity(placed.count)
    var open: [Int] = []
    var stack: [(number: RowNumber, depth: Int)] = first[nil].map { [($0, 0)] } ?? []
    while let (number, depth) = stack.popLast() {
      while open.count > depth, let index = open.popLast() { ends[index] = rows.count }
      parents.append(open.last ?? -1)
      open.append(rows.count)
      rows.append(number)
      ends.append(0)
      if let sibling = next[number] { stack.append((sibling, depth)) }
      if let below = first[number] { stack.append((below, depth + 1)) }
    }
    while let index = open.popLast() { ends[index] = rows.count }
  }

  /// The counts of each row and of all below it, added up.
  func sums(of counts: [Int]) -> [Int] {
    var before = [0]
    before.reserveCapacity(counts.count + 1)
    for count in counts { before.append(before[before.count - 1] + count) }
    return ends.indices.map { before[ends[$0]] - before[$0] }
  }
}

extension Rows {
  /// Whether a row is a part of the state that was saved.
  func isStored(_ number: RowNumber) -> Bool {
    self[number].met.walk == run.walk && self[number].met.status == .placed && !self[number].isFree
  }

  /// Whether the name of a row comes before that of another row.
  fileprivate func comes(_ left: RowNumber, before right: RowNumber) -> Bool {
    let (left, right) = (self[left], self[right])
    if left.identifier != right.identifier { return left.identifier < right.identifier }
    if left.siblingIndex != right.siblingIndex { return left.siblingIndex < right.siblingIndex }
    return left.kind.rawValue < right.kind.rawValue
  }

  /// The size of the saved state in bytes.
  ///
  /// - Complexity: O(*n*) in the rows.
  var byteCount: Int {
    var count = whole.applicationByteCount
    for index in rows.indices where isStored(RowNumber(index)) {
      count += Int(rows[index].met.byteCount)
    }
    return count
  }

  /// The size of each element.
  ///
  /// - Complexity: O(*n* log *n*) in the rows.
  var sizes: StateSizes {
    let tree = RowTree(self)
    let own = tree.rows.map { Int(self[$0].met.byteCount) }
    let sums = tree.sums(of: own)
    var below: [Int: [Int]] = [:]
    for (index, parent) in tree.parents.enumerated() { below[parent, default: []].append(index) }
    func smallestFirst(_ parent: Int) -> [Int] {
      (below[parent] ?? []).sorted { (sums[$0], $1) < (sums[$1], $0) }
    }
    var elements = [
      StateSizes.Element(
        kind: .application, path: RestorationPath(), className: "application",
        ownByteCount: whole.applicationByteCount,
        byteCount: own.reduce(whole.applicationByteCount, +))
    ]
    var stack = smallestFirst(-1)
    while let index = stack.popLast() {
      elements.append(size(of: tree.rows[index], sums[index]))
      stack += smallestFirst(index)
    }
    return StateSizes(elements)
  }

  /// The smallest parts of the state that take a tenth of it or more, the largest first.
  ///
  /// - Complexity: O(*n* log *n*) in the rows.
  var largestParts: [StateSizes.Element] {
    let tree = RowTree(self)
    let sums = tree.sums(of: tree.rows.map { Int(self[$0].met.byteCount) })
    let least = max(1, byteCount / 10)
    var containsLarge = Array(repeating: false, count: sums.count)
    for index in sums.indices.reversed() where sums[index] >= least {
      if tree.parents[index] >= 0 { containsLarge[tree.parents[index]] = true }
    }
    return sums.indices.filter { sums[$0] >= least && !containsLarge[$0] }
      .sorted { (sums[$1], $0) < (sums[$0], $1) }
      .map { size(of: tree.rows[$0], sums[$0]) }
  }

  private func size(of number: RowNumber, _ byteCount: Int) -> StateSizes.Element {
    StateSizes.Element(
      kind: self[number].kind, path: path(of: number), className: className(of: number),
      ownByteCount: Int(self[number].met.byteCount), byteCount: byteCount)
  }
}
