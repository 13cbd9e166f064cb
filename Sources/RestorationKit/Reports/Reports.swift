public import ArchiveCodec
public import RestorationFoundation
internal import Synchronization

/// What a save did, with a line for every node.
public struct PreservationReport: Hashable, Sendable {
  /// The outcome of the save as a whole.
  public internal(set) var outcome: ReportOutcome

  /// The application if the report has a note on it, then the nodes in the order of the walk.
  ///
  /// A node that has not changed, and was not asked, has none; see ``unaskedCount``.
  ///
  /// - Complexity: O(*n*) in the number of entries when they are asked for first.
  public var entries: [ReportEntry] { lines.made.noting(others, .saved) }

  /// Makes the entries.
  var lines = ReportEntries { [] }

  /// The elements that are stored as they were, because the restore could not bring them back or read them.
  ///
  /// The outcomes are those of the restore: ``ElementOutcome/restored(by:)`` of an element that has a later
  /// state, and whose earlier one is kept beside that. ``StatePolicy/keptAge`` says for how long.
  public internal(set) var kept: [ReportEntry] = []

  /// The version of the stored archive; nil if nothing is stored.
  public internal(set) var version: ArchiveVersion?

  /// How many stored elements were not asked, because they say when they change and
  /// have not changed; see ``StateTracking``.
  public var unaskedCount: Int { measures.unasked }

  /// The size of the stored state in bytes; 0 if nothing was saved.
  public var byteCount: Int { measures.stored }

  /// How many bytes of the state this save has written; 0 if nothing had changed.
  public var writtenByteCount: Int { measures.written }

  var measures = Measures()

  struct Measures: Hashable { var unasked = 0, stored = 0, written = 0, walk = Duration.zero }

  /// How long the caller waited for the walk.
  public var walkDuration: Duration { measures.walk }

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

  /// The instances that have the names before ``stateName``, as in `process 4711, Catalog has main`.
  public var otherInstances: [String] { others.map(\.description) }

  package internal(set) var others: [OtherInstance] = []

  /// Why the outcome is `refused`; nil for any other.
  package internal(set) var refusal: Refusal?

  /// Whether all that the app has is stored, if the outcome is `saved`.
  var isComplete = true

  init(_ outcome: ReportOutcome, _ others: [OtherInstance] = []) {
    (self.outcome, self.others) = (outcome, others)
  }

  /// The entries that the developer should look at, in order.
  public var problems: [ReportEntry] {
    lines.mayHaveProblems || !others.isEmpty ? entries.filter(\.isProblem) : []
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
      + setAside.setAsideSentence + others.sentence(stateName)
  }

  /// The problems of the save, each in a sentence with its place.
  var said: [String] {
    (outcome.isProblem ? [headline] : []) + problems.flatMap(\.said)
  }
}

/// What a restore did, with a line for every node of the archive.
public struct RestorationReport: Hashable, Sendable {
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

  /// The outcome of the restore as a whole.
  public internal(set) var outcome: ReportOutcome

  /// The application if there is something to say of it, then the nodes, parents before children.
  ///
  /// - Complexity: O(*n*) in the number of entries when they are asked for first.
  public var entries: [ReportEntry] { lines.made.noting(others, .restored(by: .delegate)) }

  /// Makes the entries.
  var lines = ReportEntries { [] }

  /// Where the archive is that was restored or was too old, for a person to read; nil if there is none.
  public internal(set) var location: String?

  /// When that archive was saved; nil if the time is not known.
  public internal(set) var savedAt: Date?

  /// Why newer archives were not restored, each in a sentence with its place, in order; none if
  /// the archive is the state that was saved last.
  ///
  /// The next save keeps an unreadable one in the history.
  public internal(set) var passedOver: [String] = []

  /// A problem of the launch beside the nodes; nil if there was none.
  ///
  /// The text says why the launch could not be marked, what of the state is damaged, or why saves will fail.
  public internal(set) var launchProblem: String?

  /// The name of the state that was restored; nil if none was, or it was only read.
  ///
  /// The name has a number if other instances have the names before it.
  public internal(set) var stateName: String?

