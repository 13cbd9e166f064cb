internal import ArchiveCodec

/// Saves and restores one state, one call after the other.
///
/// An engine belongs to the actor of the nodes, which waits only while they are asked.
package final class StateEngine {
  var settings: EngineSettings
  let objects: ObjectTable
  let turns = TurnQueue()
  let owner: KnownObjects.Owner
  let forms: FormTable
  let file: FileQueue
  /// What is stored; nil as long as nobody has looked.
  var document: Document?
  /// What the next change needs, as far as the last call has said it.
  var known: FileQueue.Prepared = (nil, 0)
  var findings = Findings()
  /// The mark of the launch; nil before a restore.
  var launch: LaunchMark?
  /// The change that is written now, or of which nobody knows the outcome.
  var underWay: Write?
  var asking = Asking()

  /// What hooks of the app are asked for now.
  struct Asking {
    /// Whether one is under way.
    var isUnderWay = false
    /// A node that comes late, and whose element stays as it is stored until its bodies are read.
    var coming: ObjectIdentifier?
  }

  /// What the calls so far have found out.
  struct Findings {
    var hasTriedToRestore = false
    var lastStatus = RestorationStatus.notRestoredYet
    /// Why the last save failed; nil if it did not.
    var saveFailure: String?
    var isLocked = false
    /// Whether the last save has found nothing that cannot be stored.
    var isComplete = true
    /// Whether this launch has made sure that what is stored outlasts a power cut.
    var isOnDisk = false
    /// What the app had when it discarded its state, or when that could not be read, which is not
    /// stored until something changes.
    var discarded: Int?
    /// Why the stored state could not be read, if it may be read later, and nothing was stored since.
    var unread: ArchiveError?
    /// The report of the restore that an autosave has made up for.
    var lateReport: RestorationReport?
    /// The tabs that were selected and are not back.
    var tabsToCome: [TabToCome] = []
    /// How much was registered when objects were asked last: under other names all are asked anew.
    var registrationCount = 0
  }

  init(_ settings: EngineSettings) {
    self.settings = settings
    objects = ObjectTable(TypeTable())
    owner = KnownObjects.Owner()
    forms = FormTable(objects)
    file = FileQueue(settings.source)
  }

  var types: TypeTable { objects.types }
  var signal: ChangeSignal { owner.signal }

  /// Makes the next change; nil if the file is asked for it.
  var writer: ArchiveWriter? {
    get { known.writer }
    set { known.writer = newValue }
  }

  var status: RestorationStatus {
    if turns.running == .restore { return .restoring }
    if case .inUse = findings.lastStatus, settings.source.holding.now.name != nil {
      return .notRestoredYet
    }
    guard findings.lastStatus == .active, let failure = findings.saveFailure else {
      return findings.lastStatus
    }
    return .notSaved(failure)
  }

  var facts: SaveFacts { SaveFacts(settings.source.environment) }

  /// Calls the file in a turn of its own.
  func inFile<Value: Sendable>(
    _ body: @escaping @Sendable (StateFile) throws(ArchiveError) -> Value
  ) async throws(RestorationError) -> Value {
    try await turns.run { () async throws(RestorationError) in
      do throws(ArchiveError) {
        return try await inFile(.waiting, body)
      } catch {
        throw RestorationError(error)
      }
    }
  }

  /// Calls the file in the turn that runs.
  func inFile<Value: Sendable>(
    _ calls: FileCalls, _ body: @escaping @Sendable (StateFile) throws(ArchiveError) -> Value
  ) async throws(ArchiveError) -> Value {
    writer = nil
    return try await calls { [file, conditions = settings.ofCall] () async throws(ArchiveError) in
      try await file(conditions, body)
    }
  }

  /// Forgets what is stored; the next save asks all objects.
  func beginAnew() {
    (document, writer, underWay) = (nil, nil, nil)
    (findings.discarded, findings.unread) = (nil, nil)
    KnownObjects.shared.forgetAll(of: owner)
  }

  func close() async {
    let isStored = await turns.run {
      // A save that blocks the actor meanwhile asks the file.
      writer = nil
      return await file.close()
    }
    if !isStored { beginAnew() }
    findings.lastStatus = .notRestoredYet
  }
}

/// Who takes part in a save or a restore.
struct Participants {
  let roots: [any RestorableNode]
  let delegate: (any StateDelegate)?
}
