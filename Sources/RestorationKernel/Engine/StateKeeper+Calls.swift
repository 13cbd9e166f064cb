internal import ArchiveCodec
internal import RestorationFoundation

/// What a keeper was made with, and what its app may change.
struct KeeperSettings {
  let source: StateFile.Source
  let now: () -> Date
  var policy = StatePolicy()
  /// Hears the problems of all reports, and what is asked then is all there is.
  var heard: (([String]) -> Void)?
  var last: LastReports?
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
    /// A node that comes late, and whose element stays as it is stored until its bodies are read.
    var coming: Survey.Coming?
    /// How long a caller blocks the actor at most; nil if none does.
    var blockedUntil: ContinuousClock.Instant?
  }

  /// What the calls so far have found out.
  struct Findings {
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
    /// How much was registered when objects were asked last: under other names all are asked anew.
    var registrationCount = 0
  }

  var types: TypeTable { objects.types }

  /// Asks the app in a turn, and tells it the problems of the report, or why there is none.
  ///
  /// A call that blocks the actor comes before all others.
  func call<Report: CallReport>(
    _ kind: TurnQueue.Kind = .other, _ body: () async throws -> Report
  ) async throws(RestorationError) -> Report {
    let report = try await turns.run(kind, overtaking: asking.blockedUntil != nil) {
      () async throws(RestorationError) in
      if isDelegateGone { return Report(.delegateGone, []) }
      // A delegate that the app lets go meanwhile takes part all the same.
      let delegate = delegate
      defer { withExtendedLifetime(delegate) {} }
      do { return try await body() } catch { return try refused(error) }
    }
    Problems.say(report.said)
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
    // Without a document no object has an element.
    if document != nil { KnownObjects.shared.forgetAll(of: owner) }
    (document, known.writer, findings.underWay) = (nil, nil, nil)
    (findings.discarded, findings.unread) = (nil, nil)
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
    _ body: @escaping @Sendable (isolated FileQueue) throws(ArchiveError) -> Value
  ) async throws(RestorationError) -> Value {
    try await Result { () async throws(ArchiveError) in
      try await turns.run { () async throws(ArchiveError) in try await inFileNow(body) }
    }.mapError { RestorationError($0) }.get()
  }

  /// Calls the file in the turn that runs; a save that blocks the actor meanwhile asks the file, too.
  func inFileNow<Value: Sendable>(
    _ body: @escaping @Sendable (isolated FileQueue) throws(ArchiveError) -> Value
  ) async throws(ArchiveError) -> Value {
    let (asked, conditions) = (findings.lastWrite, (settings.policy, settings.now()))
    known.writer = nil
    let call = { @Sendable [file] in await file(conditions, asking: asked, body) }
    let answer: (Result<Value, ArchiveError>, FileQueue.Known)? =
      if let end = asking.blockedUntil {
        // A call that has not ended in time goes on.
        Blocking.call(until: end, call)?.get()
      } else {
        await call()
      }
    guard let (result, known) = answer else { throw ArchiveError(.inputOutput) }
    // A save that blocked the actor meanwhile knows more, or has a change under way.
    if asked == findings.lastWrite {
      settle(known.written)
      if known.numbering != self.known.numbering { document?.forgetFingerprints() }
      self.known = known
    }
    return try result.get()
  }

  /// Lets the document have what has become of the change under way; one that was not begun is not stored.
  private func settle(_ written: FileQueue.Written) {
    guard var result = findings.underWay.take() else { return }
    guard let fingerprints = written.fingerprints else { return giveBack(result.taken) }
    (findings.discarded, findings.unread) = (nil, nil)
    if !fingerprints.isEmpty { result.change.edits?.setFingerprints(fingerprints) }
    apply(result)
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
