public import ArchiveCodec
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

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

    /// The key is locked, or was at the last restore; the stored state is intact.
    case locked

    /// Another instance of the app has the state, so nothing was written; the process
    /// of the instance is named if it is known.
    case inUse(by: String?)
  }

  /// What happened to one node.
  public enum NodeOutcome: ReportOutcome {
    /// The element is in the archive.
    case saved

    /// The element is in the archive without state, because encoding threw.
    case savedWithoutState

    /// The element is in the archive as it was stored before, because this version of
    /// the app cannot read its state or it was not back after the restore; ``kept`` says
    /// why.
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
    ///
    /// What lies below it is not stored, either, but for that to which references lead.
    case noIdentifier

    /// Another node had its path before; what lies below it is not stored, either, as with ``noIdentifier``.
    ///
    /// A registered object is stored, but a restore does not find it.
    case duplicate

    /// The element is in the tree twice; only the first place counts.
    case containedTwice
  }

  /// The line of the report about one element, or about the application.
  public typealias Entry = ReportEntry<NodeOutcome>

  /// The outcome of the save as a whole.
  public internal(set) var outcome: Outcome

  /// The application if the report has a note on it, then the nodes in the order of the walk.
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

  /// The name of the state that was saved.
  ///
  /// The name has a number if other instances have the names before it.
  public internal(set) var stateName: String?

  /// The instances that have the names before ``stateName``.
  public internal(set) var otherInstances: [OtherInstance] = []

  /// Whether all that the app has is stored, if the outcome is `saved`.
  var isComplete = true

  init(_ outcome: Outcome) {
    self.outcome = outcome
  }

  /// The entries that the developer should look at, in order.
  public var problems: [Entry] { entries.filter(\.isProblem) }
}

extension PreservationReport: CustomStringConvertible {
  /// The report as a tree: a headline, and a line for every node, indented below
  /// the node above it.
  public var tree: String { lines.tree(headline) }

  /// A headline and a line for every node.
  public var description: String { lines.list(headline) }

  var headline: String {
    switch outcome {
    case .saved: savedSentence + setAside.setAsideSentence + otherInstances.sentence(stateName)
    case .delegateGone:
      "Nothing saved: the delegate is gone. Keep it alive, or set it to nil to save without one."
    case .declined: "Nothing saved: the save gate said no." + setAside.setAsideSentence
    case .locked: "Nothing saved: the key is locked. Restore when it is unlocked."
    case .inUse(let process):
      "Nothing saved: \(process ?? "another instance of the app") has the state."
    }
  }

  private var savedSentence: String {
    let unasked = unaskedCount > 0 ? " \(unaskedCount) more have not changed." : ""
    if writtenByteCount == 0 { return "Saved; nothing has changed." + unasked }
    return "Saved \(writtenByteCount) bytes." + unasked
  }

  /// Says that another keeper of this process has the state, if it has.
  mutating func noteOtherKeeper(of name: String) {
    let isInUse = outcome == .inUse(by: ArchiveError.thisProcess)
    guard let note = otherInstances.otherKeeper(isInUse ? name : nil) else { return }
    lines = lines.adding(note, .saved)
  }

  /// The problems of the save, each in a sentence with its place.
  var said: [String] {
    (outcome == .saved || outcome == .declined ? [] : [headline]) + problems.flatMap(\.said)
  }
}

extension PreservationReport.NodeOutcome: CustomStringConvertible {
  /// Whether the developer should look at the element; other things to mend are notes.
  public var isProblem: Bool { self == .duplicate || self == .containedTwice }

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
