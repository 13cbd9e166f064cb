/// What a restore did, with a line for every node of the archive.
public struct RestorationReport: Hashable, Sendable {
  /// The outcome of the restore as a whole.
  public enum Outcome: Hashable, Sendable {
    /// A state was there and was restored, apart from the problems in the entries.
    case restored

    /// Nothing was stored.
    case noArchive

    /// Nothing is kept for the node that came late.
    case nothingKept

    /// The restore gate said no.
    case declined

    /// The delegate is gone, so nothing was restored.
    case delegateGone

    /// The key is locked, so nothing was called; nothing is saved until a
    /// restore succeeds.
    case locked

    /// The last restores did not end, so nothing was called. The state was set aside at
    /// the given place.
    case crashed(setAsideAt: String?)

    /// The state is older than ``StatePolicy/maximumAge``, so nothing was called. It was set aside
    /// at the given place, or is still where it was if no launch before has found it too old.
    case tooOld(setAsideAt: String?)

    /// Another instance of the app has the state, so nothing was called; the process of
    /// the instance is named if it is known.
    case inUse(by: String?)
  }

  /// The step of the lookup that provided a node.
  public enum Step: String, Hashable, Sendable {
    /// The restoration class that the node's record names.
    case restorationClass

    /// The delegate.
    case delegate

    /// A node of the app that was there, with exactly this path.
    case existing

    /// The storyboard that the node's record names.
    case storyboard
  }

  /// What happened to one node.
  public enum NodeOutcome: ReportOutcome {
    /// The node is back, with its state. The delegate brings back the application's values.
    case restored(by: Step)

    /// The node is back; it was saved without state, so nothing was decoded.
    case restoredWithoutState(by: Step)

    /// The node is back, but its decoding threw; the error is given.
    case decodeFailed(by: Step, String)

    /// A newer version of the class wrote the state, so no factory or object saw it;
    /// saves write the state back as it is. With a nil step the node is not back.
    case newerVersion(by: Step?, stored: Int, known: Int)

    /// The migration from a version threw the error, or there is no such migration. No
    /// factory or object saw the state; saves write it back as it is. With a nil step
    /// the node is not back.
    case migrationFailed(by: Step?, from: Int, String)

    /// The node, or its factory, has kept the state for later and said why; see
    /// ``StateDecoder/keep(because:)``. Saves write the state back as it is. With a nil step the node
    /// is not back.
    case kept(by: Step?, String)

    /// The step provided an object of another class than the saved one. The object is
    /// used as it is, and nothing was decoded.
    case classMismatch(by: Step, found: String)

    /// The restoration class returned nil, so the node goes with all below it, and with
    /// the nodes that lay on it in a stack. No other outcome drops a stored node.
    case vetoed

    /// The step that was asked for the node threw; the error is given.
    case factoryFailed(Step, String)

    /// The node's restoration class is not registered under this name.
    case unknownRestorationClass(String)

    /// The type that is registered under this name makes no nodes.
    case notARestorationClass(String)

    /// No step provided the node.
    case notFound

    /// The node's storyboard is not registered, or has no such identifier any more.
    case notInStoryboard(String, identifier: String)

    /// No object is registered under the object's identifier and parent.
    case notRegistered

    /// The view's node has no such view.
    case viewNotFound

    /// The node lay in a stack on a node that is not back.
    case stackCut

    /// The tabs have no tab with the node's identifier now.
    case tabNotFound

    /// The object that was provided for the node had been provided before, for this path.
    case providedTwice(RestorationPath)

    /// The node above, at this path, is not back.
    case parentMissing(RestorationPath)

    /// The node's record cannot be read; the error is given.
    case unreadable(String)

    /// Restoring the node, or a node below it, crashed too often, so no step was asked for it.
    case skipped

    /// The record of the element has a later state, which counts; this state is kept
    /// beside it. The outcome stands only in lists of kept elements.
    case laterStateRestored
  }

  /// The line of the report about one element, or about the application.
  public typealias Entry = ReportEntry<NodeOutcome>

  /// The outcome of the restore as a whole.
  public internal(set) var outcome: Outcome

  /// The application if the report has a note on it, then the nodes, parents before children.
  ///
  /// - Complexity: O(*n*) in the number of entries when they are asked for first.
  public var entries: [Entry] { lines.made }

  /// Makes the entries.
  var lines = ReportEntries<NodeOutcome> { [] }

