internal import ArchiveCodec

/// Lets the windows of an app come and go, each with a state of its own.
///
/// Where no system drives scenes, the app or its toolkit tells the host what
/// happens to windows, and the host calls the delegates in the order of
/// <doc:working-with-scenes>. It belongs to the actor that made it.
///
///     let host = SceneHost(keeper)
///     try await host.start(SceneConfiguration { CatalogScene(catalog) })
///
/// Every scene has a file of its own; the list of them is another. A list that
/// is lost or damaged is made again from the files.
public final class SceneHost {
  /// Asked and told when scenes come and go; not kept alive.
  ///
  /// When it is gone without having been set to nil, the defaults count, and the
  /// reports of saves say so.
  public weak var delegate: (any SceneHostDelegate)? {
    didSet { hadDelegate = delegate != nil }
  }

  private var hadDelegate = false

  /// Its autosave, until ``close()`` or a second one.
  var autosave: HeldAutosave?

  /// The types of activities that are stored; any other is a problem in the report.
  public var declaredActivityTypes: Set<String> = []

  /// The bytes over which an activity is reported as large.
  public var activityByteLimit = 1 << 16

  /// All sessions, most recently used first.
  public var openSessions: [SceneSession] { sessions.open }

  /// Which closed scenes can be opened again; nil, the default, if a scene that is closed
  /// is gone.
  ///
  /// Set it before ``launch(asSession:)``, which discards the sessions over the bound.
  public var closedSceneBound: ClosedSceneBound?

  /// Sessions whose scenes were closed and can be opened again with
  /// ``reopen(_:activity:)``, the one that was closed last first.
  public var closedSessions: [SceneSession] { sessions.closed }

  /// The scenes that are connected now, the one that was used last first.
  ///
  /// They stand in the order of ``openSessions``, which changes when a window comes to the front:
  /// the first one is not the one that was opened first. Sessions without a scene are missing,
  /// as all of them are before ``restoreScenes()``.
  public var connectedScenes: [RestorableScene] { openSessions.compactMap(\.scene) }

  /// Why the app was brought back; known after ``launch(asSession:)``.
  public var restoreReason: RestoreReason {
    if case .known(let reason, _) = launchState { reason } else { .pristine }
  }

  /// Why the list of scenes could not be stored; nil if it is.
  ///
  /// The scenes themselves have files of their own. The list is written again
  /// with the next save.
  public var listFailure: RestorationError? { list.failure }

  /// Where a list was set aside that could not be read, when one was written.
  public var listSetAsideAt: String? { list.setAsideAt }

  /// Whether there was a delegate that nobody has set to nil.
  var isDelegateGone: Bool { delegate == nil && hadDelegate }

  let keeper: StateKeeper
  /// Is told when something of a scene may need saving.
  let signal = ChangeSignal()
  let list: SceneListFile
  var sessions = SessionTable()
  var launchState = LaunchState.before
  private(set) var configurations: [SceneConfiguration] = []

  /// Creates a host of the scenes of an application.
  ///
  /// - Parameter keeper: Knows the application, its directory and its key, the
  ///   classes of nodes, and how often a restore may crash. The states of scenes
  ///   are stored beside its own, under names that begin with its name. All of them
  ///   belong to this instance of the app together, from the first launch, restore
  ///   or save until ``close()``.
  public init(_ keeper: StateKeeper) {
    self.keeper = keeper
    list = SceneListFile(beside: keeper.engine)
    keeper.besides.append { [weak self] in self?.autosave?.turns }
    keeper.endsOfHosts.append { [weak self] limit in
      guard let self, autosave != nil else { return true }
      return endNow(within: limit, isolation: nil)
    }
  }

  /// How far the launch of a host has come.
  enum LaunchState {
    /// It is not known which scenes there are, so no list is written.
    case before
    /// The same, since the key of the list is locked.
    case locked(asSession: Bool)
    /// The sessions are known; a host that does not own them only looks, and writes no list.
    case known(RestoreReason, isOwner: Bool)
  }

  /// Whether the sessions are known and are those of this host.
  var ownsSessions: Bool {
    if case .known(_, isOwner: true) = launchState { true } else { false }
  }

  var isListLocked: Bool {
    if case .locked = launchState { true } else { false }
  }

  // MARK: Configurations

  /// Registers how scenes are made; the last configuration of a role and name counts.
  ///
  /// - Parameter configuration: The configuration.
  public func register(_ configuration: SceneConfiguration) {
    let place = configurations.firstIndex {
      $0.role == configuration.role && $0.name == configuration.name
    }
    if let place {
      configurations[place] = configuration
    } else {
      configurations.append(configuration)
    }
  }

