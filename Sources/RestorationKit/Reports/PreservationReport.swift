public import ArchiveCodec

/// What a save did, with a line for every node.
public struct PreservationReport: Hashable, Codable, Sendable {
  /// What came of the save as a whole.
  public enum Outcome: Hashable, Codable, Sendable {
    /// The state is stored.
    case saved

    /// The delegate is gone, so nothing was saved.
    case delegateGone

    /// The save gate said no; an older state was discarded.
    case declined

    /// A later save was written first, so this one was not needed.
    case superseded

    /// The key is locked, or was at the last restore; what is stored is intact.
    case locked

    /// Another instance of the app has the state, in the process that is named
    /// if it is known; nothing was written.
    case inUse(by: String?)
  }

  /// What happened to one node.
  public enum NodeOutcome: Hashable, Codable, Sendable {
    /// It is in the archive.
    case saved

    /// It is in the archive without state, because encoding threw.
    case savedWithoutState

    /// It is in the archive as it was stored before, because this version of
    /// the app cannot read its state or it was not back after the restore; see
    /// ``Entry/keptBecause``.
    case keptAsStored

    /// It was not back for more than 30 days in which it was kept, so it is left
    /// out.
    case expired

    /// It was not back and kept; now another node is saved at its path, and takes
    /// its place.
    case replaced

    /// It is saved with the state that it was saved with last, since that of now
    /// could not be encoded.
    case savedWithLastState

    /// It has no identifier.
    case noIdentifier

    /// A node above it has no identifier or is a duplicate; its path is given.
    case excluded(by: RestorationPath)

    /// Another node had its path before.
    case duplicate

    /// It is in the tree twice; only the first place counts.
    case containedTwice
  }

  /// One node, or with an empty path the application.
  public struct Entry: Hashable, Codable, Sendable {
    /// What the line is about.
    public let kind: ElementKind

    /// The path of the node.
    public let path: RestorationPath

    /// The name of the node's class.
    public let className: String

    /// What happened to it.
    public internal(set) var outcome: NodeOutcome = .saved

    /// Whether it was saved as a root of its own, because a node above it that
    /// contains it was left out.
    public internal(set) var isDetached = false

    /// What became of it in the restore, if it is kept as it is stored.
    public internal(set) var keptBecause: RestorationReport.NodeOutcome?

    /// Whether its class has inherited its conformance, and nobody used the coder.
    ///
    /// Hooks that only a subclass implements, without `override`, are never called:
    /// the base class must implement them, too. Of a class that has nothing to save
    /// it says nothing, so this is no problem.
    public internal(set) var hasUnusedInheritedHooks = false

    /// What the developer should mend.
    public internal(set) var problems: [PreservationProblem] = []

    /// Writes all of it, and as `reason` the outcome in a sentence.
    public func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(kind, forKey: .kind)
      try container.encode(path, forKey: .path)
      try container.encode(className, forKey: .className)
      try container.encode(outcome, forKey: .outcome)
      try container.encode(isDetached, forKey: .isDetached)
      try container.encodeIfPresent(keptBecause, forKey: .keptBecause)
      try container.encode(hasUnusedInheritedHooks, forKey: .hasUnusedInheritedHooks)
      try container.encode(problems, forKey: .problems)
      try encoder.encodeReason(
        ([what] + problems.map(\.description)).joined(separator: " "))
    }

    /// The outcome, why it is kept, and what is strange about it.
    var what: String {
      outcome.description + (keptBecause.map { "; at the restore: \($0.description)" } ?? "")
        + (isDetached ? ", detached" : "")
        + (hasUnusedInheritedHooks
          ? "; nothing was encoded: if \(className) has something to save, let the class that"
            + " conforms implement encodeRestorableState, and \(className) override it"
          : "")
    }
  }

  /// What came of the save as a whole.
  public internal(set) var outcome: Outcome

  /// The application first, then the nodes in the order of the walk.
  public internal(set) var entries: [Entry] = []

  /// The version of the archive that was written.
  public internal(set) var version: ArchiveVersion?

  /// The size of the archive in bytes; 0 if none was written.
  public internal(set) var byteCount = 0

  /// How long the caller was held up by the walk.
  public internal(set) var walkDuration: Duration = .zero

  /// Where an archive was set aside that was in the way: one that could not be read
  /// here, or that nobody has read.
  public internal(set) var setAside: String?

  /// The state that was saved; with a number if other instances have those
  /// before it.
  public internal(set) var stateName: String?

  /// Those who have them.
  public internal(set) var otherInstances: [OtherInstance] = []

  init(_ outcome: Outcome) {
    self.outcome = outcome
  }

  /// All that the developer should mend.
  public var problems: [PreservationProblem] {
    entries.flatMap(\.problems)
  }
}

extension PreservationReport {
  /// The report as a tree: a headline, and a line for every node, indented below
  /// the node above it.
  public var tree: String {
    let lines = entries.filter { $0.kind != .application }.map { entry in
      ReportTree.Line(
        path: entry.path, text: "(\(entry.className)): \(entry.what)",
        details: entry.problems.map { "problem: \($0.description)" })
    }
    let ofApplication = entries.filter { $0.kind == .application && !$0.problems.isEmpty }
    return ReportTree.text(headline, lines, ofApplication.map(\.description))
  }
}

extension PreservationReport: CustomStringConvertible {
  /// A headline and a line for every node.
  public var description: String {
    ([headline] + entries.map { "  \($0.description)" }).joined(separator: "\n")
  }

  private var headline: String {
    switch outcome {
    case .saved:
      "Saved \(byteCount) bytes."
        + (setAside.map { " What was stored is set aside as \($0)." } ?? "")
        + otherInstances.sentence(stateName)
    case .delegateGone:
      "Nothing saved: the delegate is gone. Keep it alive, or set it to nil to save without one."
    case .declined:
      "Nothing saved: the save gate said no."
        + (setAside.map { " What was stored is set aside as \($0)." } ?? "")
    case .superseded: "Nothing saved: a later save was written first."
    case .locked: "Nothing saved: the key is locked. Restore when it is unlocked."
    case .inUse(let process):
      "Nothing saved: \(process ?? "another instance of the app") has the state."
    }
  }
}

extension PreservationReport.Entry: CustomStringConvertible {
  /// The path, the outcome, and a line for every problem.
  public var description: String {
    let name = kind == .application ? "application" : "\(path) (\(className))"
    return (["\(name): \(what)"] + problems.map { "    problem: \($0.description)" })
      .joined(separator: "\n")
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
    case .expired: "left out, nobody provided it in the 30 days for which it was kept"
    case .noIdentifier: "left out, it has no restoration identifier"
    case .excluded(let path): "left out, \(path) above it is left out"
    case .duplicate: "left out, another node has this path"
    case .containedTwice: "left out here, another node contains it too"
    }
  }
}
