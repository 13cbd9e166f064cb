public import ArchiveCodec
public import RestorationFoundation

/// Saves the state of an application's nodes and brings it back.
///
/// A keeper belongs to the actor that made it, as the nodes do. It walks and calls the
/// nodes on that actor; it seals, writes, reads and verifies off it.
///
///     let keeper = try StateKeeper(application: "org.example.catalog")
///     try keeper.register(DetailScreen.self)
///     let restored = try await keeper.restore(into: [window])
///     let saved = try await keeper.save([window])
public final class StateKeeper {
  /// Takes part in saving and restoring; both work without it.
  ///
  /// The keeper does not keep the delegate alive. When the delegate is gone without having
  /// been set to nil, nothing is saved or restored any more, and the reports say so.
  public weak var delegate: (any StateDelegate)? {
    didSet {
      hadDelegate = delegate != nil
      // While a delegate was gone, nothing was saved, so all changes are still due.
      autosave?.turns.change()
    }
  }

  private var hadDelegate = false

  /// The autosave of the keeper and what gives its roots, until ``close()`` or a second one.
  var autosave: (turns: AutosaveTurns, roots: () -> [any RestorableNode]?)? {
    didSet {
      oldValue?.turns.stop()
      owner.autosave = autosave?.turns
      if autosave == nil { settings.keptHost = nil }
    }
  }

  var settings: KeeperSettings
  let turns = TurnQueue()
  let owner = KnownObjects.Owner()
  let objects = ObjectTable(TypeTable())
  let file: FileQueue
  /// What is stored; nil as long as nobody has looked.
  var document: Document?
  var known = FileQueue.Known()
  var findings = Findings()
  var asking = Asking()

  /// The bounds of keys and values in a state.
  public var limits: ArchiveLimits { settings.source.limits }

  /// What the keeper stores, keeps, and leaves out.
  public var policy: StatePolicy {
    get { settings.policy }
    set { settings.policy = newValue }
  }

  /// Why nothing was restored, or nothing can be saved now, in a sentence; nil if neither is so.
  public var problem: String? {
    if isDelegateGone { return "Nothing restored: \(ReportOutcome.delegateGone.reason)" }
    if asking.isRestoring { return nil }
    switch findings.lastRestore {
    case .success(.inUse) where stateName != nil, .success(.delegateGone), nil:
      return "Nothing was restored yet. Call restore(into:) at launch."
    case .success(.restored), .success(.noArchive), .success(.nothingKept):
      guard case .failure(let error)? = findings.lastSave else { return nil }
      return "Nothing can be saved now. \(error)"
    case .success(let outcome): return "Nothing restored: \(outcome.reason)"
    case .failure(let error): return "Nothing was restored. \(error)"
    }
  }

  var isLocked: Bool {
    !isDelegateGone && !asking.isRestoring && findings.lastRestore == .success(.locked)
  }

  /// The name of the state that the keeper has; nil before its first restore or save and after
  /// ``close()``.
  ///
  /// The name is the one that the keeper was made with, or in a second instance the first free name with a
  /// number; see ``StatePolicy/isSingleInstance``.
  public var stateName: String? { known.stateName }

  /// The instances that had the states with lower numbers when the keeper took its own, as in
  /// `process 4711, Catalog has main`.
  public var otherInstances: [String] { known.others.map(\.description) }

