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
      slot(of: id).flatMap { slot in
        slot == 0 ? nil : document.elements[Int(document.elements[slot].place.parent)].id
      }
    }

    private func slot(of id: UInt64) -> Int? { document.elements.firstIndex { $0.id == id } }
  }

  struct Opened: Sendable {
    let outcome: RestorationReport.Outcome
    /// Nil if nothing is restored.
    let stored: StoredState?
    let source: RestorationReport.Source?
    let mark: LaunchMark?
    let problem: String?
  }

  struct Facts: Sendable {
    let name: String?
    let others: [OtherInstance]
  }

  var facts: Facts { Facts(name: file.isClaimed ? file.name : nil, others: file.otherInstances) }

  /// Opens what a restore can take.
  func open(_ policy: StateFilePolicy) throws(ArchiveError) -> Opened {
    file.policy = policy
    let opened = try file.open { (archive) throws(ArchiveError) in
      let records = try StoredRecords(archive)
      return StoredState(
        document: try Document(records, savedAt: archive.schema), records: records)
    }
    let problem = opened.markProblem.map { "The launch could not be marked: \($0)" }
    switch opened.outcome {
    case .nothing:
      return Opened(outcome: .noArchive, stored: nil, source: nil, mark: nil, problem: problem)
    case .restored(let state, let archive, let moment):
      let source = RestorationReport.Source(
        location: moment?.id ?? file.source.directory.storage(named: file.name).location,
        generation: moment.map { _ in .previous }, savedAt: archive.savedAt,
        passedOver: moment == nil ? [] : opened.passedOver.map { .init($0.location, $0.finding) })
      return Opened(
        outcome: .restored, stored: state, source: source, mark: opened.mark, problem: problem)
    case .tooOld(let moment):
      return Opened(
        outcome: .tooOld(setAsideAt: moment?.id), stored: nil, source: nil, mark: nil,
        problem: problem)
    case .crashed(let moment):
      return Opened(
        outcome: .crashed(setAsideAt: moment?.id), stored: nil, source: nil, mark: nil,
        problem: problem)
    }
  }

  /// The writer whose builder makes the next change; nil if nothing was restored, so that all is new.
  func prepared() throws(ArchiveError) -> ArchiveWriter? {
    try file.openWriter()
  }

  var hasLostRecords: Bool { file.hasLostRecords }

  /// Stored records, by their numbers.
  func records(_ numbers: [UInt64]) throws(ArchiveError) -> [UInt64: KeyedDecoder] {
    guard let archive = try prepared()?.archive else { return [:] }
    var records: [UInt64: KeyedDecoder] = [:]
    for number in numbers { records[number] = try archive.record(number) }
    return records
  }

  func append(
    _ records: RecordBatch, removing removed: [UInt64], at time: UInt32, _ policy: StateFilePolicy
  ) throws(ArchiveError) -> StateFile.Appended {
    file.policy = policy
    do throws(ArchiveError) {
      return try file.append(records, removing: removed, schema: time)
    } catch {
      throw error.located(at: file.source.directory.storage(named: file.name).location)
    }
  }

  var writer: ArchiveWriter? { file.writer }

  /// The fingerprints of new records, which are made while nobody waits.
  func fingerprints(
    of records: RecordBatch
  ) -> [(record: UInt64, fingerprint: RecordFingerprint)] {
    records.fingerprints
  }

  func discard() throws(ArchiveError) { try file.discard() }

  func history() throws(ArchiveError) -> [Moment] { try file.history() }

  func putBack(_ moment: Moment) throws(ArchiveError) { try file.putBack(moment) }

  func remove(_ moment: Moment) throws(ArchiveError) { try file.remove([moment]) }

  func retryLeftOut() throws(ArchiveError) { try file.retryLeftOut() }

  func close() throws(ArchiveError) { try file.close() }
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
