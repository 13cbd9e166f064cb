/// The lines of a save's report, in the order in which they came: rows, and entries without a row.
struct WalkReport {
  private enum Line {
    case row(RowNumber)
    /// An entry that was made at once, by its index in `entries`.
    case entry(Int32)
    /// The element has another line since.
    case obsolete
  }

  private var lines: [Line] = []
  private var entries: [PreservationReport.Entry] = []
  /// The lines of the rows that were left out and may find a place after all.
  private var linesOfExcluded: [RowNumber: Int] = [:]

  var count: Int { lines.count }

  /// Whether something has a line and no row, as an element that is left out in favour of another
  /// one.
  var hasProblems: Bool { !entries.isEmpty }

  /// Whether something that the app has is left out and has no row.
  var hasLosses: Bool {
    entries.contains { entry in
      switch entry.outcome {
      case .duplicate: true
      default: entry.notes.contains(where: \.isLoss)
      }
    }
  }

  /// The entries without a row that have a problem.
  var problems: [PreservationReport.Entry] { entries.filter(\.isProblem) }

  mutating func add(_ number: RowNumber) { lines.append(.row(number)) }

  mutating func addExcluded(_ number: RowNumber) {
    linesOfExcluded[number] = lines.count
    add(number)
  }

  mutating func add(_ entry: PreservationReport.Entry) {
    lines.append(.entry(Int32(entries.count)))
    entries.append(entry)
  }

  func isExcluded(_ number: RowNumber) -> Bool { linesOfExcluded[number] != nil }

  /// Gives up the line of a row that was left out and has a place now, where it gets another line.
  mutating func forget(_ number: RowNumber) {
    guard !linesOfExcluded.isEmpty, let line = linesOfExcluded.removeValue(forKey: number) else {
      return
    }
    lines[line] = .obsolete
  }

  /// The entry of the application, if there is something to say of it, then the others in the order
  /// of the walk.
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
