/// The problems of a save for tools: a class and a case in each line, no value and no path.
///
/// A report has all that, and more, but nobody may ask for it, and it takes the paths of all nodes.
extension PreservationWalk {
  /// The problems of the application, its scene and its elements, as a note has them.
  ///
  /// A save of changes has also the problems of elements that it has not asked.
  ///
  /// - Complexity: O(*n*) in the notes and in the outcomes that are not “saved”.
  func problems(besides notesOfScene: [ReportNote]) -> [String] {
    var lines = notesOfScene.filter(\.isProblem).map { "scene: \($0.name)" }
    for (number, notes) in rows.findings.notes {
      let problems = notes.filter(\.isProblem)
      guard !problems.isEmpty, let name = nameInProblems(of: number) else { continue }
      lines += problems.map { "\(name): \($0.name)" }
    }
    for (number, outcome) in rows.findings.outcomes where outcome.isProblem {
      if let name = nameInProblems(of: number) { lines.append("\(name): \(outcome.name)") }
    }
    // These have no row, and no save of changes follows them.
    for entry in report.problems {
      let names =
        (entry.outcome.isProblem ? [entry.outcome.name] : [])
        + entry.notes.filter(\.isProblem).map(\.name)
      lines += names.map { "\(entry.className): \($0)" }
    }
    return lines.isEmpty ? [] : [String](problems: lines)
  }

  /// Nil for a row whose element is gone.
  private func nameInProblems(of number: RowNumber?) -> String? {
    guard let number else { return "application" }
    return rows[number].isFree ? nil : rows.className(of: number)
  }
}

extension ReportNote {
  /// The name of the case, without its values.
  fileprivate var name: String {
    switch self {
    case .rootWithoutIdentifier: "rootWithoutIdentifier"
    case .notRestoredBefore: "notRestoredBefore"
    case .notInvalidated: "notInvalidated"
    case .identifierShadowed: "identifierShadowed"
    case .hostDelegateGone: "hostDelegateGone"
    case .notContained: "notContained"
    case .lastState: "lastState"
    default: Mirror(reflecting: self).children.first?.label ?? "\(self)"
    }
  }
}

extension PreservationReport.NodeOutcome {
  /// The name of the case, without its values.
  fileprivate var name: String {
    switch self {
    case .duplicate: "duplicate"
    case .containedTwice: "containedTwice"
    default: Mirror(reflecting: self).children.first?.label ?? "\(self)"
    }
  }
}

extension [String] {
  private static let largestLineCount = 8
  private static let largestByteCount = 512
  private static let longestLine = 120

  /// Problems in order, each once with its number, and no more than a note has room for.
  init(problems: [String]) {
    var counts: [String: Int] = [:]
    for problem in problems { counts[problem, default: 0] += 1 }
    let lines = counts.sorted { $0.key < $1.key }.map { problem, count in
      problem.cut(to: Self.longestLine) + (count > 1 ? " (\(count))" : "")
    }
    func taken(_ count: Int) -> [String] {
      let more = lines.count - count
      return lines.prefix(count) + (more > 0 ? ["and \(more) more"] : [])
    }
    var count = lines.count
    while count > 0,
      taken(count).count > Self.largestLineCount
        || taken(count).joined(separator: "\n").utf8.count > Self.largestByteCount
    { count -= 1 }
    self = taken(count)
  }
}

extension String {
  /// The end of the text, after “…”, if it has more bytes: the case stands at the end.
  fileprivate func cut(to byteCount: Int) -> String {
    guard utf8.count > byteCount else { return self }
    var end = Substring(self)
    while end.utf8.count > byteCount - "…".utf8.count { end.removeFirst() }
    return "…\(end)"
  }
}
