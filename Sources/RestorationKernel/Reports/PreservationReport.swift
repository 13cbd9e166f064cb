public import ArchiveCodec

/// What a save did, with a line for every node.
public struct PreservationReport: Hashable, Sendable {
  /// What became of the save as a whole.
  public typealias Outcome = ReportOutcome

  /// The outcome of the save as a whole.
  public internal(set) var outcome: Outcome

  /// The application if the report has a note on it, then the nodes in the order of the walk.
  ///
  /// A save of changes has entries for the nodes that it asked; see ``unaskedCount``.
  ///
  /// - Complexity: O(*n*) in the number of entries when they are asked for first.
  public var entries: [ReportEntry] { lines.made.noting(otherInstances, .saved) }

  /// Makes the entries.
  var lines = ReportEntries { [] }

  /// The elements that are stored as they were, because the restore could not bring them back.
  ///
  /// ``StatePolicy/keptBound`` says for how long.
  public internal(set) var kept: [KeptElement] = []

  /// The version of the archive that was written.
  public internal(set) var version: ArchiveVersion?

  /// How many stored elements were not asked, because they say when they change and
  /// have not changed; see ``StateTracking``.
  public internal(set) var unaskedCount = 0

  /// The size of the stored state in bytes; 0 if nothing was saved.
  public internal(set) var byteCount = 0

  /// How many bytes of the state this save has written; 0 if nothing had changed.
  public internal(set) var writtenByteCount = 0

  /// How long the caller waited for the walk.
  public internal(set) var walkDuration: Duration = .zero

  /// Where the archive is that the save set aside, because it could not be read, was
  /// not read in this launch, or was not decoded whole; nil if none was set aside.
  public internal(set) var setAside: String?

  /// The name of the state that was saved.
  ///
  /// The name has a number if other instances have the names before it.
  public internal(set) var stateName: String?

  /// The instances that have the names before ``stateName``.
  public internal(set) var otherInstances: [OtherInstance] = []

  /// Whether all that the app has is stored, if the outcome is `saved`.
  var isComplete = true

  init(_ outcome: Outcome, _ others: [OtherInstance] = []) {
    (self.outcome, otherInstances) = (outcome, others)
  }

  /// The entries that the developer should look at, in order.
  public var problems: [ReportEntry] {
    lines.mayHaveProblems || !otherInstances.isEmpty ? entries.filter(\.isProblem) : []
  }
}

extension PreservationReport: CustomStringConvertible {
  /// A headline and a line for every node.
  public var description: String { entries.text(headline) }

  private var headline: String {
    let saved = writtenByteCount == 0 ? "; nothing has changed." : " \(writtenByteCount) bytes."
    return (outcome == .saved ? "Saved" + saved : "Nothing saved: \(outcome.reason)")
      + (unaskedCount == 0 ? "" : " \(unaskedCount) more have not changed.")
      + setAside.setAsideSentence + otherInstances.sentence(stateName)
  }

  /// The problems of the save, each in a sentence with its place.
  var said: [String] {
    (outcome.isProblem ? [headline] : []) + problems.flatMap(\.said)
  }
}
