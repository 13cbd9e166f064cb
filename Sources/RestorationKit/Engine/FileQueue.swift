internal import ArchiveCodec
internal import Dispatch
internal import RestorationFoundation

/// The file of a state behind a queue: all that waits for the disk happens here, one call after the other.
actor FileQueue {
  let file: StateFile
  /// A thread of its own where the file waits for a disk; tasks of the app go on meanwhile.
  private let thread: OwnThread?
  private let sharedThreads = SharedThreads()
  /// Why what the launch has found becomes a moment before the first change; nil before a restore.
  private var keeps: [Moment.Reason]?
  /// What has become of the last change that a caller has asked of.
  var written = Written()
  /// The directory, if another place has its states, too.
  nonisolated let linked: (any LinkedDirectory)?
  /// The copy of that state, which stays from the making of the keeper on.
  private let copy: (any ArchiveStorage)?
  /// What the link has to say of the copy that the next restore takes.
  private var said: String?
  private lazy var link = linked?.link(file) { [weak self] in _ = await self?.send(after: .look) }

  nonisolated var unownedExecutor: UnownedSerialExecutor {
    unsafe thread?.asUnownedSerialExecutor() ?? sharedThreads.unownedExecutor
  }

  init(_ source: StateFile.Source) {
    file = StateFile(source)
    linked = source.directory.linked
    copy = linked?.storage(named: source.name)
    thread =
      linked?.isInMemory ?? (source.directory is MemoryStateDirectory) ? nil : OwnThread()
  }

  /// What the keeper knows of the file after a call.
  struct Known: Sendable {
    /// Makes the next change; nil if the file is asked for it, or if all is new.
    var writer: ArchiveWriter?
    /// How often names have got other numbers.
    var numbering = 0
    /// The state that this instance has; nil while it has none.
    var stateName: String?
    /// The instances that have the names before it.
    var others: [OtherInstance] = []
    var written = Written()
    /// Whether a launch before has left a state, and has not said that it ends.
    var followsCrash = false
  }

  /// A change that was written, or that could not be.
  struct Written: Sendable {
    var number: UInt64 = 0
    /// The fingerprints of its records, which are found while the objects may change again.
    ///
    /// Nil if the file does not have the change; it has one that is not durable, though a power cut may undo that.
    var fingerprints: [(record: UInt64, fingerprint: RecordFingerprint)]?
  }

  /// Runs a body in the queue, for a caller that does not know what has become of a change.
  ///
  /// A change that was not begun comes too late after this call.
  func callAsFunction<Value: Sendable>(
    _ conditions: StateFile.Conditions, asking asked: UInt64,
    _ body: @Sendable (isolated FileQueue) throws(ArchiveError) -> Value
  ) -> (Result<Value, ArchiveError>, Known) {
    file.conditions = conditions
    let result = Result { () throws(ArchiveError) in try body(self) }
    if written.number < asked { written = Written(number: asked) }
    let known = Known(
      writer: file.writing?.writer, numbering: file.numbering, stateName: file.claimed?.name,
      others: file.claimed?.others ?? [], written: written,
      followsCrash: file.claimed?.followsCrash ?? false)
    return (result, known)
  }

  /// Lets the link take part before a call.
  func fetch(
    for call: LinkedCall, _ conditions: StateFile.Conditions
  ) async throws(ArchiveError) -> String? {
    file.conditions = conditions
    said = try await link?.fetch(for: call, isolation: self)
    return said
  }

  /// Lets the link send what a call has changed.
  func send(after call: LinkedCall) async -> (outcome: LinkOutcome, refusedMoment: String?) {
    await link?.send(after: call, isolation: self) ?? (.sent, nil)
  }

  /// What is stored, as a restore takes it.
  final class StoredState: LaunchedTree {
    let document: Document
    let records: StoredRecords
    let values: [StoredValue]
    /// The places of the elements, by their identifiers.
    private let slots: KeyTable

    var rootCount: Int { document[Document.tree].children.count }

    func contains(element id: UInt64) -> Bool { id > 0 && slots[id] != nil }

    func element(above id: UInt64) -> UInt64? {
      let above = slots[id].map { document[$0].place.parent } ?? Document.tree
      return above > Document.tree ? document[above].id : nil
    }

    init(_ archive: Archive) throws(ArchiveError) {
      records = try StoredRecords(archive)
      var slots = KeyTable(expecting: records.count)
      document = try Document(records, savedAt: archive.schema, &slots)
      self.slots = slots
      values = records.values.sorted().compactMap { [records] in StoredValue($0, in: records) }
    }
  }

  /// The report of a restore, as far as the file knows it, and what is restored; nil if nothing is.
  typealias Opened = (report: RestorationReport, stored: StoredState?, mark: LaunchMark?)

  /// Where the state is, or where it will be.
  private var location: String {
    (file.claimed?.main ?? file.source.directory.storage(named: file.name)).location
  }

  /// Opens what a restore can take.
  func open() throws(ArchiveError) -> Opened {
    let found = try file.open(StoredState.self)
    var report = RestorationReport(found.outcome)
    report.launchProblem =
      said ?? found.markProblem.map { "The launch could not be marked: \($0)" }
    if let archive = found.archive {
      (report.location, report.savedAt) = (
        found.moment?.id ?? location, Date(saved: archive.schema)
      )
      report.passedOver = found.passedOver
    }
    guard let state = found.tree as? StoredState else { return (report, nil, found.mark) }
    let isDamaged = state.document.leftovers == nil
    if isDamaged { file.noteDamage() }
    // What the launch has found becomes a moment before the first change; one that is damaged is kept anyway.
    if keeps == nil {
      let version = state.document.head.facts["applicationVersion"]
      let isOfOther = version != file.source.environment.applicationVersion
      let counts = file.conditions.policy.historyCounts
      keeps = isOfOther && !isDamaged ? [.version] : []
      if counts[.session, default: 0] > 0 { keeps?.append(.session) }
    }
    if found.moment == nil, said == nil, let dropped = found.archive?.dropped,
      dropped.code != .truncated
    {
      let date = report.savedAt.map { " of \($0)" } ?? ""
      report.launchProblem =
        "The end of the state is damaged, so this is the one\(date); what was saved after it is lost."
        + " The next save keeps a copy of the file. (\(dropped.located(at: location).facts))"
    }
    return (report, state, found.mark)
  }

  /// Appends a change with a number, unless somebody has asked by now what has become of it.
  func append(
    _ change: UInt64, _ records: RecordBatch, hasNew: Bool, removing removed: [UInt64],
    isCompactionDue: Bool
  ) throws(ArchiveError) -> StateFile.Appended {
    guard change > written.number else { throw ArchiveError(.outdated) }
    written = Written(number: change)
    let fingerprints = hasNew ? records.fingerprints : []
    do throws(ArchiveError) {
      while let reason = keeps?.first {
        _ = try file.keepMoment(reason)
        keeps?.removeFirst()
      }
      let appended = try file.append(
        records, removing: removed, schema: file.conditions.now.savedSeconds,
        isCompactionDue: isCompactionDue)
      written.fingerprints = fingerprints
      return appended
    } catch {
      if error.code == .notDurable { written.fingerprints = fingerprints }
      throw error.located(at: location)
    }
  }
}