  /// The archive that was restored, or was too old; nil if there is none.
  public internal(set) var source: Source?

  /// A problem of the launch beside the nodes; nil if there was none.
  ///
  /// The text says why the crash marker could not be written, why files of a killed save may
  /// still be there, that the end of the state was damaged and left out, as after a power
  /// cut, or that a local copy of a state that machines share was damaged or an older one.
  /// If nothing is stored, the text says that a key is
  /// missing which its provider does not make, so that nothing will be saved.
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

  init(_ outcome: Outcome) {
    self.outcome = outcome
  }

  /// The entries that the developer should look at, in order.
  ///
  /// A vetoed node, a tab that may be built later and a state that its node keeps are not among them. Neither is a
  /// node that was left out, or saved without state, if another entry has the reason.
  public var problems: [Entry] { entries.filter(\.isProblem) }
}

extension RestorationReport.NodeOutcome {
  /// Whether the developer should look at the node; a veto is meant, a node keeps its state
  /// for a reason, and a tab may be built later.
  public var isProblem: Bool {
    switch self {
    case .restored, .vetoed, .parentMissing, .stackCut, .tabNotFound, .restoredWithoutState,
      .laterStateRestored, .kept:
      false
    default: true
    }
  }
}

extension RestorationReport {
  /// The report as a tree: a headline, and a line for every node, indented below
  /// the node above it.
  public var tree: String { ReportTree.text(head, entries) }
}

extension RestorationReport: CustomStringConvertible {
  /// A headline and a line for every node.
  public var description: String { ReportTree.list(head, entries) }

  private var head: String {
    headline + (launchProblem.map { "\n  problem of the launch: \($0)" } ?? "")
  }

  /// Why the restored state is not the last one, or not the whole of it, in
  /// sentences; nil if it is.
  var flaw: String? {
    guard launchProblem != nil || source?.passedOver.isEmpty == false || !problems.isEmpty else {
      return nil
    }
    let ofAll = problems.filter { $0.kind == .application || $0.kind == .scene }.map(\.reason)
    return
      ([headline] + (launchProblem.map { ["Problem of the launch: \($0)"] } ?? []) + ofAll)
      .joined(separator: " ")
  }

  var headline: String {
    switch outcome {
    case .restored: restored + (source?.sentence ?? "") + otherInstances.sentence(stateName)
    case .noArchive:
      "Nothing restored: there is no saved state." + otherInstances.sentence(stateName)
    case .nothingKept:
      "Nothing restored: nothing is kept for the node. One that is saved replaces it."
    case .declined: "Nothing restored: the restore gate said no."
    case .delegateGone:
      "Nothing restored: the delegate is gone. Keep it alive, or set it to nil to restore without"
        + " one."
    case .locked: "Nothing restored: the key is locked."
    case .crashed(let location):
      "Nothing restored: the last restores crashed." + location.setAsideSentence
    case .tooOld(let location):
      "Nothing restored: the state\(source?.moment ?? ""), is older than policy.maximumAge."
        + (location == nil
          ? " The next save sets it aside, or a later launch that finds it so as well."
          : location.setAsideSentence)
    case .inUse(let process):
      "Nothing restored: \(process ?? "another instance of the app") has the state."
    }
  }

  private var restored: String {
    let nodes = entries.filter { $0.kind != .application && $0.kind != .scene }
    let problemCount = nodes.count(where: \.isProblem)
    return "Restored \(nodes.count(where: \.isWhole)) of \(nodes.count) nodes"
      + (problemCount == 0 ? "." : ", \(problemCount) with problems.")
  }
}

extension RestorationReport.Entry {
  /// Whether the element is back with its whole stored state.
  fileprivate var isWhole: Bool {
    switch outcome {
    case .restored, .restoredWithoutState: !notes.contains(where: \.isOfReplacedField)
    default: false
    }
  }
}

extension ReportNote {
  fileprivate var isOfReplacedField: Bool {
    if case .fieldReplaced = self { true } else { false }
  }
}

extension RestorationReport.NodeOutcome: CustomStringConvertible {
  /// Whether the node is there and of the saved class.
  var isDecodable: Bool {
    switch self {
    case .restored, .restoredWithoutState, .decodeFailed: true
    case .newerVersion(let step, _, _), .migrationFailed(let step, _, _), .kept(let step, _):
      step != nil
    default: false
    }
  }

