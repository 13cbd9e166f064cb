/// The lines of a save's report, in the order in which they came: rows, and what
/// has none.
struct WalkReport {
  private enum Line {
    case row(RowNumber)
    /// One of those that were made at once.
    case entry(Int32)
    /// The element has another line since.
    case obsolete
  }

  private var lines: [Line] = []
  private var entries: [PreservationReport.Entry] = []
  /// Where the rows are that were left out and may find a place after all.
  private var linesOfExcluded: [RowNumber: Int] = [:]

  var count: Int { lines.count }

  /// Whether something has a line and no row, as what is left out in favour of
  /// something else.
  var hasProblems: Bool { !entries.isEmpty }

  mutating func add(_ number: RowNumber) { lines.append(.row(number)) }

  mutating func addExcluded(_ number: RowNumber) {
    linesOfExcluded[number] = lines.count
    add(number)
  }

  mutating func add(_ entry: PreservationReport.Entry) {
    lines.append(.entry(Int32(entries.count)))
    entries.append(entry)
  }

  /// Whether a row was left out.
  func isExcluded(_ number: RowNumber) -> Bool { linesOfExcluded[number] != nil }

  /// A row that was left out has a place now, where it will have another line.
  mutating func forget(_ number: RowNumber) {
    guard !linesOfExcluded.isEmpty, let line = linesOfExcluded.removeValue(forKey: number) else {
      return
    }
    lines[line] = .obsolete
  }

  /// The application first, if there is something to say of it, then the rest in the
  /// order of the walk.
  ///
  /// - Complexity: O(*n*) in the number of lines.
  func entries(of rows: Rows) -> [PreservationReport.Entry] {
    let application = rows.findings.notes[nil].map { notes in
      PreservationReport.Entry(
        kind: .application, path: RestorationPath(), className: "application", outcome: .saved,
        notes: notes)
    }
    return [application].compactMap(\.self)
      + lines.compactMap { line in
        switch line {
        case .row(let number): Self.entry(number, of: rows)
        case .entry(let place): entries[Int(place)]
        case .obsolete: nil
        }
      }
  }

  private static func entry(_ number: RowNumber, of rows: Rows) -> PreservationReport.Entry {
    PreservationReport.Entry(
      kind: rows[number].kind, path: rows.path(of: number), className: rows.className(of: number),
      outcome: rows.outcome(of: number), notes: rows.findings.notes[number] ?? [])
  }
}