  /// Creates a keeper of one state of an application.
  ///
  /// - Parameters:
  ///   - application: An identifier that is stable for ever, as `org.example.catalog`.
  ///     It names the directory, and an archive of one application does not open in
  ///     another.
  ///   - name: The name of the state, for applications with several; where one process
  ///     keeps the states of several users, make the user a part of it. At most 150
  ///     bytes without “/” and control characters, not beginning with “.”, with “.history”
  ///     nowhere in it, and not ending in “.launch”, “.remote” or “~” and digits.
  ///   - directory: Where the state is stored; the user's state directory if nil.
  ///   - keys: Where the key comes from; a file of mode 0600 in the user's data
  ///     directory if nil.
  ///   - environment: Facts that every save carries. Give the version of the app:
  ///     another version tries elements that crashed again, and keeps the last state of
  ///     the version before.
  ///   - limits: The limits of the records of the state.
  ///   - now: The clock for the time of the save.
  /// - Throws: ``RestorationError`` with `invalidName`.
  public init(
    application: String, name: String = "main",
    directory: (any StateDirectory)? = nil, keys: (any KeyProvider)? = nil,
    environment: ApplicationEnvironment = ApplicationEnvironment(),
    limits: ArchiveLimits = .standard,
    now: @escaping () -> Date = { Date() }
  ) throws(RestorationError) {
    for (name, isOfState) in [(application, false), (name, true)] {
      guard let flaw = Self.flaw(of: name, isOfState: isOfState) else { continue }
      throw RestorationError(.invalidName, "“\(name)” cannot name a state\(flaw)")
    }
    settings = KeeperSettings(
      source: StateFile.Source(
        name: name, application: application,
        directory: directory ?? FileStateDirectory(application: application),
        keys: keys ?? KeyFile(application: application), environment: environment,
        limits: limits),
      // A clock that gives no number is none.
      now: { now().ifNumber ?? Date() })
    file = FileQueue(settings.source)
  }

  deinit { autosave?.turns.stop() }

  /// Saves what roots and all below them say, as one commit that is on stable storage at the end.
  ///
  /// Nodes that say when they change are asked when they are new or have said so; where nothing has
  /// changed, nothing is written.
  ///
  /// - Parameter roots: The nodes at the top of the tree.
  /// - Returns: What the save did.
  /// - Throws: ``RestorationError`` if nothing could be stored; what is stored stays.
  /// - Complexity: O(*n*) in the nodes that are asked.
  @discardableResult
  public func save(_ roots: [any RestorableNode]) async throws(RestorationError)
    -> PreservationReport
  {
    try await save { parts(roots) }
  }

  /// Brings back what is stored.
  ///
  /// - Parameter roots: Nodes that are there already.
  /// - Returns: What the restore did; nothing stored is no error.
  /// - Throws: ``RestorationError`` if what is stored cannot be read, or if windows are connected; it stays.
  @discardableResult
  public func restore(into roots: [any RestorableNode] = []) async throws(RestorationError)
    -> RestorationReport
  {
    try await restore { roots }
  }

  /// Lets the state go, so that another keeper may have it.
  public func close() async {
    autosave = nil
    try? await inFile { (queue) throws(ArchiveError) in try queue.file.close() }
    if file.linked != nil { _ = await file.send(after: .close) }
    findings.lastRestore = nil
  }

  /// Hears the problems of all reports from now on.
  package func hearProblems(_ heard: @escaping ([String]) -> Void) { settings.heard = heard }

  /// Whether the delegate is gone without having been set to nil.
  var isDelegateGone: Bool { delegate == nil && hadDelegate }
}

extension StateKeeper {
  private static let longestName = 150

  /// Why a name cannot be that of a state, or of an application; nil if it can.
  ///
  /// Names come from outside, and become those of files.
  private static func flaw(of name: String, isOfState: Bool) -> String? {
    if name.isEmpty || name.hasPrefix(".") || name.utf8.count > longestName
      || name.utf8.contains(where: { $0 == UInt8(ascii: "/") || $0 < 0x20 })
    {
      return ". Use up to \(longestName) bytes without “/”, not beginning with “.”."
    }
    guard isOfState else { return nil }
    if name.hasSuffix(".launch") || name.hasSuffix(".remote") || name.containsBytes(of: ".history")
    {
      return ": it must not end in “.launch” or “.remote”, or contain “.history”."
    }
    let start = name.utf8.reversed().drop { (0x30...0x39).contains($0) }
    return start.first == UInt8(ascii: "~") && start.count < name.utf8.count
      ? ": with “~” and digits at its end it is that of another instance of the app." : nil
  }
}

@available(*, unavailable, message: "a keeper belongs to the actor of its nodes")
extension StateKeeper: Sendable {}

