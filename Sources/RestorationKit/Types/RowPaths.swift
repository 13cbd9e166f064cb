/// The paths of rows that somebody has asked for.
struct RowPaths {
  private var known: [RestorationPath?] = []
  private var remembersAll: Bool
  /// How many steps were made to paths that were not remembered.
  private var stepCount = 0

  init(remembersAll: Bool = true) { self.remembersAll = remembersAll }

  mutating func forget(_ number: RowNumber) {
    if number.index < known.count { known[number.index] = nil }
  }

  mutating func path(of number: RowNumber?, in rows: [Row]) -> RestorationPath {
    var unknown: [RowNumber] = []
    var next = number
    var path = RestorationPath()
    while let number = next {
      if number.index < known.count, let known = known[number.index] {
        path = known
        break
      }
      unknown.append(number)
      next = rows[number.index].parent
    }
    guard !unknown.isEmpty else { return path }
    stepCount += unknown.count
    // So many steps cost more than to remember the paths; in a deep tree they would cost the square
    // of its depth.
    if stepCount > rows.count { remembersAll = true }
    if remembersAll, known.count < rows.count {
      known.append(contentsOf: repeatElement(nil, count: rows.count - known.count))
    }
    while let number = unknown.popLast() {
      let row = rows[number.index]
      path = path.appending(row.identifier, siblingIndex: Int(row.siblingIndex))
      if remembersAll { known[number.index] = path }
    }
    return path
  }
}