  /// The configuration of a role and a name, or the first one of the role; nil if there is none.
  func configuration(of role: SceneRole, named name: String?) -> SceneConfiguration? {
    configurations.first { $0.role == role && $0.name == name }
      ?? configurations.first { name == nil && $0.role == role }
  }

  /// What makes the scene of a session; the delegate is asked for a new one, which is as restorable
  /// as the answer, and for one whose configuration is gone.
  ///
  /// - Throws: `noConfiguration` if there is none, or one of another role.
  func chosenConfiguration(
    for session: SceneSession, _ options: SceneConnectionOptions
  ) throws(RestorationError) -> SceneConfiguration {
    var chosen = configuration(of: session.role, named: session.configurationName)
    if sessions[session]?.state.isFirstConnection == true || chosen == nil {
      if let own = delegate?.host(self, configurationForConnecting: session, options: options) {
        if chosen != nil { session.isRestorable = own.isRestorable }
        chosen = own
      }
    }
    guard let chosen else { throw .noConfiguration(session.role, session.configurationName) }
    guard chosen.role == session.role else {
      throw RestorationError(
        .noConfiguration,
        "The configuration is for the role “\(chosen.role.rawValue)”,"
          + " and the session for “\(session.role.rawValue)”.")
    }
    return chosen
  }

  // MARK: Sessions

  /// The engine of a session that is known; a new one for any other.
  func engine(of session: SceneSession) -> StateEngine {
    sessions[session]?.engine ?? engine(ofScene: session.persistentIdentifier)
  }

  func engine(ofScene identifier: String) -> StateEngine {
    keeper.engine.ofScene(identifier, telling: signal)
  }

  /// Lets a body have a session to itself, after all that had it before.
  func inTurn<Value>(
    of session: SceneSession, _ body: () async throws(RestorationError) -> Value
  ) async throws(RestorationError) -> Value {
    guard let turns = sessions[session]?.turns else { return try await body() }
    return try await turns.run(.other, body)
  }

  /// Waits until none of some sessions connects or gets another state.
  func turnEnded(of sessions: [SceneSession]) async {
    func turns() -> TurnQueue? {
      sessions.lazy.compactMap { self.sessions[$0]?.turns }.first { $0.running != nil }
    }
    // While those of one session end, another one may begin.
    while let turns = turns() { await turns.idle() }
  }

  // MARK: The list

  /// Stores values that were set on sessions that have no scene now.
  ///
  /// - Throws: ``RestorationError`` with `archive`; the values are not lost, and the
  ///   next call or save stores them. With `unsupportedValue` a value cannot be stored, which
  ///   the error names; all others are.
  public func saveSessions() async throws(RestorationError) {
    await writeList()
    if let listFailure { throw listFailure }
    if let problem = (openSessions + closedSessions).lazy.compactMap(\.unstorable).first {
      throw RestorationError(.unsupportedValue, "\(problem) All else is stored.")
    }
  }

  /// Deletes stored activities.
  ///
  /// Their sessions stay, with everything else that is stored of these. The next
  /// save of their scenes takes the activities out of the files.
  ///
  /// - Parameter identifiers: Their ``UserActivity/persistentIdentifier``.
  /// - Throws: As ``saveSessions()``.
  /// - Complexity: O(*n*) in the sessions.
  public func deleteSavedUserActivities(
    withPersistentIdentifiers identifiers: Set<String>
  ) async throws(RestorationError) {
    for session in openSessions {
      guard let identifier = session.content.activity?.persistentIdentifier,
        identifiers.contains(identifier)
      else { continue }
      session.stateRestorationActivity = nil
    }
    try await saveSessions()
  }

  /// Takes what another machine has set on sessions, and is in its list alone.
  private func take(_ theirs: SceneList) {
    for entry in theirs.scenes + theirs.closed {
      guard let row = sessions.row(entry.identifier), !row.state.isDiscarded else { continue }
      if let change = entry.change { row.session.take(change) }
    }
  }

  /// Stores the list of sessions if it says anything new.
  func writeList(_ calls: FileCalls = .waiting) async {
    guard ownsSessions else { return }
    await list.store(calls, taking: take) { endsCleanly in
      SceneList(
        scenes: openSessions.map(\.entry),
        closed: closedSessions.map(\.entry),
        discarded: sessions.discarded.map(\.discardedEntry), endedCleanly: endsCleanly)
    }
  }
}

extension RestorationError {
  static func noConfiguration(_ role: SceneRole, _ name: String?) -> RestorationError {
    RestorationError(
      .noConfiguration,
      "No configuration is registered for the role “\(role.rawValue)”"
        + (name.map { " and the name “\($0)”" } ?? "") + ". Register one with the host.")
  }
}

@available(*, unavailable, message: "a host belongs to the actor of its scenes")
extension SceneHost: Sendable {}
