#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif
internal import Synchronization

/// The line of a report about one node, view or object, or about the application.
///
/// The application has an entry only if the report has a note on it. That entry comes first.
public struct ReportEntry<Outcome: ReportOutcome>: Hashable, Sendable {
  /// The kind of the element.
  public let kind: ElementKind

  /// Where the element is; empty for the application.
  public let path: RestorationPath

  /// The name of the element's class, in a restore as it was saved.
  public let className: String

  /// What happened to the element; for the application, the outcome of the report.
  public internal(set) var outcome: Outcome

  /// Facts about the element beside its outcome.
  public internal(set) var notes: [ReportNote] = []
}

/// The kind of an element, or of an entry in a report.
public enum ElementKind: String, Hashable, Codable, Sendable {
  /// The application's own values.
  case application

  /// A scene's activity and values.
  case scene

  /// A ``RestorableNode``.
  case node

  /// A ``RestorableView``.
  case view

  /// A registered ``RestorableObject``.
  case object
}

/// What happens to one element in a save or a restore.
public protocol ReportOutcome: Hashable, Sendable, CustomStringConvertible {
  /// Whether the developer should look at the element.
  var isProblem: Bool { get }
}

/// An element that a restore could not bring back, and that saves keep as it is stored.
public struct KeptElement: Hashable, Sendable {
  /// The kind of the element.
  public let kind: ElementKind

  /// Where the element was.
  public let path: RestorationPath

  /// The name of the element's class, as it was saved.
  public let className: String

  /// The outcome of the element in the restore; `restored` if it has a later state, and this one is
  /// kept beside that.
  public let reason: RestorationReport.NodeOutcome

  /// Whether only the state is kept: the element itself is back, but its state could not be read.
  public let isStateAlone: Bool

  /// When a save kept the element for the first time; nil if none has yet.
  public let since: Date?

  /// The size of the element's records in bytes, with all that is kept below it.
  public let byteCount: Int
}

// MARK: - Words

extension ReportEntry {
  /// An entry about an element of a document.
  init(
    _ slot: Int32, of document: Document, at path: RestorationPath, _ outcome: Outcome,
    _ notes: [ReportNote] = []
  ) {
    self.init(
      kind: document[slot].place.role.kind, path: path,
      className: document.form(of: slot).className, outcome: outcome, notes: notes)
  }

  /// An entry about the application.
  static func ofApplication(_ outcome: Outcome, _ notes: [ReportNote]) -> Self {
    let kind = ElementKind.application
    return Self(
      kind: kind, path: RestorationPath(), className: kind.rawValue, outcome: outcome, notes: notes)
  }

  /// Whether the developer should look at the element, because of its outcome or of a note.
  public var isProblem: Bool { outcome.isProblem || notes.contains(where: \.isProblem) }

  /// The outcome of the element and its problems, in sentences.
  public var reason: String {
    problems.reduce(what ?? "") { text, problem in
      text.isEmpty ? problem : text + (text.hasSuffix(".") ? " " : ". ") + problem
    }
  }

  /// The problems of the element, each in a sentence with its place.
  var said: [String] {
    let place = kind == .application ? "" : "“\(path.phrase)” (\(className)): "
    return ((outcome.isProblem ? [outcome.description] : []) + problems).map { place + $0 }
  }

  private var problems: [String] { notes.filter(\.isProblem).map(\.description) }

  /// The outcome and the notes that follow it; nil if there is neither.
  ///
  /// The outcome of the application is that of the report, so it is left out.
  private var what: String? {
    let parts =
      (kind == .application ? [] : [outcome.description])
      + notes.filter { !$0.isProblem }.map(\.description)
    return parts.isEmpty ? nil : parts.joined(separator: "; ")
  }

  fileprivate func text(as name: String, margin: String = "") -> String {
    (["\(margin)\(name):\(what.map { " \($0)" } ?? "")"]
      + problems.map { "\(margin)    problem: \($0)" })
      .joined(separator: "\n")
  }
}

extension ReportEntry: CustomStringConvertible {
  /// The path, the class and the outcome; then a line for every problem.
  ///
  /// A path of more than 24 identifiers is cut to its last ones, after “…” and the
  /// number of identifiers before them.
  public var description: String {
    text(as: path.count == 0 ? className : "\(path.phrase) (\(className))")
  }
}

// MARK: - All entries

/// The entries of a report, made once when somebody asks for them.
///
/// Most reports are not looked at, and the paths of all nodes take a tenth of a save
/// (benchmark: save nodes).
//
// Sendable although the closure may hold values that are not: nobody changes those
// values any more, and under the lock one caller at a time calls the closure, once.
final class ReportEntries<Outcome: ReportOutcome>: @unchecked Sendable {
  private let lock = Mutex<Void>(())
  private var make: (() -> [ReportEntry<Outcome>])?
  private var entries: [ReportEntry<Outcome>] = []

  init(_ make: @escaping () -> [ReportEntry<Outcome>]) { self.make = make }

  var made: [ReportEntry<Outcome>] {
    lock.withLock { _ in
      if let make { (entries, self.make) = (make(), nil) }
      return entries
    }
  }

  /// The same with a note of the application, whose line comes first.
  func adding(_ note: ReportNote, _ outcome: Outcome) -> ReportEntries {
    ReportEntries { [self] in
      var entries = made
      if entries.first?.kind == .application {
        entries[0].notes.append(note)
      } else {
        entries.insert(.ofApplication(outcome, [note]), at: 0)
      }
      return entries
    }
  }

  /// A headline, and all entries with their paths.
  ///
  /// - Complexity: O(*n*) in the number of entries.
  func list(_ headline: String) -> String {
    ([headline] + made.map { "  \($0.description)" }).joined(separator: "\n")
  }

  /// Lines deeper than this are not indented further, but numbered: the indentation of
  /// a long chain would grow with the square of its length.
  private static var deepestIndentation: Int { 24 }

  /// A headline, and all entries, each indented below its parent, which must come
  /// before.
  ///
  /// An entry whose parent is not the last one above it in the list stands at the
  /// margin, with its path.
  ///
  /// - Complexity: O(*n*) in the number of entries, for a tree.
  func tree(_ headline: String) -> String {
    var above: [RestorationPath] = []
    let tree = made.map { entry in
      guard let identifier = entry.path.identifier, let parent = entry.path.parent else {
        return entry.description
      }
      while let last = above.last, last.count >= entry.path.count || last != parent {
        above.removeLast()
      }
      let name = above.last == parent ? RestorationPath([identifier]) : entry.path
      let (depth, deepest) = (above.count, Self.deepestIndentation)
      above.append(entry.path)
      return entry.text(
        as: "\(depth > deepest ? "[\(depth)] " : "")\(name.phrase) (\(entry.className))",
        margin: String(repeating: "  ", count: min(depth, deepest)))
    }
    return ([headline] + tree).joined(separator: "\n")
  }
}

extension ReportEntries: Hashable {
  static func == (left: ReportEntries, right: ReportEntries) -> Bool { left.made == right.made }

  func hash(into hasher: inout Hasher) { hasher.combine(made) }
}
