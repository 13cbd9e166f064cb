internal import ArchiveCodec

/// The file of a state behind a queue: all that waits for the disk happens here, one call after the other.
actor FileQueue {
  let file: StateFile
  /// A thread of its own where the file waits for a disk; tasks of the app go on meanwhile.
  private let thread: FileExecutor?
  private let sharedThreads = SharedThreads()
  /// Why what the launch has found becomes a moment before the first change; nil before a restore.
  private var keeps: [Moment.Reason]?
  /// The state that was stored when the file was closed, and why it becomes a moment before the next change.
  private var closed: (version: ArchiveVersion, keeps: Moment.Reason?)?

  nonisolated var unownedExecutor: UnownedSerialExecutor {
    unsafe thread?.asUnownedSerialExecutor() ?? sharedThreads.unownedExecutor
  }

  init(_ source: StateFile.Source) {
    file = StateFile(source)
    thread = source.directory is MemoryStateDirectory ? nil : FileExecutor()
  }

  /// What the keeper knows of the file after a call.
  struct Known: Sendable {
    /// Makes the next change; nil if the file is asked for it, or if all is new.
    var writer: ArchiveWriter?
    /// How often names have got other numbers.
    var numbering = 0
    /// The last change; nil before the first one.
    var written: Written?
  }

  /// Runs a body in the queue, for a caller that does not know what has become of a change.
  ///
  /// A change that was not begun comes too late after this call.
  func callAsFunction<Value: Sendable>(
    _ conditions: StateFile.Conditions, asking asked: UInt64,
    _ body: @Sendable (isolated FileQueue) throws(ArchiveError) -> Value
  ) throws(ArchiveError) -> (Value, Known) {
    file.conditions = conditions
    defer { askedNumber = max(askedNumber, asked) }
    let value = try body(self)
    return (value, Known(writer: file.writer, numbering: file.numbering, written: lastWritten))
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

  /// The report of a restore, as far as the file knows it, and what is restored; nil if nothing is.
  typealias Opened = (report: RestorationReport, stored: StoredState?, mark: LaunchMark?)

  /// Where the state is, or where it will be.
  private var location: String {
    file.source.directory.storage(named: file.name).location
  }

  /// Opens what a restore can take.
  func open() throws(ArchiveError) -> Opened {
    closed = nil
    let found = try file.open(StoredState.self)
    var opened: Opened = (RestorationReport(.noArchive), nil, found.mark)
    opened.report.launchProblem = found.markProblem.map { "The launch could not be marked: \($0)" }
    switch found.outcome {
    case .nothing: break
    case .tooOld(let archive, let moment):
      opened.report.outcome = .tooOld(setAsideAt: moment?.id)
      opened.report.source = RestorationReport.Source(
        location: moment?.id ?? location, savedAt: SaveFacts.time(archive.schema), passedOver: [])
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
      location: moment?.id ?? location, savedAt: SaveFacts.time(archive.schema),
      passedOver: moment == nil ? [] : found.passedOver)
  }

  /// Opens what the next change needs; if nobody goes on from what was restored, that is kept and all is new.
  func prepare(goingOn isGoingOn: Bool) throws(ArchiveError) {
    if isGoingOn, let closed { try file.reopen(closed.version, keeping: closed.keeps) }
    closed = nil
    if !isGoingOn { file.letBe() }
    _ = try file.openWriter()
  }

  /// A change that was written, or that could not be.
  struct Written: Sendable {
    let number: UInt64
    /// Whether the file has the change, though a power cut may undo one that is not durable.
    let isThere: Bool
    /// The fingerprints of its records, which are found while the objects may change again.
    let fingerprints: [(record: UInt64, fingerprint: RecordFingerprint)]
  }

  private var lastWritten: Written?
  /// Changes up to this number come too late, since somebody has asked what has become of them.
  private var askedNumber: UInt64 = 0

  func append(
    _ change: UInt64, _ records: RecordBatch, hasNew: Bool, removing removed: [UInt64]
  ) -> Result<StateFile.Appended, ArchiveError> {
    let appended = Result { () throws(ArchiveError) in
      guard change > askedNumber else { throw ArchiveError(.outdated) }
      do throws(ArchiveError) {
        while let reason = keeps?.first {
          _ = try file.keepMoment(reason)
          keeps?.removeFirst()
        }
        return try file.append(
          records, removing: removed, schema: SaveFacts.number(of: file.conditions.now))
      } catch {
        throw error.located(at: location)
      }
    }
    var isThere = true
    if case .failure(let error) = appended { isThere = error.code == .notDurable }
    lastWritten = Written(
      number: change, isThere: isThere, fingerprints: hasNew ? records.fingerprints : [])
    return appended
  }

  /// Lets the state go; a save goes on from it as long as nobody else has changed it.
  func close() {
    closed = file.writer?.version.map { ($0, file.keeps) }
    do throws(ArchiveError) { try file.close() } catch {}
  }
}
