internal import ArchiveCodec
internal import Synchronization

extension ReportEntry: CustomStringConvertible {
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

  /// The path, the class and the outcome; then a line for every problem.
  ///
  /// A path of more than 24 identifiers is cut to its last ones, after “…” and the
  /// number of identifiers before them.
  public var description: String {
    let name = path.count == 0 ? className : "\(path.phrase) (\(className))"
    let lines = problems.map { "\n    problem: \($0)" }
    return (facts.isEmpty ? "\(name):" : "\(name): \(facts)") + lines.joined()
  }

  /// The outcome of the element and its problems, in sentences.
  public var reason: String {
    problems.reduce(facts) { text, problem in
      text.isEmpty ? problem : text + (text.hasSuffix(".") ? " " : ". ") + problem
    }
  }

  /// The problems of the element, each in a sentence with its place.
  var said: [String] {
    let place = kind == .application ? "" : "“\(path.phrase)” (\(className)): "
    return ((outcome.isProblem ? [outcome.description] : []) + problems).map { place + $0 }
  }

  private var problems: [String] { notes.filter(\.isProblem).map(\.description) }

  /// The outcome and the notes that follow it; that the application is there needs no words.
  private var facts: String {
    let own = kind == .application && !outcome.isProblem ? [] : [outcome.description]
    return (own + notes.filter { !$0.isProblem }.map(\.description)).joined(separator: "; ")
  }
}

extension ElementOutcome: CustomStringConvertible {
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
  var step: RestorationReport.Step? {
    switch self {
    case .restored(let step), .restoredWithoutState(let step), .decodeFailed(let step, _): step
    case .newerVersion(let step, _, _), .migrationFailed(let step, _, _): step
    case .classMismatch(let step, _): step
    default: nil
    }
  }

  /// Whether the node is back with all that was stored of it.
  var isRead: Bool { step != nil && !isProblem }

  /// The outcome in a sentence.
  public var description: String {
    switch self {
    case .saved: "saved"
    case .savedWithoutState: "saved without its state"
    case .savedWithLastState: "saved with the state of the save before"
    case .keptAsStored: "kept as it is stored"
    case .replaced:
      "gone, another node is saved in its place; it could have come back by restore(late:below:)"
    case .expired(let since, let byteCount):
      "left out with its \(byteCount) bytes, which were kept since \(since): longer than"
        + " policy.keptBound says, or more is kept than it allows"
    case .noIdentifier: "left out, it has no usable restoration identifier"
    case .duplicate:
      "left out, another one has this path; give each of the two an identifier of its own"
    case .containedTwice:
      "left out here, it is in the tree twice; let one node contain it and others refer to it"
    case .skipped: "left out by this version of the app, since restoring it crashed"
    case .unknownRestorationClass(let name):
      "not back, the restoration class \(name) is not registered, or makes no nodes; register it, or"
        + " its new name with \(name) as an alias"
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
    default: ofStep
    }
  }

  /// The sentence of an element of which a step was asked, or of whose state nobody sees anything.
  private var ofStep: String {
    let by = step?.description ?? "not back"
    let unread = "; nothing was decoded, and saves keep the state as it is stored"
    return switch self {
    case .restored: "restored, \(by)"
    case .restoredWithoutState: "restored without state, as it was saved, \(by)"
    case .decodeFailed(_, let error): "\(by), but its decoding threw: \(error)"
    case .newerVersion(_, let stored, let known):
      "\(by), but its state has version \(stored), newer than \(known)" + unread
    case .migrationFailed(_, let version, let error):
      "\(by), but its migration from version \(version) failed: \(error)" + unread
    case .classMismatch(_, let found):
      "\(by), but as a \(found)" + unread
        + "; if \(found) is its new name, register it with the old one as an alias"
    case .vetoed: "left out, its restoration class returned nil"
    case .factoryFailed(let step, let error): "not back, \(step) threw: \(error)"
    default: ""
    }
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

  func hash(into hasher: inout Hasher) { hasher.combine(made) }
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
  private var notes: [Int32: [ReportNote]] = [:]
  private var outcomes: [Int32: ElementOutcome] = [:]
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
  /// - Complexity: O(*n*) in the lines.
  func entries(_ document: Document) -> [ReportEntry] {
    let paths = StoredPaths(document)
    let entries = lines.map { line in
      switch line {
      case .slot(let slot):
        ReportEntry(
          slot, of: document, at: paths[slot], outcomes[slot] ?? usual, notes[slot] ?? [])
      case .entry(let entry): entry
      }
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
  /// What was saved is kept here.
  ///
  /// A directory of RestorationSharing says this, whose states several machines share.
  case refused(Refusal)

  /// Whether what was saved is stored here, if not elsewhere.
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

/// Why a state is kept on this machine only: the place where the directory keeps its states has
/// something else, and nothing was changed there.
///
/// The module of such a directory says what is in the way. RestorationSharing, whose states several
/// machines share, has the conflict of a refusal.
public struct Refusal: Hashable, Sendable, CustomStringConvertible {
  /// What the module of the directory reads again.
  package let cause: any Hashable & Sendable & CustomStringConvertible

  package init(because cause: some Hashable & Sendable & CustomStringConvertible) {
    self.cause = cause
  }

  /// What is in the way, in words that complete “Not in the store:”.
  public var reason: String { cause.description }

  /// The reason.
  public var description: String { reason }

  /// Compares the causes.
  public static func == (one: Refusal, other: Refusal) -> Bool {
    AnyHashable(one.cause) == AnyHashable(other.cause)
  }

  /// Hashes the cause.
  public func hash(into hasher: inout Hasher) { cause.hash(into: &hasher) }
}

/// Whether states are saved and restored now, and if not, why.
public enum RestorationStatus: Hashable, Sendable {
  /// Nothing was restored yet; call ``StateKeeper/restore(into:)``.
  case notRestoredYet

  /// A restore is under way.
  case restoring

  /// The restore has ended, and saves follow.
  case active

  /// The last restore did not take place. Saves go on, unless the key is locked, the delegate is gone, or
  /// another instance has the state.
  case notRestored(ReportOutcome)

  /// The last restore failed, with this description; saves go on.
  case failed(String)

  /// Nothing could be written, with this description: at the launch, or in the last save.
  case notSaved(String)

  /// False if the last restore did not take place, or nothing can be saved now;
  /// `description` says why.
  public var isActive: Bool { [.notRestoredYet, .restoring, .active].contains(self) }
}

extension RestorationStatus: CustomStringConvertible {
  /// The status in a sentence.
  public var description: String {
    switch self {
    case .notRestoredYet: "Nothing was restored yet. Call restore(into:) at launch."
    case .restoring: "A restore is under way."
    case .active: "Restoration is active."
    case .notRestored(let outcome): "Nothing restored: \(outcome.reason)"
    case .failed(let error): "Nothing was restored. \(error)"
    case .notSaved(let error): "Nothing can be saved now. \(error)"
    }
  }
}
