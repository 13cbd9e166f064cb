/// What a report says of rows.
extension Rows {
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
    self[number].type?.name ?? storedClassNames[number] ?? ""
  }

  /// The rows as they are, for a report: whatever saves do later, it says the same.
  func copy() -> Rows {
    let copy = Rows()
    (copy.rows, copy.walk, copy.applicationByteCount) = (rows, walk, applicationByteCount)
    // Also the paths: that of what was left out is the one that it had then.
    (copy.notes, copy.outcomes, copy.storedClassNames) = (notes, outcomes, storedClassNames)
    copy.paths = paths
    return copy
  }
}
