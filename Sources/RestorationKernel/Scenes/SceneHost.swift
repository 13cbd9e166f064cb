internal import ArchiveCodec
internal import RestorationFoundation

/// The windows of an app: opens them, brings them back, and lets them go.
///
/// All windows are in the state of the host's keeper. A host belongs to the actor of the keeper.
///
///     let host = SceneHost(keeper)
///     host.register(SceneConfiguration { NoteWindow() })
///     try await host.launch()
///     await host.restoreScenes()
public final class SceneHost {
  /// Takes part in connecting; the host works without it, and does not keep it alive.
  public weak var delegate: (any SceneHostDelegate)?

  /// The types of activities that may be stored.
  public var declaredActivityTypes: Set<String> = []

  /// Which windows that were closed can be opened again; none if nil.
  ///
  /// Set it before the launch, which lets go what is over the bound.
  public var closedSceneBound: ClosedSceneBound?

  /// The sessions whose windows come back, the one that was at the front last first.
  public var openSessions: [SceneSession] {
    sessions.values.filter(\.state.isOpen).sorted { $0.node.content.turn > $1.node.content.turn }
  }

  /// The sessions whose windows were closed and can be opened again, the one that was closed last first.
  public var closedSessions: [SceneSession] {
    sessions.values.filter(\.state.isClosed).sorted { left, right in
      let (leftDate, rightDate) = (left.closedAt ?? .distantPast, right.closedAt ?? .distantPast)
      return (leftDate, left.node.content.turn) > (rightDate, right.node.content.turn)
    }
  }

  /// The scenes that are connected, in the order of ``openSessions``.
  public var connectedScenes: [RestorableScene] { openSessions.compactMap(\.scene) }

  /// Why the app was launched.
  public private(set) var restoreReason = RestoreReason.pristine

  /// The windows that are stored and cannot be read, by their identifiers; they stay stored.
  public private(set) var unreadSessions: [String: RestorationError] = [:]

  package let keeper: StateKeeper
  private let launches = TurnQueue()
  private var sessions: [String: SceneSession] = [:]
  private var configurations: [SceneConfiguration] = []

  /// Creates the host of a keeper's windows.
  ///
  /// - Parameter keeper: The keeper, which has one host at most. The host keeps it alive.
  public init(_ keeper: StateKeeper) {
    self.keeper = keeper
    keeper.settings.host = self
  }

  /// Registers how the windows of a role are made.
  ///
  /// - Parameter configuration: The configuration; it takes the place of one with the same role and name.
  public func register(_ configuration: SceneConfiguration) {
    configurations.removeAll {
      $0.role == configuration.role && $0.name == configuration.name
    }
    configurations.append(configuration)
  }

  /// Reads the sessions that are stored, and makes nothing.
  ///
  /// A keeper that has not restored yet restores first, into no roots: restore your own roots before.
  ///
  /// After the keeper has put another state back, launch again.
  ///
  /// - Throws: ``RestorationError`` as a restore of the keeper does; `inUse` if another instance has the
  ///   state. When the sessions are read, as ``discard(_:)`` for those that were closed too long ago.
  public func launch() async throws(RestorationError) {
    try await launches.run { () async throws(RestorationError) in try await readSessions() }
    try await discardClosed()
  }

  private func readSessions() async throws(RestorationError) {
    if keeper.document == nil {
      let report = try await keeper.restore()
      if case .inUse(let process) = report.outcome {
        throw RestorationError(ArchiveError(.locked, subject: process))
      }
    }
    for (identifier, node) in try await keeper.storedScenes(besides: Set(sessions.keys)) {
      switch node {
      case .success(let node): sessions[identifier] = SceneSession(node)
      case .failure(let error): unreadSessions[identifier] = error
      }
    }
    if !openSessions.isEmpty { restoreReason = .launch }
  }

  /// Forgets the windows of a state of which the keeper knows no more; those that are connected stay.
  func forgetStored() { sessions = sessions.filter { $0.value.scene != nil } }

  /// Connects the sessions that were open, unless the delegate does not want one.
  ///
  /// - Returns: Why sessions could not be connected, if they could not.
  @discardableResult
  public func restoreScenes() async -> [SceneSession: RestorationError] {
    var failures: [SceneSession: RestorationError] = [:]
    for session in openSessions where session.scene == nil {
      // The session may have been closed while others connected.
      guard session.state == .stored, delegate?.host(self, shouldRestore: session) ?? true
      else { continue }
      do throws(RestorationError) {
        _ = try await connect(session, nil, toFront: false)
      } catch {
        failures[session] = error
      }
    }
    delegate?.hostDidFinishRestoringScenes(self)
    return failures
  }

