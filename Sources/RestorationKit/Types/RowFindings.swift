/// The notes and outcomes of rows, and the notes of the application, which has no row.
struct RowFindings {
  var notes: [RowNumber?: [ReportNote]] = [:]
  /// The outcomes of the rows that are not just saved.
  var outcomes: [RowNumber: PreservationReport.NodeOutcome] = [:]
  /// The class names of the elements that are not back: a report that somebody keeps must not hold
  /// the values of these elements.
  var classNames: [RowNumber: String] = [:]

  mutating func note(_ note: ReportNote, _ number: RowNumber?) {
    notes[number, default: []].append(note)
  }

  @inline(__always)
  func hasNotes(_ number: RowNumber) -> Bool { !notes.isEmpty && notes[number] != nil }

  /// Forgets what was noted when a row was asked before.
  mutating func forgetNotes(of number: RowNumber?) {
    if !notes.isEmpty { notes[number] = nil }
  }

  mutating func setOutcome(_ outcome: PreservationReport.NodeOutcome, _ number: RowNumber) {
    if outcome != .saved {
      outcomes[number] = outcome
    } else if !outcomes.isEmpty {
      outcomes[number] = nil
    }
  }
}