/// What a keeper was made with, and what its app may change.
struct KeeperSettings: ~Copyable {
  let source: StateFile.Source
  let now: () -> Date
  var policy = StatePolicy()
  /// Hears the problems of all reports; each save asks all objects then.
  var heard: (([String]) -> Void)?
  var last: LastReports?
  /// The windows of the app, if it has any.
  weak var host: SceneHost?
  /// The values of the app and its windows, if it has any.
  var values: ValueTable?
  /// The same while the app that ``Restoration`` has begun saves by itself, and need not hold anything.
  var keptHost: SceneHost?
  /// What each save says of the app: each save compares it.
  private(set) lazy var facts = source.environment.facts
}

/// The last results of a keeper, for an app that has asked to have them kept.
///
/// A long report holds the document of its call, so the keeper itself keeps none: the next save would have to
/// copy the document.
final class LastReports {
  var restore: Result<RestorationReport, RestorationError>?
  var save: Result<PreservationReport, RestorationError>?
}

extension StateKeeper {
  /// What hooks of the app are asked for now.
  struct Asking {
    /// Whether one is under way.
    var isUnderWay = false
    /// Whether a restore has its turn.
    var isRestoring = false
    /// A node that comes late, and whose element stays as it is stored until its bodies are read.
    var coming: Survey.Coming?
    /// How long a caller blocks the actor at most; nil if none does.
    var blockedUntil: ContinuousClock.Instant?
  }

  /// What the calls so far have found out.
  struct Findings: ~Copyable {
    var hasTriedToRestore = false
    /// What became of the last restore; nil before the first one.
    var lastRestore: Result<ReportOutcome, RestorationError>?
    /// What became of the last save; nil before the first one.
    var lastSave: Result<ReportOutcome, RestorationError>?
    /// Whether this launch has made sure that what is stored outlasts a power cut.
    var isOnDisk = false
    /// What the app had when it discarded its state, or when that could not be read, which is not
    /// stored until something changes.
    var discarded: Int?
    /// Why the stored state could not be read, if it may be read later, and nothing was stored since.
    var unread: ArchiveError?
    /// The mark of the launch; nil before a restore.
    var launch: LaunchMark?
    /// The change that is written now, or of which nobody knows the outcome.
    var underWay: Survey.Result?
    /// The number of the last change, which is the one under way: a file that was slow while the actor was
    /// blocked writes no older change over a newer one.
    var lastWrite: UInt64 = 0
    /// What a restore has read, for the windows that connect before anything is written; nil if there are none.
    var records: StoredRecords?
    /// How the forms of the document are read while no delegate says other names.
    var forms = RestorationRun.Forms()
    /// How much was registered when objects were asked last: under other names all are asked anew.
    var registrationCount = 0
  }

  var types: TypeTable { objects.types }

  /// Asks the app in a turn, and tells it the problems of the report, or why there is none.
  ///
  /// A call that blocks the actor comes before all others.
  // A copy for each call would be 7 KB of code.
  @_semantics("optimize.sil.specialize.generic.never")
  func call<Report: CallReport>(
    _ body: () async throws -> Report
  ) async throws(RestorationError) -> Report {
    let report = try await turns.run(overtaking: asking.blockedUntil != nil) {
      () async throws(RestorationError) in
      if isDelegateGone { return Report(.delegateGone, []) }
      // A delegate that the app lets go meanwhile takes part all the same.
      let delegate = delegate
      defer { withExtendedLifetime(delegate) {} }
      do { return try await body() } catch { return try refused(error) }
    }
    let said = report.said
    if !said.isEmpty { Problems.say(said) }
    settings.heard?(report.problems.map(\.description))
    return report
  }

  /// The report of a call that a locked key or another instance prevents; throws any other error.
  private func refused<Report: CallReport>(_ error: any Error) throws(RestorationError) -> Report {
    let content = ArchiveError.content(error)
    switch content.code {
    case .keyLocked: return Report(.locked, [])
    case .locked:
      // The other keeper has a name only if it is one of this process.
      let isOfProcess = content.subject == ArchiveError.thisProcess
      let other = OtherInstance(stateName: settings.source.name, process: content.subject)
      return Report(.inUse(by: content.subject), isOfProcess ? [other] : [])
    default:
      let error = error as? RestorationError ?? RestorationError(content)
      let name = Report.self == RestorationReport.self ? "restore" : "save"
      Problems.say(["The \(name) has failed: \(error)"])
      throw error
    }
  }