  // MARK: Connecting

  /// Opens a new window.
  ///
  /// - Parameters:
  ///   - role: The role of the window.
  ///   - name: The name of its configuration; nil for the first one of the role.
  ///   - activity: What the window is opened for.
  /// - Returns: The scene.
  /// - Throws: ``RestorationError`` with `noConfiguration` or `noDelegate`.
  @discardableResult
  public func open(
    _ role: SceneRole = .windowApplication, configuration name: String? = nil,
    activity: UserActivity? = nil
  ) async throws(RestorationError) -> RestorableScene {
    try await connect(SceneSession(role, configurationName: name), activity, toFront: true)
  }

  /// Connects a session, or brings its scene to the front.
  ///
  /// - Parameters:
  ///   - session: One of ``openSessions``.
  ///   - activity: What the user wants to go on with.
  /// - Returns: The scene.
  /// - Throws: ``RestorationError`` with `noConfiguration` or `noDelegate`.
  @discardableResult
  public func connect(
    _ session: SceneSession, activity: UserActivity? = nil
  ) async throws(RestorationError) -> RestorableScene {
    try await connect(session, activity, toFront: true)
  }

  /// A second call while the first one reads waits for the scene of that one.
  private func connect(
    _ session: SceneSession, _ activity: UserActivity?, toFront: Bool
  ) async throws(RestorationError) -> RestorableScene {
    try await session.turns.run { () async throws(RestorationError) in
      try await connectNow(session, activity, toFront: toFront)
    }
  }

  private func connectNow(
    _ session: SceneSession, _ activity: UserActivity?, toFront: Bool
  ) async throws(RestorationError) -> RestorableScene {
    if let scene = session.scene {
      if toFront { moveToFront(session) }
      scene.activate(with: activity)
      return scene
    }
    guard session.state == .new || sessions[session.persistentIdentifier] === session,
      !session.isLeaving, session.go(on: .connect)
    else {
      throw RestorationError(
        .notConnected, "The session was discarded. Use one of the host's openSessions.")
    }
    let options = SceneConnectionOptions(
      userActivities: [activity].compactMap(\.self), restoreReason: restoreReason)
    let scene: RestorableScene
    do throws(RestorationError) {
      let configuration = try chosenConfiguration(for: session, options)
      scene = RestorableScene(session, keeper, try await newDelegate(configuration))
      session.node.content.configurationName = configuration.name
    } catch {
      session.go(on: .fail)
      throw error
    }
    do throws(RestorationError) {
      try await restore(scene, options)
    } catch {
      (scene.restoration, session.failure) = (.failure(error), error)
      session.go(on: .fail)
      throw error
    }
    if toFront { moveToFront(session) }
    scene.restoreInteractionState()
    scene.activate(with: nil)
    return scene
  }

  /// - Throws: Why the window was not shown, as what is stored of it cannot be read now.
  private func restore(
    _ scene: RestorableScene, _ options: SceneConnectionOptions
  ) async throws(RestorationError) {
    let session = scene.session
    let report = try await keeper.restore(
      session.node, for: { scene.delegate as? any StateDelegate }
    ) {
      guard session.go(on: .appear) else { return }
      (session.scene, sessions[session.persistentIdentifier]) = (scene, session)
      scene.show(options)
    }
    // The session may have been discarded meanwhile.
    guard session.scene === scene else {
      throw RestorationError(
        .notConnected, "The window was not made: \(report.outcome.reason)")
    }
    (scene.restoration, session.failure) = (.success(report), nil)
  }

  private func moveToFront(_ session: SceneSession) {
    let last = min(sessions.values.map(\.node.content.turn).max() ?? 0, .max - 1)
    if session.node.content.turn < last || last == 0 { session.node.content.turn = last + 1 }
  }