/// Lets calls that wait for something run alone, in the order in which they are made.
///
/// A queue belongs to the actor of the keeper, as all code does that uses it. A body must not
/// wait for a turn of its own queue, which would never come.
package final class TurnQueue {
  /// Whether a turn runs now, or is about to begin.
  package private(set) var isRunning = false
  /// The calls that wait, the first one first.
  // A slice: the first one goes without moving the others.
  private var waiting: ArraySlice<WaitingCall> = []
  /// Counts the bodies that came before calls which were made earlier, and have stored something.
  ///
  /// Calls that were made before such a body change nothing any more.
  var overtakingCount = 0

  package init() {}

  /// Runs a body when all turns before it have ended.
  ///
  /// One that overtakes runs at once, before the turns that wait and in the midst of the one that runs: for a
  /// caller that blocks the actor, where no turn could end.
  package func run<Value, Failure: Error>(
    overtaking isOvertaking: Bool = false, _ body: () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let isInterrupting = isRunning && isOvertaking
    if isRunning, !isOvertaking { await turn() }
    isRunning = true
    defer { if !isInterrupting { end() } }
    return try await body()
  }

  /// Waits for a turn.
  ///
  /// A function of its own: inlined, the compiler lets the runtime make the type of the continuation
  /// before it is known whether there is one.
  @inline(never)
  private func turn() async {
    await withCheckedContinuation { waiting.append(WaitingCall(continuation: $0)) }
  }

  /// Gives the next call its turn; nobody who calls meanwhile comes between.
  private func end() {
    isRunning = !waiting.isEmpty
    waiting.popFirst()?.continuation.resume()
  }
}

/// A call that waits for its turn.
///
/// A struct, since the Swift runtime takes long to make an array of continuations for the first time.
private struct WaitingCall {
  let continuation: CheckedContinuation<Void, Never>
}

/// A thread for an actor that waits for disks, or for a task that must not wait for one of the threads that
/// tasks share.
///
/// The threads that tasks share are as many as there are cores: 20 files that took
/// 0.5 s each would hold up every task of the app for 5 s.
final class OwnThread: SerialExecutor, TaskExecutor {
  private let queue = DispatchQueue(label: "RestorationKit.OwnThread")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async {
      unsafe job.runSynchronously(
        isolatedTo: self.asUnownedSerialExecutor(), taskExecutor: self.asUnownedTaskExecutor())
    }
  }
}

/// Runs an actor that waits for no disk where actors run, on the thread of the caller if
/// that may leave its own actor.
///
/// Waking another thread takes longer than work that waits for no disk.
actor SharedThreads {}

extension Result {
  /// Runs a body, and keeps its error.
  init(of body: () async throws(Failure) -> Success) async {
    do throws(Failure) { self = .success(try await body()) } catch { self = .failure(error) }
  }
}
