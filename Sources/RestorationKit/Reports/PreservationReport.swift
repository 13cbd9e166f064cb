public import ArchiveCodec
public import RestorationFoundation

/// What a save did, with a line for every node.
public struct PreservationReport: Hashable, Sendable {
  /// The outcome of the save as a whole.
  public enum Outcome: Hashable, Sendable {
    /// The state is stored.
    case saved

    /// The delegate is gone, so nothing was saved.
    case delegateGone

    /// The save gate said no; an older state was discarded.
    case declined

    /// The scene was disconnected or discarded while its save waited, so nothing was saved: the
    /// call that let the scene go decides what is stored of it.
    case disconnected

    /// The key is locked, or was at the last restore; the stored state is intact.
    case locked

    /// Another instance of the app has the state, so nothing was written; the process
    /// of the instance is named if it is known.
    case inUse(by: String?)

    /// The place where the directory keeps its states has something else, and keeps it.
    ///
    /// The state that was saved is kept on this machine: in the local copy, or else in
    /// memory. No directory of this module refuses a save.
    case refused(Refusal)

    /// Whether nothing was written now, but a later save may write it.
    var isPostponed: Bool {
      switch self {
      case .locked, .inUse: true
      case .saved, .delegateGone, .declined, .disconnected, .refused: false
      }
    }
  }

  /// What happened to one node.
  public enum NodeOutcome: ReportOutcome {
    /// The element is in the archive.
    case saved

    /// The element is in the archive without state, because encoding threw.
    case savedWithoutState

    /// The element is in the archive as it was stored before, because this version of
    /// the app cannot read its state or it was not back after the restore; see
    /// ``ReportNote/keptBecause(_:)``.
    case keptAsStored

    /// The element was not back, and was kept since the date. That is longer than the
    /// ``StatePolicy/keptBound``, so the element is left out with all below it, which
    /// took so many bytes together.
    case expired(since: Date, byteCount: Int)

    /// The element was not back and is left out with all below it. All kept elements
    /// together have more bytes than the ``StatePolicy/keptBound``, and this one was
    /// kept for longer than the others.
    case crowdedOut(since: Date, byteCount: Int)

    /// The element was not back and kept; now another node is saved at its path and replaces it.
    case replaced

    /// The element is saved with the state that it was saved with last, since its new
    /// state could not be encoded.
    case savedWithLastState

    /// The element has no identifier, or one that is too long; then a note says so.
    case noIdentifier

    /// A node above the element has no identifier or is a duplicate; the path
    /// of that node is given.
    case excluded(by: RestorationPath)

    /// Another node had its path before.
    case duplicate

    /// The element is in the tree twice; only the first place counts.
    case containedTwice
  }

  /// The line of the report about one element, or about the application.
  public typealias Entry = ReportEntry<NodeOutcome>

  /// The outcome of the save as a whole.
  public internal(set) var outcome: Outcome

  /// The scene and the application if the report has a note on them, then the nodes in
  /// the order of the walk.
  ///
  /// A save of changes has entries for the nodes that it asked; see ``unaskedCount``.
  ///
  /// - Complexity: O(*n*) in the number of entries when they are asked for first.
  public var entries: [Entry] { lines.made }

  /// Makes the entries.
  var lines = ReportEntries<NodeOutcome> { [] }

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

  /// Why the saved state is only in the local copy, and not in the store yet; nil if
  /// the store has it, or no store is used.
  public internal(set) var unsent: String?

  /// Why a state that was set aside is only on this machine, or without a local copy
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

  init(_ outcome: Outcome) {
    self.outcome = outcome
  }

  /// Adds notes on the scene that the state belongs to.
  mutating func add(ofScene notes: [ReportNote]) {
    lines = lines.adding(notes, on: .scene, .saved)
  }

  /// The entries that the developer should look at, in order.
  public var problems: [Entry] { entries.filter(\.isProblem) }
}

extension PreservationReport.NodeOutcome {
  /// Whether the developer should look at the element; other things to mend are notes.
  public var isProblem: Bool {
    switch self {
    case .duplicate, .containedTwice: true
    case .saved, .savedWithoutState, .keptAsStored, .expired, .crowdedOut, .replaced,
      .savedWithLastState,
      .noIdentifier, .excluded:
      false
    }
  }
}

extension PreservationReport {
  /// The report as a tree: a headline, and a line for every node, indented below
  /// the node above it.
  public var tree: String { ReportTree.text(headline, entries) }
}

extension PreservationReport: CustomStringConvertible {
  /// A headline and a line for every node.
  public var description: String { ReportTree.list(headline, entries) }

  var headline: String {
    switch outcome {
    case .saved:
      savedSentence + unsentSentence + setAside.setAsideSentence + unsentAsideSentence
        + otherInstances.sentence(stateName)
    case .delegateGone:
      "Nothing saved: the delegate is gone. Keep it alive, or set it to nil to save without one."
    case .declined:
      "Nothing saved: the save gate said no." + setAside.setAsideSentence + unsentAsideSentence
    case .disconnected: "Nothing saved: the scene was disconnected or discarded meanwhile."
    case .locked: "Nothing saved: the key is locked. Restore when it is unlocked."
    case .inUse(let process):
      "Nothing saved: \(process ?? "another instance of the app") has the state."
    case .refused(let refusal):
      "Not in the store: \(refusal). It is kept here; choose with resolveConflict(keeping:)."
    }
  }
}

extension PreservationReport {
  private var unsentSentence: String {
    unsent.map { " It is not in the store yet, and sent when that can be reached. \($0)" } ?? ""
  }

  private var unsentAsideSentence: String {
    unsentAside.map { " What was set aside is not in the store. \($0)" } ?? ""
  }

  private var savedSentence: String {
    let unasked = unaskedCount > 0 ? " \(unaskedCount) more have not changed." : ""
    if writtenByteCount == 0 { return "Saved; nothing has changed." + unasked }
    return "Saved \(writtenByteCount) bytes." + unasked
  }
}

extension PreservationReport.NodeOutcome: CustomStringConvertible {
  /// The outcome in a few words.
  public var description: String {
    switch self {
    case .saved: "saved"
    case .savedWithoutState: "saved without its state"
    case .savedWithLastState: "saved with the state of the save before"
    case .keptAsStored: "kept as it is stored"
    case .replaced:
      "gone, another node is saved in its place; it could have come back by restore(late:below:)"
    case .expired(let since, let byteCount):
      "left out with its \(byteCount) bytes, nobody provided it although it was kept since \(since)"
    case .crowdedOut(let since, let byteCount):
      "left out with its \(byteCount) bytes, which were kept since \(since): more is kept than may be"
    case .noIdentifier: "left out, it has no usable restoration identifier"
    case .excluded(let path): "left out, \(path.phrase) above it is left out"
    case .duplicate:
      "left out, another one has this path; give each of the two an identifier of its own"
    case .containedTwice:
      "left out here, it is in the tree twice; let one node contain it and others refer to it"
    }
  }
}

extension String? {
  /// The sentence that says where an archive was set aside; empty if none was.
  var setAsideSentence: String {
    map { " What was stored is set aside at \($0)." } ?? ""
  }
}
