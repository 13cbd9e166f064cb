internal import ArchiveCodec

/// The file of a state behind a queue: all that waits for the disk happens here, one call after the other.
actor FileQueue {
  private let file: StateFile
  /// A thread of its own where the file waits for a disk; tasks of the app go on meanwhile.
  private let thread: FileExecutor?
  private let sharedThreads = SharedThreads()
  /// Why what the launch has found becomes a moment before the first change; nil before a restore.
  private var keeps: [Moment.Reason]?
  /// The state that was stored when the file was closed.
  private var closedVersion: ArchiveVersion?

  nonisolated var unownedExecutor: UnownedSerialExecutor {
    unsafe thread?.asUnownedSerialExecutor() ?? sharedThreads.unownedExecutor
  }

  init(_ source: StateFile.Source) {
    file = StateFile(source)
    thread = source.directory is MemoryStateDirectory ? nil : FileExecutor()
  }

  /// Runs a body with the file.
  func callAsFunction<Value: Sendable>(
    _ conditions: StateFile.Conditions, _ body: @Sendable (StateFile) throws(ArchiveError) -> Value
  ) throws(ArchiveError) -> Value {
    file.conditions = conditions
    return try body(file)
  }

  /// What is stored, as a restore takes it.
  struct StoredState: LaunchedTree {
    let document: Document
    let records: StoredRecords
    /// The places of the elements, by their identifiers.
    private var slots: KeyTable

    var rootCount: Int { document[Document.tree].children.count }

    func contains(element id: UInt64) -> Bool { id > 0 && slots[id] != nil }

    func element(above id: UInt64) -> UInt64? {
      let above = slots[id].map { document[$0].place.parent } ?? Document.tree
      return above > Document.tree ? document[above].id : nil
    }

    init(_ archive: Archive) throws(ArchiveError) {
      records = try StoredRecords(archive)
      slots = KeyTable(expecting: records.count)
      document = try Document(records, savedAt: archive.schema, &slots)
    }
  }

  struct Opened: Sendable {
    /// The report of the restore, as far as the file knows it.
    var report: RestorationReport
    /// Nil if nothing is restored.
    var stored: StoredState?
    var mark: LaunchMark?
    var numbering = 0
  }

  /// Where the state is, or where it will be.
  private var location: String {
    file.source.directory.storage(named: file.name).location
  }

  /// Opens what a restore can take.
  func open(_ conditions: StateFile.Conditions) throws(ArchiveError) -> Opened {
    (file.conditions, closedVersion) = (conditions, nil)
    let found: OpenedState<StoredState>
    do throws(ArchiveError) {
      found = try file.open(StoredState.self)
    } catch {
      // A failure that may pass is often over at once.
      guard error.mayPass else { throw error }
      found = try file.open(StoredState.self)
    }
    var opened = Opened(
      report: RestorationReport(.noArchive), mark: found.mark, numbering: file.numbering)
    opened.report.launchProblem = found.markProblem.map { "The launch could not be marked: \($0)" }
    switch found.outcome {
    case .nothing: break
    case .tooOld(let archive, let moment):
      opened.report.outcome = .tooOld(setAsideAt: moment?.id)
      opened.report.source = RestorationReport.Source(
        location: moment?.id ?? location, generation: nil,
        savedAt: SaveFacts.time(archive.schema), passedOver: [])
    case .crashed(let moment): opened.report.outcome = .crashed(setAsideAt: moment?.id)
    case .restored(let state, let archive, let moment):
      opened.stored = state
      describe(state, archive, moment, found, in: &opened.report)
    }
    return opened
  }

  private func describe(
    _ state: StoredState, _ archive: Archive, _ moment: Moment?, _ found: OpenedState<StoredState>,
    in report: inout RestorationReport
  ) {
    if state.document.leftovers == nil { file.noteDamage() }
    let location = location
    if moment == nil, let dropped = archive.dropped, dropped.code != .truncated {
      let date = SaveFacts.time(archive.schema).map { " of \($0)" } ?? ""
      report.launchProblem =
        "The end of the state is damaged, so this is the one\(date); what was saved after it is lost."
        + " The next save keeps a copy of the file. (\(dropped.located(at: location).facts))"
    }
    if keeps == nil {
      let isOfOtherVersion =
        state.document.head.facts[.applicationVersion] != file.source.environment.applicationVersion
      // One that is damaged is kept anyway.
      keeps = isOfOtherVersion && state.document.leftovers != nil ? [.version] : []
      let sessionCount = file.conditions.policy.historyBound.counts[.session] ?? 0
      if sessionCount > 0 { keeps?.append(.session) }
    }
    report.outcome = .restored
    report.source = RestorationReport.Source(
      location: moment?.id ?? location, generation: moment.map { _ in .previous },
      savedAt: SaveFacts.time(archive.schema),
      passedOver: moment == nil ? [] : found.passedOver)
  }

  /// The writer whose builder makes the next change, nil if all is new; and how often its names have got
  /// other numbers.
  typealias Prepared = (writer: ArchiveWriter?, numbering: Int)

  /// What the next change needs; if nobody goes on from what was restored, that is kept and all is new.
  func prepared(
    goingOn isGoingOn: Bool, _ conditions: StateFile.Conditions
  ) throws(ArchiveError) -> Prepared {
    file.conditions = conditions
    if isGoingOn, let version = closedVersion { try goOn(with: version, conditions) }
    closedVersion = nil
    if !isGoingOn { file.letBe() }
    return (try file.openWriter(), file.numbering)
  }

  /// Opens the file again after it was closed; if it has another state by now, that one is let be.
  private func goOn(
    with version: ArchiveVersion, _ conditions: StateFile.Conditions
  ) throws(ArchiveError) {
    var conditions = conditions
    // The app has had the state all the time.
    conditions.policy.maximumAge = nil
    do throws(ArchiveError) {
      try open(conditions).mark?.endRestore()
    } catch {
      closedVersion = version
      guard error.isAboutContent else { throw error }
    }
    if file.writer?.version != version { file.letBe() }
  }

  /// What has become of a change.
  struct Written: Sendable {
    let number: UInt64
    let appended: Result<StateFile.Appended, ArchiveError>
    /// The fingerprints of records, which are found while the objects may change again.
    var fingerprints: [(record: UInt64, fingerprint: RecordFingerprint)] = []
    /// Nil while nobody has asked: a writer has the lock.
    var writer: ArchiveWriter?
    let numbering: Int

    /// Whether the change is there; a power cut may undo one that is not durable.
    var isThere: Bool {
      if case .failure(let error) = appended { error.code == .notDurable } else { true }
    }
  }

  /// The last change; nil before the first one.
  private var lastWritten: Written?
  /// Changes up to this number come too late, since somebody has asked what has become of them.
  private var askedNumber: UInt64 = 0

  func append(
    _ change: UInt64, _ records: RecordBatch, hasNew: Bool, removing removed: [UInt64],
    _ conditions: StateFile.Conditions
  ) -> Written {
    file.conditions = conditions
    let appended = Result { () throws(ArchiveError) in
      guard change > askedNumber else { throw ArchiveError(.outdated) }
      do throws(ArchiveError) {
        while let reason = keeps?.first {
          _ = try file.keepMoment(reason)
          keeps?.removeFirst()
        }
        return try file.append(
          records, removing: removed, schema: SaveFacts.number(of: conditions.now))
      } catch {
        throw error.located(at: location)
      }
    }
    var written = Written(number: change, appended: appended, numbering: file.numbering)
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

  /// Lets the state go; returns whether one was stored, from which a save can go on.
  func close() -> Bool {
    closedVersion = file.writer?.version
    do throws(ArchiveError) { try file.close() } catch {}
    return closedVersion != nil
  }
}