  private func chosenConfiguration(
    for session: SceneSession, _ options: SceneConnectionOptions
  ) throws(RestorationError) -> SceneConfiguration {
    let (role, name) = (session.role, session.configurationName)
    let registered =
      configurations.first { $0.role == role && $0.name == name }
      ?? configurations.first { name == nil && $0.role == role }
    var own: SceneConfiguration?
    if registered == nil || session.state == .opening {
      own = delegate?.host(self, configurationForConnecting: session, options: options)
    }
    guard let chosen = own ?? registered else {
      throw RestorationError(
        .noConfiguration,
        "No configuration is registered for the role “\(role.rawValue)”"
          + (name.map { " and the name “\($0)”" } ?? "") + ". Register one with the host.")
    }
    guard chosen.role == role else {
      throw RestorationError(
        .noConfiguration,
        "The configuration is for the role “\(chosen.role.rawValue)”,"
          + " and the session for “\(role.rawValue)”.")
    }
    return chosen
  }

  private func newDelegate(
    _ configuration: SceneConfiguration
  ) async throws(RestorationError) -> any SceneDelegate {
    do {
      let delegate = try await configuration.makeDelegate()
      if connectedScenes.contains(where: { $0.delegate === delegate }) {
        throw RestorationError(
          .noDelegate, "The delegate follows another scene. Make a new one for every scene.")
      }
      return delegate
    } catch let error as RestorationError {
      throw error
    } catch {
      throw RestorationError(.noDelegate, "The scene's delegate could not be made: \(error.reason)")
    }
  }

  // MARK: Saving

  /// The windows as a save of the whole state asks them, also those that are not connected.
  func prepareAll() -> SceneNodes {
    for scene in connectedScenes where scene.needsSave { scene.prepareSave() }
    return SceneNodes(asked: sessions.values.filter { !$0.isLeaving }.map(\.node))
  }

  /// Saves a window, and asks that window alone.
  ///
  /// - Parameter scene: A scene that is connected.
  /// - Returns: What the save did.
  /// - Throws: ``RestorationError`` with `notConnected`, and as a save of the keeper does.
  @discardableResult
  public func save(_ scene: RestorableScene) async throws(RestorationError) -> PreservationReport {
    guard scene.delegate != nil else { throw .sceneIsNotConnected }
    do throws(RestorationError) {
      var isAsked = false
      let report = try await keeper.save {
        isAsked = scene.delegate != nil && !scene.session.isLeaving
        guard isAsked else { return SavedParts() }
        scene.prepareSave()
        return SavedParts(scenes: SceneNodes(asked: [scene.session.node]))
      }
      if !isAsked, report.outcome == .saved { throw .sceneIsNotConnected }
      return report
    } catch {
      scene.needsSave = true
      throw error
    }
  }

  /// Saves what sessions say, also those that are not connected.
  ///
  /// - Throws: As a save of the keeper does.
  public func saveSessions() async throws(RestorationError) {
    _ = try await keeper.save { SavedParts(scenes: prepareAll()) }
  }

  /// Saves a window whose scene goes to the background.
  ///
  /// - Parameter scene: A scene that is connected.
  /// - Returns: What the save did.
  /// - Throws: As ``save(_:)``.
  @discardableResult
  public func background(_ scene: RestorableScene) async throws(RestorationError)
    -> PreservationReport
  {
    scene.enterBackground()
    return try await save(scene)
  }

  /// Saves a window and lets its scene go; the session stays, and the next launch brings it back.
  ///
  /// - Parameter scene: A scene that is connected; it stays if it cannot be saved.
  /// - Returns: What the save did.
  /// - Throws: As ``save(_:)``.
  @discardableResult
  public func disconnect(_ scene: RestorableScene) async throws(RestorationError)
    -> PreservationReport
  {
    try await scene.session.turns.run { () async throws(RestorationError) in
      scene.enterBackground()
      let report = try await saveLast(scene)
      if report.outcome == .saved { release(scene) }
      return report
    }
  }

  /// Saves a window for the last time, and what says meanwhile that it has changed.
  private func saveLast(
    _ scene: RestorableScene
  ) async throws(RestorationError) -> PreservationReport {
    var report = try await save(scene)
    for _ in 0..<Self.largestRepetition where scene.hasChanged && report.outcome == .saved {
      report = try await save(scene)
    }
    return report
  }

  /// How often a window is saved once more that changes while it is saved for the last time.
  private static let largestRepetition = 4

  private func release(_ scene: RestorableScene, on event: SessionState.Event = .leave) {
    guard scene.session.go(on: event) else { return }
    keeper.leave(scene.session.node)
    scene.leave()
  }

  /// Lets the state and all windows go, so that another instance of the app can have them.
  public func close() async { await keeper.close() }