  /// The step that provided the node.
  var step: RestorationReport.Step? {
    switch self {
    case .restored(let step), .restoredWithoutState(let step), .decodeFailed(let step, _): step
    case .newerVersion(let step, _, _), .migrationFailed(let step, _, _), .kept(let step, _): step
    default: nil
    }
  }

  /// Whether the node was asked to decode its state.
  var wasAsked: Bool {
    switch self {
    case .restored, .decodeFailed: true
    default: false
    }
  }

  var isBack: Bool {
    switch self {
    case .classMismatch: true
    default: isDecodable
    }
  }

  /// Whether a new state is saved beside the stored one, and does not replace it:
  /// the app could not read the stored one, its node keeps it, or restoring it crashed.
  var staysBeside: Bool {
    switch self {
    case .newerVersion, .migrationFailed, .kept, .skipped: true
    default: false
    }
  }

  /// Why the node itself keeps the state; nil if it does not.
  var keptReason: String? {
    if case .kept(_, let reason) = self { reason } else { nil }
  }

  /// Whether the node is not back because its parent is not back.
  var isBelowMissing: Bool {
    if case .parentMissing = self { true } else { false }
  }

  /// The outcome in a sentence.
  public var description: String {
    switch self {
    case .restored(let step): "restored, \(step.description)"
    case .restoredWithoutState(let step):
      "restored without state, as it was saved, \(step.description)"
    case .decodeFailed(let step, let error):
      "\(step.description), but its decoding threw: \(error)"
    case .newerVersion(let step, let stored, let known):
      "\(step?.description ?? "not back"), but its state has version \(stored), newer than"
        + " \(known); nothing was decoded\(step.keptSentence)"
    case .migrationFailed(let step, let version, let error):
      "\(step?.description ?? "not back"), but its migration from version \(version) failed:"
        + " \(error); nothing was decoded\(step.keptSentence)"
    case .kept(let step, let reason):
      "\(step?.description ?? "not back"), and its state is kept for later: \(reason)"
    case .classMismatch(let step, let found):
      "\(step.description), but as a \(found), so nothing was decoded, and the next save replaces its"
        + " state; if \(found) is its new name, register it with the old one as an alias"
    case .vetoed: "left out, its restoration class returned nil"
    case .factoryFailed(let step, let error): "not back, \(step.description) threw: \(error)"
    case .unknownRestorationClass(let name):
      "not back, the restoration class \(name) is not registered;"
        + " register it, or its new name with \(name) as an alias"
    case .notARestorationClass(let name):
      "not back, what is registered as \(name) makes no nodes; register a NodeRestoration, or the"
        + " class of the node with a closure that makes it"
    case .notFound:
      "not found; register its class with a closure that makes it, answer in the delegate, or let"
        + " the node above it contain it before you restore; if it is built later, call"
        + " restore(late:below:)"
    case .notInStoryboard(let name, let identifier):
      "not found, the storyboard \(name) is not registered or has no “\(identifier)”"
    case .notRegistered:
      "not found; register it with keeper.registerObject before you restore,"
        + " or give it an object restoration class"
    case .viewNotFound:
      "not found; let its node have it among its restorationViews when they are loaded"
    case .stackCut: "not back, what it lay on in its stack is not back"
    case .tabNotFound:
      "not back, there is no such tab yet; if one is built later, call restore(late:below:)"
    case .providedTwice(let path):
      "not back, what was provided for it is already back as \(path.phrase)"
    case .parentMissing(let path): "not back, \(path.phrase) above it is not back"
    case .unreadable(let error): "left out, its record cannot be read: \(error)"
    case .laterStateRestored: "a state of it counts that was saved later; this one is kept"
    case .skipped: "left out by this version of the app, since restoring it crashed"
    }
  }
}

extension RestorationReport.Step? {
  /// Tells that saves keep a state that nobody could read.
  ///
  /// Empty for a node that is not back, since a note says so.
  fileprivate var keptSentence: String {
    self == nil ? "" : ", and saves keep the state as it is stored"
  }
}

extension RestorationReport.Step: CustomStringConvertible {
  /// The step in a few words.
  public var description: String {
    switch self {
    case .restorationClass: "made by what is registered for it"
    case .delegate: "provided by the delegate"
    case .existing: "already there"
    case .storyboard: "made by its storyboard"
    }
  }
}