  /// Forgets what is stored; the next save asks all objects.
  func beginAnew() {
    (document, known.writer, findings.underWay, findings.forms) = (nil, nil, nil, .init())
    (findings.discarded, findings.unread, findings.records) = (nil, nil, nil)
    KnownObjects.shared.forgetAll(of: owner)
    settings.values?.beginAnew(withUnread: true)
  }
}

/// A report of a call that asks the app.
protocol CallReport {
  init(_ outcome: ReportOutcome, _ others: [OtherInstance])

  /// The problems, each in a sentence with its place.
  var said: [String] { get }
  var problems: [ReportEntry] { get }
}

extension PreservationReport: CallReport {}
extension RestorationReport: CallReport {}

extension StateKeeper {
  /// Calls the file in a turn of its own.
  func inFile<Value: Sendable>(
    for call: LinkedCall? = nil,
    _ body: @escaping @Sendable (isolated FileQueue) throws(ArchiveError) -> Value
  ) async throws(RestorationError) -> Value {
    try await Result { () async throws(ArchiveError) in
      try await turns.run { () async throws(ArchiveError) in
        if let call, file.linked != nil { try await fetch(for: call) }
        return try await inFileNow(body)
      }
    }.mapError { RestorationError($0) }.get()
  }

  /// Calls the file in the turn that runs; a save that blocks the actor meanwhile asks the file, too.
  // A copy for each call would be 3 KB of code.
  @_semantics("optimize.sil.specialize.generic.never")
  func inFileNow<Value: Sendable>(
    _ body: @escaping @Sendable (isolated FileQueue) throws(ArchiveError) -> Value
  ) async throws(ArchiveError) -> Value {
    let (asked, conditions) = (findings.lastWrite, (settings.policy, settings.now()))
    known.writer = nil
    let answer = await ask { await $0(conditions, asking: asked, body) }
    guard let (result, known) = answer else { throw ArchiveError(.inputOutput) }
    // A save that blocked the actor meanwhile knows more, or has a change under way.
    if asked == findings.lastWrite {
      settle(known.written)
      if known.numbering != self.known.numbering { document?.forgetFingerprints() }
      self.known = known
    }
    return try result.get()
  }

  /// Asks the queue, and blocks the thread if the caller blocks the actor; nil if the call has not ended in time,
  /// and goes on.
  // A copy for each call would be 3 KB of code.
  @_semantics("optimize.sil.specialize.generic.never")
  func ask<Value: Sendable>(
    _ call: @escaping @Sendable (FileQueue) async -> Value
  ) async -> Value? {
    let ask = { @Sendable [file] in await call(file) }
    guard let end = asking.blockedUntil else { return await ask() }
    return Blocking.call(until: end, ask)?.get()
  }

  /// Lets the document have what has become of the change under way; one that was not begun is not stored.
  private func settle(_ written: FileQueue.Written) {
    guard let result = findings.underWay.take() else { return }
    guard let fingerprints = written.fingerprints else { return giveBack(result.taken) }
    (findings.discarded, findings.unread) = (nil, nil)
    let count = document?.elements.count ?? 0
    apply(result)
    document?.setFingerprints(fingerprints, from: count)
  }

  /// Runs an asynchronous body to its end on the caller's actor, which is blocked: calls of the file block the
  /// thread, and no other task runs on the actor.
  ///
  /// - Parameters:
  ///   - limit: How long calls of the file wait at most, together.
  ///   - isolation: The actor of the caller; nil if the caller has none.
  ///   - body: Calls the file alone.
  /// - Returns: The result; nil if the body has suspended all the same.
  @discardableResult
  func blocked<Value>(
    within limit: Duration, isolation: isolated (any Actor)?, _ body: () async -> Value
  ) -> Value? {
    let before = asking.blockedUntil
    defer { asking.blockedUntil = before }
    asking.blockedUntil = .now + limit.bounded
    return Blocking.run(isolation: isolation, body)
  }
}

