public import ArchiveCodec

/// What a save did, with a line for every node.
public struct PreservationReport: Hashable, Sendable {
  /// What became of the save as a whole.
  public typealias Outcome = ReportOutcome

  /// The outcome of the save as a whole.
  public internal(set) var outcome: Outcome

  /// The application if the report has a note on it, then the nodes in the order of the walk.
  ///
  /// A node that has not changed, and was not asked, has none; see ``unaskedCount``.
  ///
  /// - Complexity: O(*n*) in the number of entries when they are asked for first.
  public var entries: [ReportEntry] { lines.made.noting(otherInstances, .saved) }

  /// Makes the entries.
  var lines = ReportEntries { [] }

  /// The elements that are stored as they were, because the restore could not bring them back.
  ///
  /// ``StatePolicy/keptBound`` says for how long.
  public internal(set) var kept: [KeptElement] = []

  /// The version of the stored archive; nil if nothing is stored.
  public internal(set) var version: ArchiveVersion?

  /// How many stored elements were not asked, because they say when they change and
  /// have not changed; see ``StateTracking``.
  public var unaskedCount: Int { counts.unasked }

  /// The size of the stored state in bytes; 0 if nothing was saved.
  public var byteCount: Int { counts.stored }

  /// How many bytes of the state this save has written; 0 if nothing had changed.
  public var writtenByteCount: Int { counts.written }

  var counts = Counts()

  struct Counts: Hashable { var unasked = 0, stored = 0, written = 0 }

  /// How long the caller waited for the walk.
  public internal(set) var walkDuration: Duration = .zero

  /// The ``Moment/id`` of the state that gave way and was not read in this launch, or, where
  /// the gate said no, was not decoded whole; nil if none gave way.
  public internal(set) var setAside: String?

  /// Why the saved state is only in the local copy, and not in the store yet; nil if
  /// the store has it, or no store is used.
  public internal(set) var unsent: String?

  /// Why a state in the history is only on this machine, or without a local copy
  /// only in memory; nil if the store has it, or no store is used.
  ///
  /// The save with this text went on without the copy in the store. The next launch
  /// with a local copy tries again to send one that is too large; any other is sent
  /// again with the next save.
  public internal(set) var unsentAside: String?

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
    if case .refused(let refusal) = outcome {
      return "Not in the store: \(refusal). It is kept here; choose with resolveConflict(keeping:)."
    }
    return (outcome == .saved ? "Saved" + saved : "Nothing saved: \(outcome.reason)")
      + (unsent.map { " It is not in the store yet, and sent when that can be reached. \($0)" }
        ?? "")
      + (unsentAside.map { " What was set aside is not in the store. \($0)" } ?? "")
      + (unaskedCount == 0 ? "" : " \(unaskedCount) more have not changed.")
      + setAside.setAsideSentence + otherInstances.sentence(stateName)
  }

  /// The problems of the save, each in a sentence with its place.
  var said: [String] {
    (outcome.isProblem ? [headline] : []) + problems.flatMap(\.said)
  }
}
