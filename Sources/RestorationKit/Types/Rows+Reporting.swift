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
    // The paths are copied, too: the path of a row that was left out is the one that it had then.
    copy.paths = paths
    return copy
  }
}
