internal import ArchiveCodec

/// Saves and restores one state: that of a keeper or of a scene.
///
/// An engine belongs to the actor of the keeper. All calls that change the stored state, or the
/// objects of the app, have a turn each. Only a call that blocks the actor waits for no turn, since
/// none could end then.
package final class StateEngine {
  let settings: EngineSettings
  let objects: ObjectTable
  let claim: StateClaim
  /// The identifier of the scene's session; nil for the state of the keeper.
  let session: String?
  package let file: StateFile

  let turns = TurnQueue()
  /// Is told when something may need saving.
  let signal: ChangeSignal
  /// The rows of the stored state, as far as they are known here.
  var rows: Rows
  /// The findings of the restores of this launch.
  var found = RestoreFindings()
  /// How many calls save and then let the objects go; until then they ask the objects
  /// whether they have changed.
  var leavingCount = 0
  /// The roots of the last call by their names, and the names of those that were new then.
  var (lastRoots, newRoots): ([String: [WeakRoot]], Set<String>) = ([:], [])
  /// Is told the result of each save.
  var told: ((Result<PreservationReport, RestorationError>) -> Void)?
  /// Whether the last save has stored all that the app has, if it has stored anything.
  var isComplete = true
  /// The root of the values with ``Restored``; nil if there are none.
  private(set) var values: ValuesNode?

  init(_ settings: EngineSettings, claim: StateClaim) {
    self.settings = settings
    self.claim = claim
    signal = ChangeSignal()
    rows = Rows(signal)
    let types = TypeTable()
    ValuesNode.register(in: types)
    objects = ObjectTable(types)
    session = nil
    file = StateFile(
      claim: claim, directory: settings.directory, keys: settings.keys,
      application: settings.application, environment: settings.environment,
      limits: settings.limits)
  }

  private init(beside other: StateEngine, scene identifier: String, telling signal: ChangeSignal) {
    self.signal = signal
    rows = Rows(signal)
    settings = other.settings
    claim = other.claim
    objects = ObjectTable(other.types, outer: other.objects)
    session = identifier
    file = other.file(StateClaim.sceneSuffix(of: identifier))
  }

  var types: TypeTable { objects.types }

  /// The suffix of this state's name behind the name of the claimed state.
  var suffix: String { session.map { StateClaim.sceneSuffix(of: $0) } ?? "" }

  /// Whether a restore of the stored state was tried, or the state was discarded.
  var hasTriedToRestore: Bool { found.hasTriedToRestore }

  /// Whether a restore found the key locked; saves wait for another restore.
  var isLocked: Bool { found.isLocked }

  /// An engine for the state of a scene, which lies beside this one, under the same
  /// claim and with the same types.
  func ofScene(_ identifier: String, telling signal: ChangeSignal) -> StateEngine {
    StateEngine(beside: self, scene: identifier, telling: signal)
  }

  /// A file beside that of this state.
  func file(_ suffix: String) -> StateFile {
    StateFile(
      claim: claim, suffix: suffix, directory: settings.directory, keys: settings.keys,
      application: settings.application, environment: settings.environment,
      limits: settings.limits)
  }

  /// Whether states are saved and restored now, as long as the delegate is there.
  var status: RestorationStatus {
    if turns.running == .restore { return .restoring }
    guard found.lastStatus == .active, let failure = found.saveFailure else {
      return found.lastStatus
    }
    return .notSaved(failure)
  }

  var stateName: String? { claim.taken.map { $0.name + suffix } }

  /// Whether objects may say that they change and not be heard, since no save has met them.
  ///
  /// Unless all stored objects came back, nobody knows whether any object says so. While a save is
  /// written, and if it fails, the changes that it has taken are not stored either. A poll compares
  /// with the answers that a save has heard.
  var mayHaveUnheard: Bool {
    !rows.run.isCommitted
      && (rows.run.save > 0 || types.knowsTracked || rows.whole.version == nil
        || settings.isPolled)
  }

  /// Stops hearing the objects of a scene that is gone; the next scene has others.
  func forgetObjects() { rows = Rows(signal) }

  /// Saves and restores the values of a store with the nodes.
  func setValues(_ store: ValueStore) {
    values = ValuesNode(store)
    if session == nil { settings.valuesOfApp = store }
    ValuesAtExit.add(store, in: file, settings.environment)
  }

  /// The roots of the app, behind the root of the values if there is one.
  func withValues(_ roots: [any RestorableNode]) -> [any RestorableNode] {
    guard let values, values.isNeeded else { return roots }
    return [values] + roots
  }

  var otherInstances: [OtherInstance] { claim.taken?.others ?? [] }

  /// How a state is set aside that is replaced now.
  var settingAside: SettingAside {
    var settingAside = settings.settingAside
    settingAside.undecoded = found.undecoded
    return settingAside
  }

  // MARK: Discarding

  /// Discards the stored state.
  ///
  /// With roots, objects that said before when they change are also heard after the discard.
  func discardState(
    includingSetAside: Bool, hearing roots: (() -> [any RestorableNode])? = nil
  ) async throws(RestorationError) {
    claim.beginUse()
    defer { claim.endUse() }
    let count = turns.overtakingCount
    // Objects are heard from the call on, so that a change is saved also while the discard waits for
    // its turn, or the state is removed.
    let heard = roots.map { heardRows(of: withValues($0())) }
    if session == nil { signal.tell(.discarded) }
    let isOvertaken: Bool
    do {
      isOvertaken = try await turns.run { () async throws(RestorationError) in
        guard count == turns.overtakingCount else { return true }
        try await discardNow(includingSetAside: includingSetAside, hearing: heard)
        return false
      }
    } catch {
      if session == nil { signal.tell() }
      throw error
    }
    // The state of a later call stays.
    if isOvertaken { return }
    try await sendDiscard(includingSetAside: includingSetAside)
  }

  /// Discards the stored state in the turn of the caller.
  func discardNow(
    includingSetAside: Bool, hearing heard: Rows? = nil
  ) async throws(RestorationError) {
    do {
      try await file.discard(number: turns.newNumber(), includingSetAside: includingSetAside)
    } catch {
      throw RestorationError(error)
    }
    objects.kept = nil
    values?.store.forgetUnread()
    rows = heard ?? Rows(signal)
    found.undecoded = []
    found.notedProblems = nil
    found.unread = nil
    found.hasTriedToRestore = true
    found.isLocked = false
    if found.lastStatus == .locked { found.lastStatus = .notRestoredYet }
  }

  /// Waits until the store knows of a discard.
  func sendDiscard(includingSetAside: Bool) async throws(RestorationError) {
    try await send()
    guard includingSetAside else { return }
    do {
      try await file.removeNumberedStatesElsewhere()
    } catch {
      throw RestorationError(error)
    }
  }

  /// Lets the next restores try the left-out elements again.
  func retrySkipped() async throws(RestorationError) {
    claim.beginUse()
    defer { claim.endUse() }
    try await turns.run { () async throws(RestorationError) in
      do throws(ArchiveError) {
        try await file.retrySkipped()
      } catch {
        throw RestorationError(error)
      }
    }
  }

  // MARK: Archives that are set aside

  func setAsideStates() async throws(RestorationError) -> [SetAsideState] {
    do {
      return try await file.setAsideStates()
    } catch {
      throw RestorationError(error)
    }
  }

  func generations() async throws(RestorationError) -> [SetAsideState] {
    do {
      return try await file.generations()
    } catch {
      throw RestorationError(error)
    }
  }

  func putBack(_ state: SetAsideState) async throws(RestorationError) {
    try await putBack(orSay: "Ask for setAsideStates() again.") {
      [file] (number, settingAside) async throws(ArchiveError) in
      try await file.putBack(state, number: number, settingAside)
    }
  }

  func putBack(_ session: SavedSession) async throws(RestorationError) {
    try await putBack(orSay: "Ask for savedSessions() again.") {
      [file] (number, settingAside) async throws(ArchiveError) in
      try await file.putBack(session, number: number, settingAside)
    }
  }

  private func putBack(
    orSay advice: String, _ body: (UInt64, SettingAside) async throws(ArchiveError) -> Bool
  ) async throws(RestorationError) {
    claim.beginUse()
    defer { claim.endUse() }
    try await turns.run { () async throws(RestorationError) in
      let isFound: Bool
      do throws(ArchiveError) {
        isFound = try await body(turns.newNumber(), settings.settingAside)
      } catch {
        throw RestorationError(error)
      }
      guard isFound else {
        throw RestorationError(
          .setAsideStateMissing, "The state is not there any more. \(advice)")
      }
      found.isPutBack = true
      found.beginAnew()
    }
    try await send()
  }

  func savedSessions() async throws(RestorationError) -> [SavedSession] {
    do {
      return try await file.savedSessions()
    } catch {
      throw RestorationError(error)
    }
  }

  func remove(_ session: SavedSession) async throws(RestorationError) {
    claim.beginUse()
    defer { claim.endUse() }
    do throws(ArchiveError) {
      try await file.remove(session)
    } catch {
      throw RestorationError(error)
    }
  }

  func removeSetAside(_ state: SetAsideState) async throws(RestorationError) {
    claim.beginUse()
    defer { claim.endUse() }
    try await turns.run { () async throws(RestorationError) in
      do throws(ArchiveError) {
        try await file.removeSetAside(state)
      } catch {
        throw RestorationError(error)
      }
    }
    try await send()
  }
}
