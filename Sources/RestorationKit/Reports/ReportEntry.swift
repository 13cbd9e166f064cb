/// The line of a report about one node, view or object, or about the application or a scene.
///
/// The scene and the application have an entry only if the report has a note on them.
/// Their entry comes first.
public struct ReportEntry<Outcome: ReportOutcome>: Hashable, Sendable {
  /// The kind of the element.
  public let kind: ElementKind

  /// Where the element is; empty for the application and a scene, and for a record that is
  /// no node of the tree.
  public let path: RestorationPath

  /// The name of the element's class, in a restore as it was saved.
  public let className: String

  /// What happened to the element; for the application and a scene, the outcome of the report.
  public internal(set) var outcome: Outcome

  /// Facts about the element beside its outcome.
  public internal(set) var notes: [ReportNote] = []
}

extension ReportEntry {
  /// An entry about the application or a scene.
  static func ofAll(_ kind: ElementKind, _ outcome: Outcome, _ notes: [ReportNote]) -> Self {
    Self(
      kind: kind, path: RestorationPath(), className: kind.rawValue, outcome: outcome,
      notes: notes)
  }
}

/// What happens to one element in a save or a restore.
public protocol ReportOutcome: Hashable, Sendable, CustomStringConvertible {
  /// Whether the developer should look at the element.
  var isProblem: Bool { get }
}

extension ReportEntry {
  /// Whether the developer should look at the element, because of its outcome or of a note.
  public var isProblem: Bool { outcome.isProblem || notes.contains(where: \.isProblem) }

  /// The outcome of the element and its problems, in sentences.
  public var reason: String {
    problems.reduce(what ?? "") { text, problem in
      text.isEmpty ? problem : text + (text.hasSuffix(".") ? " " : ". ") + problem
    }
  }
}

extension ReportEntry: CustomStringConvertible {
  /// The path, the class and the outcome; then a line for every problem.
  ///
  /// A path of more than 24 identifiers is cut to its last ones, after “…” and the
  /// number of identifiers before them.
  public var description: String {
    description(as: path.count == 0 ? className : "\(path.phrase) (\(className))", margin: "")
  }

  func description(as name: String, margin: String) -> String {
    (["\(margin)\(name):\(what.map { " \($0)" } ?? "")"]
      + problems.map { "\(margin)    problem: \($0)" })
      .joined(separator: "\n")
  }

  /// The outcome and the notes that follow it; nil if there is neither.
  ///
  /// The outcome of the application and of a scene is that of the report, so it is left out.
  private var what: String? {
    let isOfAll = kind == .application || kind == .scene
    let parts =
      (isOfAll ? [] : [outcome.description])
      + notes.filter { !$0.isProblem }.map(\.description)
    return parts.isEmpty ? nil : parts.joined(separator: "; ")
  }

  private var problems: [String] { notes.filter(\.isProblem).map(\.description) }
}