/// What a keeper stores, keeps, and leaves out.
public struct StatePolicy: Sendable {
  /// How long saves keep what a restore could not bring back or read, in seconds; nil for ever.
  ///
  /// The age is counted from the first save that kept it, by the clock of the keeper. A clock that is
  /// set back, or was not set yet, drops nothing. The report of the save that drops an element names it
  /// with its age and size.
  public var keptAge: TimeInterval? = 365 * 24 * 3600

  /// How many bytes saves keep of what a restore could not bring back or read; nil for any number.
  ///
  /// An element counts with all that is kept below it, a state that could not be read by itself. The
  /// oldest goes first.
  public var keptByteCount: Int? = 8 << 20

  /// How many older states stay of those that a restore may take by itself, by their reasons: by default one that
  /// a shorter archive has replaced, three of other versions of the app, and no session.
  public var historyCounts = Self.usualCounts

  /// How many bytes all states of ``historyCounts`` may have together; each counts whole, also where it takes no space.
  public var historyByteCount = 1 << 28

  /// The age in seconds under which all other older states stay; the oldest and the two newest of them stay
  /// whatever their age.
  public var historyAge: TimeInterval = 30 * 24 * 3600

  /// How many nodes, views and objects a save meets at most; with more it throws `tooManyNodes`.
  public var nodeLimit = 1 << 22

  /// A state that is older, in seconds, is not restored; nil restores a state of any age.
  public var maximumAge: TimeInterval?

  /// How many launches in a row must crash while they restore before one leaves something out.
  public var crashThreshold = 2

  /// Whether a second instance of the app restores nothing and saves nothing; its reports name the first.
  ///
  /// By default a second instance has a state of its own, with the first free number: `main~2`, `main~3` and
  /// so on. So two terminals of one app both have their state back, in the order in which they are launched. A
  /// user who later runs one instance does not see what was done in a second one: tell users with
  /// ``StateKeeper/otherInstances``. A second keeper of the name in the same process is treated alike.
  ///
  /// A single instance waits in a restore or save up to a second for another one that is about to end. When the
  /// other one has ended, the next save takes the state, and keeps the stored one, which this instance has not
  /// read, in the history: quit, or restore again before you save.
  public var isSingleInstance = false

  /// The moment that is about to be put back, and stays whatever the bounds say.
  package var spared: Moment?

  /// Creates a policy with the values that stand here.
  public init() {}

  /// Made once, since each keeper has two policies.
  private static let usualCounts: [Moment.Reason: Int] = [.replaced: 1, .version: 3]

  /// The older states that are too many, too large or too old, of all in their order.
  ///
  /// The newest one stays, and the newest one that a restore may take and whose bytes lie
  /// elsewhere than those of the stored archive: damage of one file must not reach all.
  ///
  /// - Parameters:
  ///   - all: All moments, the oldest first.
  ///   - now: The time, by the clock of the app.
  /// - Returns: The moments that go.
  package func excess(of all: [Moment], at now: Date) -> [Moment] {
    let elsewhere = all.last { $0.reason.isRestorable && !$0.isOfMain }?.id
    let others = all.filter { !$0.reason.isRestorable }
    let old = Set(
      others.dropFirst().dropLast(2).filter { now.timeIntervalSince($0.date) >= historyAge }
        .map(\.id))
    var left = historyCounts.mapValues { max(0, $0) }
    var bytes = max(0, historyByteCount)
    return all.reversed().filter { moment in
      if moment.id == spared?.id { return false }
      guard moment.reason.isRestorable else { return old.contains(moment.id) }
      left[moment.reason, default: 0] -= 1
      let isOver = left[moment.reason, default: 0] < 0 || moment.byteCount > bytes
      if !isOver { bytes -= moment.byteCount }
      return isOver && moment.id != elsewhere && moment.id != all.last?.id
    }
  }
}
