/// The paths, notes and outcomes of rows, for reports.
extension Rows {
  /// The path of a row; empty for the application.
  ///
  /// - Complexity: O(1) on average over all rows; O(*n*) in the depth of the row where few paths
  ///   are asked for.
  func path(of number: RowNumber?) -> RestorationPath { paths.path(of: number, in: rows) }

  func note(_ note: ReportNote, _ number: RowNumber?) { findings.note(note, number) }

  func outcome(of number: RowNumber) -> PreservationReport.NodeOutcome {
    findings.outcomes[number] ?? .saved
  }

  /// Notes that a row is written as it was stored, and why.
  func keep(_ number: RowNumber, because outcome: RestorationReport.NodeOutcome) {
    findings.setOutcome(.keptAsStored, number)
    note(.keptBecause(outcome), number)
  }

  func className(of number: RowNumber) -> String {
    self[number].type?.name ?? findings.classNames[number] ?? ""
  }

  /// A copy of the rows for a report, which says the same whatever saves do later.
  func copy() -> Rows {
    let copy = Rows()
    (copy.rows, copy.run, copy.findings) = (rows, run, findings)
    copy.whole.applicationByteCount = whole.applicationByteCount
    // The paths are copied, too: the path of a row that was left out is the one that it had then.
    copy.paths = paths
    return copy
  }
}

/// The paths of rows that somebody has asked for.
struct RowPaths {
  private var known: [RestorationPath?] = []
  private var remembersAll: Bool
  /// How many steps were made to paths that were not remembered.
  private var stepCount = 0

  init(remembersAll: Bool = true) { self.remembersAll = remembersAll }

  mutating func forget(_ number: RowNumber) {
    if number.place < known.count { known[number.place] = nil }
  }

  fileprivate mutating func path(of number: RowNumber?, in rows: [Row]) -> RestorationPath {
    var unknown: [RowNumber] = []
    var next = number
    var path = RestorationPath()
    while let number = next {
      if number.place < known.count, let known = known[number.place] {
        path = known
        break
      }
      unknown.append(number)
      next = rows[number.place].parent
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
      let row = rows[number.place]
      path = path.appending(row.identifier, siblingIndex: Int(row.siblingIndex))
      if remembersAll { known[number.place] = path }
    }
    return path
  }
}
