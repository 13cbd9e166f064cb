internal import ArchiveCodec
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Saves and restores one state, one call after the other.
///
/// An engine belongs to the actor of the nodes, which waits only while they are asked.
package final class StateEngine {
  let settings: EngineSettings
  let objects: ObjectTable
  let turns = TurnQueue()
  let signal = ChangeSignal()
  let owner: KnownObjects.Owner
  let forms: FormTable
  let file: FileQueue
  /// What is stored; nil as long as nobody has looked.
  var document: Document?
  var writer: ArchiveWriter?
  var findings = Findings()
  /// The mark of the launch; nil before a restore.
  var launch: LaunchMark?

  /// What the calls so far have found out.
  struct Findings {
    var hasTriedToRestore = false
    var lastStatus = RestorationStatus.notRestoredYet
    /// Why the last save failed; nil if it did not.
    var saveFailure: String?
    var isLocked = false
    /// The tabs that were selected and are not back.
    var tabsToCome: [TabToCome] = []
    /// The state that was stored when the keeper was closed.
    var closedVersion: ArchiveVersion?
    var name: String?
    var others: [OtherInstance] = []
    /// How much was registered when objects were asked last: under other names all are asked anew.
    var registrationCount = 0
  }

  init(_ settings: EngineSettings) {
    self.settings = settings
    objects = ObjectTable(TypeTable())
    owner = KnownObjects.Owner(telling: signal)
    forms = FormTable(objects)
    file = FileQueue(settings.source)
  }

  deinit { KnownObjects.shared.close(owner) }

  var types: TypeTable { objects.types }

  var status: RestorationStatus {
    if turns.running == .restore { return .restoring }
    guard findings.lastStatus == .active, let failure = findings.saveFailure else {
      return findings.lastStatus
    }
    return .notSaved(failure)
  }

  var facts: SaveFacts { SaveFacts(settings.environment) }

  /// Discards what is stored, and all that a restore may try.
  func discardState() async throws(RestorationError) {
    try await turns.run { () async throws(RestorationError) in try await discardNow() }
    signal.tell(.discarded)
  }

  func discardNow() async throws(RestorationError) {
    do throws(ArchiveError) {
      try await file.discard()
    } catch {
      throw RestorationError(error)
    }
    beginAnew()
    findings.hasTriedToRestore = true
  }

  /// Calls the file in a turn of its own.
  func inFile<Value: Sendable>(
    _ body: (FileQueue) async throws(ArchiveError) -> Value
  ) async throws(RestorationError) -> Value {
    try await turns.run { () async throws(RestorationError) in
      do throws(ArchiveError) {
        return try await body(file)
      } catch {
        throw RestorationError(error)
      }
    }
  }

  /// Forgets what is stored; the next save asks all objects.
  func beginAnew() {
    (document, writer, findings.closedVersion) = (nil, nil, nil)
    KnownObjects.shared.forgetAll(of: owner)
  }

  func close() async {
    signal.tell(.ended)
    await turns.run { do { try await file.close() } catch {} }
    (findings.closedVersion, writer) = (writer?.version, nil)
    if findings.closedVersion == nil { beginAnew() }
    findings.lastStatus = .notRestoredYet
  }
}

/// Who takes part in a save or a restore.
struct Participants {
  let roots: [any RestorableNode]
  let delegate: (any StateDelegate)?
}
