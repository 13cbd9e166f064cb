public import ArchiveCodec
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

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

    /// Restoring the node, or a node below it, crashed too often, so no step was asked for it.
    case skipped
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
  /// The text says why the launch could not be marked.
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
  /// A vetoed node and a tab that may be built later are not among them. Neither is a
  /// node that was left out, or saved without state, if another entry has the reason.
  public var problems: [Entry] { entries.filter(\.isProblem) }
}

extension RestorationReport {
  /// The archive that was restored, or was too old.
  public struct Source: Hashable, Sendable {
    /// Where the archive is, for a person to read.
    public let location: String

    /// Nil if the archive is the state that was saved last; else why an older one was kept.
    public let generation: SetAsideReason?

    /// When the archive was saved; nil if the time is not known.
    public let savedAt: Date?

    /// The newer archives that were passed over, in order.
    public let passedOver: [PassedOver]
  }

  /// A newer archive that was not restored.
  public struct PassedOver: Hashable, Sendable {
    /// Why the archive was not restored.
    public enum Reason: Hashable, Sendable {
      /// The archive is missing; it may have been set aside in an earlier launch.
      case missing

      /// The archive cannot be read. The error is given without its advice, since an
      /// older archive could be read. The next save sets the unreadable one aside.
      case unreadable(String)

      /// Restoring the archive crashed too often, so it is set aside.
      case crashed
    }

    /// Where the archive is or was, for a person to read.
    public let location: String

    /// Why the archive was not restored.
    public let reason: Reason
  }
}

extension RestorationReport: CustomStringConvertible {
  /// The report as a tree: a headline, and a line for every node, indented below
  /// the node above it.
  public var tree: String { lines.tree(head) }

  /// A headline and a line for every node.
  public var description: String { lines.list(head) }

  private var head: String {
    headline + (launchProblem.map { "\n  problem of the launch: \($0)" } ?? "")
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
    let nodes = entries.filter { $0.kind != .application }
    let problemCount = nodes.count(where: \.isProblem)
    return "Restored \(nodes.count(where: \.isWhole)) of \(nodes.count) nodes"
      + (problemCount == 0 ? "." : ", \(problemCount) with problems.")
  }

  /// Says that another keeper of this process has the state, if it has.
  mutating func noteOtherKeeper(of name: String) {
    let isInUse = outcome == .inUse(by: ArchiveError.thisProcess)
    guard let note = otherInstances.otherKeeper(isInUse ? name : nil) else { return }
    lines = lines.adding(note, .restored(by: .delegate))
  }

  /// The problems of the restore, each in a sentence with its place.
  var said: [String] {
    let ofAll: [String] =
      switch outcome {
      case .locked: [headline + " Restore again when it is unlocked."]
      case .inUse: [headline + " End that one, and launch again."]
      case .crashed, .delegateGone: [headline]
      case .restored where source?.passedOver.isEmpty == false: [headline]
      case .restored, .noArchive, .nothingKept, .declined, .tooOld: []
      }
    return ofAll + (launchProblem.map { ["A problem of the launch: \($0)"] } ?? [])
      + problems.flatMap(\.said)
  }
}

extension RestorationReport.Entry {
  /// Whether the element is back with its whole stored state.
  fileprivate var isWhole: Bool {
    outcome.isRead && !notes.contains { if case .fieldReplaced = $0 { true } else { false } }
  }
}

extension RestorationReport.NodeOutcome: CustomStringConvertible {
  /// Whether the developer should look at the node; a veto is meant, and a tab may be built later.
  public var isProblem: Bool {
    switch self {
    case .restored, .vetoed, .parentMissing, .stackCut, .tabNotFound, .restoredWithoutState: false
    default: true
    }
  }

  /// Whether the node is there and of the saved class.
  var isDecodable: Bool { step != nil }

  /// The step that provided the node; nil if it is not there, or is of another class.
  var step: RestorationReport.Step? {
    switch self {
    case .restored(let step), .restoredWithoutState(let step), .decodeFailed(let step, _): step
    case .newerVersion(let step, _, _), .migrationFailed(let step, _, _): step
    default: nil
    }
  }

  /// Whether the node is back with all that was stored of it.
  var isRead: Bool {
    step.map { self == .restored(by: $0) || self == .restoredWithoutState(by: $0) } ?? false
  }

  /// Whether the node was asked to decode its state.
  var wasAsked: Bool {
    if case .restored = self { true } else if case .decodeFailed = self { true } else { false }
  }

  var isBack: Bool {
    if case .classMismatch = self { true } else { isDecodable }
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
    case .classMismatch(let step, let found):
      "\(step.description), but as a \(found), so nothing was decoded, and the next save replaces its"
        + " state; if \(found) is its new name, register it with the old one as an alias"
    default: whyMissing
    }
  }

  private var whyMissing: String {
    switch self {
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
    case .skipped: "left out by this version of the app, since restoring it crashed"
    default: ""
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

extension RestorationReport.PassedOver: CustomStringConvertible {
  /// The reason why the file was passed over, in a sentence.
  public var description: String {
    switch reason {
    case .missing: "\(location) is missing, or was set aside before."
    case .unreadable(let error): "\(location) cannot be read (\(error))."
    case .crashed: "\(location) was set aside, since restoring it crashed."
    }
  }
}

extension RestorationReport.Source {
  /// Says which older archive was restored, and why; empty if it is the newest.
  var sentence: String {
    guard !passedOver.isEmpty else { return "" }
    let reasons = passedOver.map(\.description).joined(separator: " ")
    return " It is an older generation, \(location)\(moment). \(reasons)"
  }

  /// When the archive was saved, to follow its name; empty if that is not known.
  var moment: String { savedAt.map { ", saved \($0)" } ?? "" }
}
