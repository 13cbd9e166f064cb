internal import ArchiveCodec
public import RestorationFoundation

/// What a restore did, with a line for every node of the archive.
public struct RestorationReport: Hashable, Sendable {
  /// What became of the restore as a whole.
  public typealias Outcome = ReportOutcome

  /// The step of the lookup that provided a node.
  public enum Step: String, Hashable, Sendable, CustomStringConvertible {
    /// The restoration class that the node's record names.
    case restorationClass = "made by what is registered for it"

    /// The delegate.
    case delegate = "provided by the delegate"

    /// A node of the app that was there, with exactly this path.
    case existing = "already there"

    /// The storyboard that the node's record names.
    case storyboard = "made by its storyboard"

    /// The step in a few words.
    public var description: String { rawValue }
  }

  /// The archive that was restored, or was too old.
  public struct Source: Hashable, Sendable {
    /// Where the archive is, for a person to read.
    public let location: String

    /// When the archive was saved; nil if the time is not known.
    public let savedAt: Date?

    /// Why the newer archives were not restored, each in a sentence with its place, in order; none if
    /// the archive is the state that was saved last.
    ///
    /// The next save keeps an unreadable one in the history.
    public let passedOver: [String]
  }

  /// The outcome of the restore as a whole.
  public internal(set) var outcome: Outcome

  /// The application if there is something to say of it, then the nodes, parents before children.
  ///
  /// - Complexity: O(*n*) in the number of entries when they are asked for first.
  public var entries: [ReportEntry] { lines.made.noting(otherInstances, .restored(by: .delegate)) }

  /// Makes the entries.
  var lines = ReportEntries { [] }

  /// The archive that was restored, or was too old; nil if there is none.
  public internal(set) var source: Source?

  /// A problem of the launch beside the nodes; nil if there was none.
  ///
  /// The text says why the launch could not be marked, what of the state is damaged, or why saves will fail.
  public internal(set) var launchProblem: String?

  /// The name of the state that was restored; nil if none was, or it was only read.
  ///
  /// The name has a number if other instances have the names before it.
  public internal(set) var stateName: String?

  /// The instances that have the names before ``stateName``.
  public internal(set) var otherInstances: [OtherInstance] = []

  /// The elements that are not back, or could not be read; the saves that follow keep them.
  ///
  /// ``StatePolicy/keptBound`` says for how long. Empty for a node that came late.
  public internal(set) var kept: [KeptElement] = []

  /// How long the caller waited while nodes were made and decoded.
  public internal(set) var walkDuration: Duration = .zero

  init(_ outcome: Outcome, _ others: [OtherInstance] = []) {
    (self.outcome, otherInstances) = (outcome, others)
  }

  /// The entries that the developer should look at, in order.
  ///
  /// A vetoed node and a tab that may be built later are not among them. Neither is a
  /// node that was left out, or saved without state, if another entry has the reason.
  public var problems: [ReportEntry] {
    lines.mayHaveProblems || !otherInstances.isEmpty ? entries.filter(\.isProblem) : []
  }
}

extension RestorationReport: CustomStringConvertible {
  /// A headline and a line for every node.
  public var description: String {
    entries.text(headline + (launchProblem.map { "\n  problem of the launch: \($0)" } ?? ""))
  }

  var headline: String {
    let saved = source?.savedAt.map { " It was saved \($0)." } ?? ""
    return (outcome == .restored ? restored : "Nothing restored: \(outcome.reason)\(saved)")
      + otherInstances.sentence(stateName)
  }

  private var restored: String {
    let nodes = entries.filter { $0.kind != .application }
    let problemCount = nodes.count(where: \.isProblem)
    let wholeCount = nodes.count { $0.outcome.isRead && !$0.isProblem }
    let count =
      "Restored \(wholeCount) of \(nodes.count) nodes"
      + (problemCount == 0 ? "." : ", \(problemCount) with problems.")
    guard let source, !source.passedOver.isEmpty else { return count }
    return count + " It is an older generation, \(source.location)"
      + (source.savedAt.map { ", saved \($0)" } ?? "") + ". "
      + source.passedOver.joined(separator: " ")
  }

  /// The problems of the restore, each in a sentence with its place.
  var said: [String] {
    let isOlder = source?.passedOver.isEmpty == false
    return (outcome.isProblem || isOlder ? [headline] : [])
      + (launchProblem.map { ["A problem of the launch: \($0)"] } ?? []) + problems.flatMap(\.said)
  }
}