  /// The instances that have the names before ``stateName``, as in `process 4711, Catalog has main`.
  public var otherInstances: [String] { others.map(\.description) }

  package internal(set) var others: [OtherInstance] = []

  /// The elements that are not back, or could not be read; the saves that follow keep them.
  ///
  /// As ``PreservationReport/kept``; empty for a node that came late.
  public internal(set) var kept: [ReportEntry] = []

  /// How long the caller waited while nodes were made and decoded.
  public internal(set) var walkDuration: Duration = .zero

  init(_ outcome: ReportOutcome, _ others: [OtherInstance] = []) {
    (self.outcome, self.others) = (outcome, others)
  }

  /// The entries that the developer should look at, in order.
  ///
  /// A vetoed node and a tab that may be built later are not among them. Neither is a
  /// node that was left out, or saved without state, if another entry has the reason.
  public var problems: [ReportEntry] {
    lines.mayHaveProblems || !others.isEmpty ? entries.filter(\.isProblem) : []
  }
}

extension RestorationReport: CustomStringConvertible {
  /// A headline and a line for every node.
  public var description: String {
    entries.text(headline + (launchProblem.map { "\n  problem of the launch: \($0)" } ?? ""))
  }

  var headline: String {
    let saved = savedAt.map { " It was saved \($0)." } ?? ""
    return (outcome == .restored ? restored : "Nothing restored: \(outcome.reason)\(saved)")
      + others.sentence(stateName)
  }

  private var restored: String {
    let nodes = entries.filter { $0.kind != .application }
    let problemCount = nodes.count(where: \.isProblem)
    let wholeCount = nodes.count { $0.outcome.isRead && !$0.isProblem }
    let count =
      "Restored \(wholeCount) of \(nodes.count) nodes"
      + (problemCount == 0 ? "." : ", \(problemCount) with problems.")
    guard let location, !passedOver.isEmpty else { return count }
    return count + " It is an older state, \(location)" + (savedAt.map { ", saved \($0)" } ?? "")
      + ". " + passedOver.joined(separator: " ")
  }

