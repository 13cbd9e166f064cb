internal import ArchiveCodec
internal import Dispatch
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The file of a state behind a queue: all that waits for the disk happens here, one call after the other.
actor FileQueue {
  private let file: StateFile
  /// A thread of its own where the file waits for a disk; tasks of the app go on meanwhile.
  private let thread: FileExecutor?
  private let sharedThreads = SharedThreads()
  /// Why what the launch has found becomes a moment before the first change; nil before a restore.
  private var keeps: [Moment.Reason]?

  nonisolated var unownedExecutor: UnownedSerialExecutor {
    unsafe thread?.asUnownedSerialExecutor() ?? sharedThreads.unownedExecutor
  }

  init(_ source: StateFile.Source) {
    file = StateFile(source)
    thread = source.directory is MemoryStateDirectory ? nil : FileExecutor()
  }

  /// What is stored, as a restore takes it.
  struct StoredState: LaunchedTree, Sendable {
    let document: Document
    let records: StoredRecords

    func contains(element id: UInt64) -> Bool { slot(of: id) != nil }

    func element(above id: UInt64) -> UInt64? {
      slot(of: id).map { document.elements[$0].place.parent }.flatMap { above in
        above > Document.tree ? document[above].id : nil
      }
    }

    private func slot(of id: UInt64) -> Int? { document.elements.firstIndex { $0.id == id } }

    init(_ archive: Archive) throws(ArchiveError) {
      records = try StoredRecords(archive)
      document = try Document(records, savedAt: archive.schema)
    }
  }

  struct Opened: Sendable {
    let outcome: RestorationReport.Outcome
    /// Nil if nothing is restored.
    var stored: StoredState?
    var source: RestorationReport.Source?
    var mark: LaunchMark?
    var problem: String?
    var numbering = 0
  }

  struct Facts: Sendable {
    let name: String?
    let others: [OtherInstance]
  }

  var facts: Facts { Facts(name: file.isClaimed ? file.name : nil, others: file.otherInstances) }

  /// Opens what a restore can take.
  func open(_ policy: StateFilePolicy) throws(ArchiveError) -> Opened {
    file.policy = policy
    let opened: OpenedState<StoredState>
    do throws(ArchiveError) {
      opened = try file.open(StoredState.init)
    } catch {
      // A failure that may pass is often over at once.
      guard error.mayPass else { throw error }
      opened = try file.open(StoredState.init)
    }
    var problem = opened.markProblem.map { "The launch could not be marked: \($0)" }
    switch opened.outcome {
    case .nothing:
      return Opened(outcome: .noArchive, problem: problem)
    case .restored(let state, let archive, let moment):
      if state.document.isDamaged { file.noteDamage() }
      let location = file.source.directory.storage(named: file.name).location
      if moment == nil, let dropped = archive.dropped, dropped.code != .truncated {
        let date = archive.savedAt.map { " of \($0)" } ?? ""
        problem =
          "The end of the state is damaged, so this is the one\(date); what was saved after it is lost."
          + " The next save keeps a copy of the file. (\(dropped.located(at: location).facts))"
      }
      let version = file.source.environment.applicationVersion
      keeps =
        keeps
        ?? [
          // One that is damaged is kept anyway.
          state.document.facts.applicationVersion == version || state.document.isDamaged
            ? nil : .version,
          policy.history.counts[.session, default: 0] > 0 ? .session : nil,
        ].compactMap(\.self)
      let source = RestorationReport.Source(
        location: moment?.id ?? location,
        generation: moment.map { _ in .previous }, savedAt: archive.savedAt,
        passedOver: moment == nil ? [] : opened.passedOver.map { .init($0.location, $0.finding) })
      return Opened(
        outcome: .restored, stored: state, source: source, mark: opened.mark, problem: problem,
        numbering: file.numbering)
    case .tooOld(let moment):
      return Opened(outcome: .tooOld(setAsideAt: moment?.id), problem: problem)
    case .crashed(let moment):
      return Opened(outcome: .crashed(setAsideAt: moment?.id), problem: problem)
    }
  }

  /// The writer whose builder makes the next change, nil if all is new; and how often its names have got
  /// other numbers.
  typealias Prepared = (writer: ArchiveWriter?, numbering: Int)

  /// What the next change needs; if nobody goes on from what was restored, that is kept and all is new.
  func prepared(goingOn isGoingOn: Bool) throws(ArchiveError) -> Prepared {
    if !isGoingOn { file.letBe() }
    return (try file.openWriter(), file.numbering)
  }

  func synchronize() throws(ArchiveError) { try file.synchronize() }

  var hasLostRecords: Bool { file.hasLostRecords }

  /// Stored records, by their numbers.
  func records(_ numbers: [UInt64]) throws(ArchiveError) -> [UInt64: KeyedDecoder] {
    guard let archive = try file.openWriter()?.archive else { return [:] }
    var records: [UInt64: KeyedDecoder] = [:]
    for number in numbers { records[number] = try archive.record(number) }
    return records
  }

  /// What has become of a change.
  struct Written: Sendable {
    let number: UInt64
    let appended: Result<StateFile.Appended, ArchiveError>
    /// The fingerprints of records, which are found while the objects may change again.
    var fingerprints: [(record: UInt64, fingerprint: RecordFingerprint)] = []
    /// Nil while nobody has asked: a writer has the lock.
    var writer: ArchiveWriter?
    let facts: Facts

    /// Whether the change is there; a power cut may undo one that is not durable.
    var isThere: Bool {
      switch appended {
      case .success: true
      case .failure(let error): error.code == .notDurable
      }
    }
  }

  /// The last change; nil before the first one.
  private var lastWritten: Written?
  /// Changes up to this number come too late, since somebody has asked what has become of them.
  private var askedNumber: UInt64 = 0

  func append(
    _ change: UInt64, _ records: RecordBatch, hasNew: Bool, removing removed: [UInt64],
    at time: UInt32, _ policy: StateFilePolicy
  ) -> Written {
    file.policy = policy
    let appended = Result { () throws(ArchiveError) in
      guard change > askedNumber else { throw ArchiveError(.outdated) }
      do throws(ArchiveError) {
        while let reason = keeps?.first {
          _ = try file.keepMoment(reason)
          keeps?.removeFirst()
        }
        return try file.append(records, removing: removed, schema: time)
      } catch {
        throw error.located(at: file.source.directory.storage(named: file.name).location)
      }
    }
    var written = Written(number: change, appended: appended, facts: facts)
    if hasNew, written.isThere { written.fingerprints = records.fingerprints }
    lastWritten = written
    written.writer = file.writer
    return written
  }

  /// What has become of a change that nobody waits for any more; nil if the change was not begun, and
  /// is not written any more.
  func written(_ change: UInt64) -> Written? {
    askedNumber = change
    guard var written = lastWritten, written.number == change else { return nil }
    written.writer = file.writer
    return written
  }

  /// Opens the file again; false if another state is there by now, or none that can be read.
  func goOn(
    with version: ArchiveVersion, _ policy: StateFilePolicy
  ) throws(ArchiveError) -> Bool {
    do throws(ArchiveError) {
      try open(policy).mark?.endRestore()
    } catch {
      guard error.isAboutContent else { throw error }
    }
    return file.writer?.version == version
  }

  func checkIsUnlocked() throws(ArchiveError) { try file.checkIsUnlocked() }

  func forgetOpened() { file.forgetOpened() }

  func keepUnread() throws(ArchiveError) -> Moment? { try file.keepUnread() }

  func discard() throws(ArchiveError) { try file.discard() }

  func history() throws(ArchiveError) -> [Moment] { try file.history() }

  func putBack(_ moment: Moment) throws(ArchiveError) { try file.putBack(moment) }

  func remove(_ moment: Moment) throws(ArchiveError) { try file.remove([moment]) }

  func retryLeftOut() throws(ArchiveError) { try file.retryLeftOut() }

  /// Lets the state go; returns its version.
  func close() -> ArchiveVersion? {
    let writer = file.writer
    do throws(ArchiveError) { try file.close() } catch {}
    return writer?.version
  }
}

extension Archive {
  fileprivate var savedAt: Date? {
    schema == 0 ? nil : Date(timeIntervalSinceReferenceDate: TimeInterval(schema))
  }
}

extension RestorationReport.PassedOver {
  fileprivate init(_ location: String, _ finding: StateFinding) {
    let reason: Reason =
      switch finding {
      case .unreadable(let code): .unreadable(ArchiveError(code).finding)
      case .crashed: .crashed
      default: .missing
      }
    self.init(location: location, reason: reason)
  }
}