  // MARK: Closing

  /// Closes a window.
  ///
  /// With a ``closedSceneBound`` the window is saved, and can be opened again; without one no file has anything
  /// of the window any more.
  ///
  /// - Parameter scene: A scene that is connected.
  /// - Throws: ``RestorationError`` if the window cannot be saved: it is closed all the same, and can be opened
  ///   again as it is stored. Without a bound as ``discard(_:)``.
  public func close(_ scene: RestorableScene) async throws(RestorationError) {
    try await scene.session.turns.run { () async throws(RestorationError) in
      try await closeNow(scene)
    }
  }

  private func closeNow(_ scene: RestorableScene) async throws(RestorationError) {
    guard scene.session.scene === scene else { throw .sceneIsNotConnected }
    guard closedSceneBound != nil else { return try await discard([scene.session]) }
    scene.session.node.content.closedAt = keeper.settings.now()
    let saved = await Result { () async throws(RestorationError) in try await saveLast(scene) }
    release(scene, on: .close)
    try await discardClosed()
    let outcome = try saved.get().outcome
    guard outcome == .saved else {
      throw RestorationError(.archive, "The window is closed as it is stored: \(outcome.reason)")
    }
  }

  /// Opens a window again that was closed, as it was then.
  ///
  /// - Parameters:
  ///   - session: One of ``closedSessions``.
  ///   - activity: What the user wants to do in it.
  /// - Returns: The scene.
  /// - Throws: As ``connect(_:activity:)``; the session stays closed then.
  @discardableResult
  public func reopen(
    _ session: SceneSession, activity: UserActivity? = nil
  ) async throws(RestorationError) -> RestorableScene {
    guard session.state == .closed else {
      throw RestorationError(
        .notConnected, "The session is not closed. Use one of the host's closedSessions.")
    }
    return try await connect(session, activity, toFront: true)
  }

  /// Hands an activity that came in to the window that was at the front last, or else to a new one.
  ///
  /// - Parameter activity: The activity.
  /// - Returns: The scene that has it.
  /// - Throws: As ``connect(_:activity:)`` and ``open(_:configuration:activity:)``.
  @discardableResult
  public func continueActivity(
    _ activity: UserActivity
  ) async throws(RestorationError) -> RestorableScene {
    // A delegate that is being made may ask for that: its own session waits for it.
    let last = openSessions.first { [.stored, .connected].contains($0.state) }
    guard let last else { return try await open(activity: activity) }
    return try await connect(last, activity: activity)
  }

  /// Lets windows go, open or closed: no file has anything of them any more.
  ///
  /// - Parameter given: Sessions of the host; others are passed over.
  /// - Throws: ``RestorationError`` as a save of the keeper does; then the sessions stay. If only the file could
  ///   not be written anew, the sessions are gone, and the next launch does that.
  public func discard(_ given: [SceneSession]) async throws(RestorationError) {
    let leaving = given.filter { sessions[$0.persistentIdentifier] === $0 }
    guard !leaving.isEmpty else { return }
    for session in leaving { session.isLeaving = true }
    defer { for session in leaving { session.isLeaving = false } }
    let result = await Result { () async throws(RestorationError) in
      try await keeper.discard(leaving.map(\.node))
    }
    // The commit may be there though the file could not be written anew.
    let gone = leaving.filter { keeper.hasLost($0.node) }
    for session in gone where session.go(on: .discard) {
      sessions[session.persistentIdentifier] = nil
      session.scene?.leave()
    }
    if !gone.isEmpty { delegate?.host(self, didDiscardSceneSessions: gone) }
    try result.get()
  }

  /// Lets the closed windows go that are over the bound.
  private func discardClosed() async throws(RestorationError) {
    let (bound, now) = (closedSceneBound ?? ClosedSceneBound(count: 0), keeper.settings.now())
    let over = closedSessions.enumerated().filter { place, session in
      place >= bound.count
        || session.closedAt.map { now.timeIntervalSince($0) > bound.age } ?? false
    }
    try await discard(over.map(\.element).filter { $0.state == .closed })
  }
}

extension RestorationError {
  fileprivate static var sceneIsNotConnected: RestorationError {
    RestorationError(
      .notConnected,
      "The scene is not connected, or is being discarded, so it cannot be saved. Connect its session."
    )
  }
}

@available(*, unavailable, message: "a host belongs to the actor of its scenes")
extension SceneHost: Sendable {}