  /// The problems of the restore, each in a sentence with its place.
  var said: [String] {
    (outcome.isProblem || !passedOver.isEmpty ? [headline] : [])
      + (launchProblem.map { ["A problem of the launch: \($0)"] } ?? []) + problems.flatMap(\.said)
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
final class ReportEntries: @unchecked Sendable {
  /// Whether an entry may be a problem; otherwise nobody has to make them to find it.
  let mayHaveProblems: Bool
  private let lock = Mutex<Void>(())
  private var make: (() -> [ReportEntry])?
  private lazy var entries = make.take()?() ?? []

  init(mayHaveProblems: Bool = true, _ make: @escaping () -> [ReportEntry]) {
    (self.mayHaveProblems, self.make) = (mayHaveProblems, make)
  }

  /// Few entries are made at once: a report that holds a document lets the next save copy it.
  convenience init(_ notes: SurveyNotes, of document: Document) {
    self.init(mayHaveProblems: !notes.isPlain) { notes.entries(document) }
    if notes.isShort(of: document.elements.count) { _ = made }
  }

  var made: [ReportEntry] { lock.withLock { _ in entries } }
}

extension [ReportEntry] {
  /// The same with notes of the application, which has an entry if there is something to say of it.
  func noting(_ notes: [ReportNote], _ outcome: ElementOutcome) -> [ReportEntry] {
    guard !notes.isEmpty || outcome.isProblem else { return self }
    let own = ReportEntry(
      kind: .application, path: RestorationPath(), className: "application", outcome: outcome)
    var entries = first?.kind == .application ? self : [own] + self
    entries[0].notes += notes
    return entries
  }

  /// The same with a note if another keeper of this process is among other instances, which is a mistake: a second
  /// instance of an app is another process.
  func noting(_ others: [OtherInstance], _ outcome: ElementOutcome) -> [ReportEntry] {
    let other = others.first { $0.process == ArchiveError.thisProcess }
    return other.map { noting([.otherKeeper(stateName: $0.stateName)], outcome) } ?? self
  }

  /// A headline, and a line for each entry.
  ///
  /// - Complexity: O(*n*) in the number of entries.
  func text(_ headline: String) -> String {
    ([headline] + map { "  \($0.description)" }).joined(separator: "\n")
  }
}

extension ReportEntries: Hashable {
  static func == (left: ReportEntries, right: ReportEntries) -> Bool { left.made == right.made }

  func hash(into hasher: inout Hasher) { hasher.combine(made.count) }
}

/// What a survey or a restore says of objects, in the order of the walk.
struct SurveyNotes {
  private enum Line {
    case slot(Int32)
    indirect case entry(ReportEntry)
  }

  /// The outcome of most elements.
  private let usual: ElementOutcome
  private var lines: [Line] = []
  private var notes: [Int32: [ReportNote]] = .init()
  private var outcomes: [Int32: ElementOutcome] = .init()
  private(set) var askedCount = 0
  /// Whether nothing is said but what has become of elements, and no line is one of a problem.
  private(set) var isPlain = true

  init(usual: ElementOutcome = .saved) { self.usual = usual }

  mutating func add(asked slot: Int32) {
    askedCount += 1
    lines.append(.slot(slot))
  }

  /// Adds a line of an element whose object is not asked.
  mutating func add(_ slot: Int32, _ outcome: ElementOutcome) {
    lines.append(.slot(slot))
    set(outcome, slot)
  }

  mutating func add(_ entry: ReportEntry) {
    isPlain = false
    lines.append(.entry(entry))
  }

  /// Takes back the lines of elements that go after all.
  mutating func forget(_ slots: Set<Int32>) {
    for slot in slots { notes[slot] = nil }
    lines.removeAll { line in
      if case .slot(let slot) = line { slots.contains(slot) } else { false }
    }
  }

  mutating func add(_ note: ReportNote, _ slot: Int32) {
    isPlain = false
    if notes[slot]?.contains(note) != true { notes[slot, default: []].append(note) }
  }

  mutating func set(_ outcome: ElementOutcome, _ slot: Int32) {
    guard outcome != usual else { return }
    outcomes[slot] = outcome
    if outcome.isProblem { isPlain = false }
  }

  /// Whether the lines are few, and about few of so many elements.
  func isShort(of count: Int) -> Bool { lines.count <= min(32, count / 2) }

  /// The lines; that of the application comes first, if there is something to say of it.
  ///
  /// A window has one if something is wrong with it.
  ///
  /// - Complexity: O(*n*) in the lines.
  func entries(_ document: Document) -> [ReportEntry] {
    let paths = StoredPaths(document)
    let entries = lines.compactMap { line -> ReportEntry? in
      let entry =
        switch line {
        case .slot(let slot):
          ReportEntry(
            slot, of: document, at: paths[slot], outcomes[slot] ?? usual, notes[slot] ?? [])
        case .entry(let entry): entry
        }
      return entry.kind != .scene || entry.isProblem ? entry : nil
    }
    return entries.noting(notes[Document.tree] ?? [], outcomes[Document.tree] ?? usual)
  }

  /// Whether a hook of an element threw.
  func hasLoss(_ slot: Int32) -> Bool { notes[slot]?.contains(where: \.isLoss) ?? false }

  /// Whether an element has something that could not be stored, and may be the next time.
  func asksAgain(_ slot: Int32) -> Bool {
    guard !isPlain else { return false }
    return notes[slot]?.contains { note in
      if case .referenceNotStored = note { true } else { note.isLoss }
    } ?? false
  }

  /// Whether something that the app has is not stored.
  var hasLosses: Bool {
    notes.values.contains { $0.contains(where: \.isLoss) }
      || lines.contains { line in
        guard case .entry(let entry) = line else { return false }
        return entry.outcome == .duplicate || entry.notes.contains(where: \.isLoss)
      }
  }
}

/// What became of a save or of a restore as a whole.
public enum ReportOutcome: Hashable, Sendable {
  /// The state is stored.
  case saved

  /// A state was there and was restored, apart from the problems in the entries.
  case restored

  /// Nothing was stored that could be restored.
  case noArchive

  /// Nothing is kept for the node that came late.
  case nothingKept

  /// The gate said no. A save has discarded the older state.
  case declined

  /// The delegate is gone, so nothing was called.
  case delegateGone

  /// The key is locked, or was at the last restore, so nothing was called. The stored state is intact, and
  /// nothing is saved until a restore succeeds.
  case locked

  /// The last restores did not end, so nothing was called. The state is in the history,
  /// as the moment with this ``Moment/id``.
  case crashed(setAsideAt: String?)

  /// The state is older than ``StatePolicy/maximumAge``, so nothing was called. It is in the history, as the
  /// moment with this ``Moment/id``, or still where it was if no launch before has found it too old.
  case tooOld(setAsideAt: String?)

  /// Another instance of the app has the state, so nothing was called or written; the process of
  /// the instance is named if it is known.
  case inUse(by: String?)

  /// The place where the directory keeps its states has something else, and nothing was changed there.
  /// What was saved is kept here. The text completes “Not in the store:”.
  ///
  /// A directory of RestorationSharing says this, whose states several machines share.
  case refused(String)

  /// Whether a save has stored all here.
  var isStoredHere: Bool { if case .refused = self { true } else { self == .saved } }

  /// Whether the state is there, and is not used for a reason that nobody has chosen.
  var isProblem: Bool {
    switch self {
    case .locked, .inUse, .crashed, .delegateGone, .refused: true
    default: false
    }
  }

  /// Why nothing was saved or restored.
  var reason: String {
    switch self {
    case .saved, .restored: ""
    case .noArchive: "there is no saved state."
    case .nothingKept: "nothing is kept for the node. One that is saved replaces it."
    case .declined: "the gate said no."
    case .delegateGone:
      "the delegate is gone. Keep it alive, or set it to nil to go on without one."
    case .locked: "the key is locked. Restore again when it is unlocked."
    case .crashed(let location): "the last restores crashed." + location.setAsideSentence
    case .tooOld(let location):
      "the state is older than policy.maximumAge."
        + (location == nil ? " The next save sets it aside." : location.setAsideSentence)
    case .inUse(let process):
      "\(process ?? "another instance of the app") has the state. End that one, and launch again."
    case .refused(let refusal): "\(refusal). Choose with resolveConflict(keeping:)."
    }
  }
}

extension String? {
  /// The sentence that names the moment that a state has become; empty if there is none.
  var setAsideSentence: String {
    map { " What was stored is set aside at \($0)." } ?? ""
  }
}

extension ReportEntry {
  /// An entry about an element of a document.
  init(
    _ slot: Int32, of document: Document, at path: RestorationPath, _ outcome: ElementOutcome,
    _ notes: [ReportNote] = []
  ) {
    self.init(
      kind: document[slot].place.role.kind, path: path,
      className: document.form(of: slot).className, outcome: outcome, notes: notes)
  }

  /// Whether the developer should look at the element, because of its outcome or of a note.
  public var isProblem: Bool { outcome.isProblem || notes.contains(where: \.isProblem) }
}

extension ElementOutcome {
  /// Whether the developer should look at the element; a veto is meant, a tab may be built later, and other
  /// things to mend in a save are notes.
  public var isProblem: Bool {
    switch self {
    case .saved, .savedWithoutState, .savedWithLastState, .keptAsStored, .expired, .replaced: false
    case .noIdentifier, .restored, .restoredWithoutState, .vetoed, .parentMissing: false
    case .stackCut, .tabNotFound: false
    default: true
    }
  }

  /// The step that provided the node; nil if it is not there.
  package var step: RestorationReport.Step? {
    switch self {
    case .restored(let step), .restoredWithoutState(let step), .decodeFailed(let step, _): step
    case .newerVersion(let step, _, _), .migrationFailed(let step, _, _): step
    case .classMismatch(let step, _): step
    default: nil
    }
  }

  /// Whether the node is back with all that was stored of it.
  var isRead: Bool { step != nil && !isProblem }
}
