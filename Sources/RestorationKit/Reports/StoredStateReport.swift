/// The nodes that a restore would bring back from the stored state, with a line for each.
///
/// ``StateKeeper/checkStoredState()`` and ``SceneHost/checkStoredStates()`` give the
/// report. The report cannot know whether a factory or the app will provide a node;
/// only a restore asks them.
public struct StoredStateReport: Hashable, Codable, Sendable {
  /// What would happen to one node.
  public enum NodeOutcome: ReportOutcome {
    /// The node would be decoded as it is stored, or as it was migrated: then all steps
    /// went well on a copy, and a note says from which version.
    case restorable

    /// A newer version of the class wrote the state, which would be kept.
    case newerVersion(stored: Int, known: Int)

    /// A migration threw, or is not there; the state would be kept.
    case migrationFailed(from: Int, String)

    /// The node's restoration class is not registered under this name; the node would
    /// be kept with all below it.
    case unknownRestorationClass(String)

    /// The type that is registered under this name makes no nodes; the node would be
    /// kept with all below it.
    case notARestorationClass(String)

    /// The node above, at this path, would not be back; this node would be kept with it.
    case parentMissing(RestorationPath)

    /// The node's record cannot be read; the error is given.
    case unreadable(String)
  }

  /// The line of the report about one element.
  public typealias Entry = ReportEntry<NodeOutcome>

  /// The archive that a restore would read, which may be an older generation; nil if
  /// nothing is stored.
  public let source: RestorationReport.Source?

  /// Whether there is a stored state.
  public var isStored: Bool { source != nil }

  /// How many windows of a ``SceneHost`` are stored beside the state, each with a state
  /// of its own; nil if the directory cannot list them.
  ///
  /// ``SceneHost/checkStoredStates()`` checks the states of the windows.
  public let sceneCount: Int?

  /// The nodes, parents before children.
  public let entries: [Entry]

  /// The entries that the developer should look at, in order: nodes that would not come
  /// back with their state.
  public var problems: [Entry] { entries.filter(\.isProblem) }
}

extension StoredStateReport.NodeOutcome {
  /// Whether the developer should look at the node.
  public var isProblem: Bool {
    switch self {
    case .restorable: false
    default: true
    }
  }

  /// Whether a restore could not provide the node.
  var isMissing: Bool {
    switch self {
    case .unknownRestorationClass, .notARestorationClass, .parentMissing: true
    default: false
    }
  }
}

extension StoredStateReport {
  /// The report as a tree: a headline, and a line for every node, indented below
  /// the node above it.
  public var tree: String { ReportTree.text(headline, entries) }
}

extension StoredStateReport: CustomStringConvertible {
  /// A headline and a line for every node.
  public var description: String { ReportTree.list(headline, entries) }

  private static func sentence(windows count: Int) -> String {
    " The states of \(count) windows beside it are checked by the host's checkStoredStates()."
  }

  private var headline: String {
    (source.map { "Checked \(entries.count) nodes." + $0.sentence } ?? "There is no saved state.")
      + (sceneCount.map { $0 == 0 ? "" : Self.sentence(windows: $0) }
        ?? " Whether windows are stored beside it cannot be listed.")
  }
}

extension StoredStateReport.NodeOutcome: CustomStringConvertible {
  /// The outcome in a sentence.
  public var description: String {
    switch self {
    case .restorable: "can be restored"
    case .newerVersion(let stored, let known):
      "has version \(stored), newer than \(known); its state would be kept as it is"
    case .migrationFailed(let version, let error):
      "cannot be migrated from version \(version): \(error); its state would be kept as it is"
    case .unknownRestorationClass(let name):
      "names the class \(name), which is not registered; it would be kept as it is"
    case .notARestorationClass(let name):
      "names \(name), and what is registered as that makes no nodes; it would be kept as it is"
    case .parentMissing(let path):
      "lies below \(path.phrase), which would not be back; it would be kept as it is"
    case .unreadable(let error): "cannot be read: \(error)"
    }
  }
}
