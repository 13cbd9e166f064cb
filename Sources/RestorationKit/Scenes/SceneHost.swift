#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif
internal import ArchiveCodec

/// Lets the windows of an app come and go, each with a state of its own.
///
/// Where no system drives scenes, the app or its toolkit tells the host what
/// happens to windows, and the host calls the delegates in the order of
/// <doc:working-with-scenes>. It belongs to the actor that made it.
///
///     let host = SceneHost(keeper)
///     host.register(SceneConfiguration { CatalogScene(catalog) })
///     try await host.launch()
///     for session in host.openSessions { try await host.connect(session) }
///     if host.connectedScenes.isEmpty { try await host.open() }
public final class SceneHost {
  /// Answers where scenes come and go; not kept alive.
  public weak var delegate: (any SceneHostDelegate)?

  /// The types of activities that are stored; others are an error in the report.
  public var declaredActivityTypes: Set<String> = []

  /// The bytes over which an activity is reported as large.
  public var activityByteLimit = 1 << 16

  /// Told of every call that the host makes to delegates, in order.
  public var trace: ((String) -> Void)?

  /// All sessions, most recently used first.
  public private(set) var openSessions: [SceneSession] = []

  /// The scenes that are there now, in the order of their sessions.
  public var connectedScenes: [Scene] { openSessions.compactMap(\.scene) }

  /// Why the app was brought back; known after ``launch(asSession:)``.
  public private(set) var restoreReason = RestoreReason.pristine

  let keeper: StateKeeper
  private let index: SceneIndexFile
  private var configurations: [SceneConfiguration] = []
  private var keepers: [String: StateKeeper] = [:]
  /// A scene lives as long as it is connected.
  private var scenes: [String: Scene] = [:]
  /// Sessions that are being connected, by their identifiers.
  var connections: [String: RestoreUnderWay] = [:]
  private var discarded: [SceneEntry] = []
  private var indexNumber: UInt64 = 0
  private var endedCleanly = false

  /// Creates a host of the scenes of an application.
  ///
  /// - Parameter keeper: Knows the application, its store and its key, and the
  ///   classes of nodes. The states of scenes are stored beside its own.
  public init(_ keeper: StateKeeper) {
    self.keeper = keeper
    index = SceneIndexFile(
      storage: keeper.store.storage(named: "scenes"), keys: keeper.keys,
      context: ArchiveContext([keeper.application, "scenes"]))
  }

  /// Registers how scenes are made; of one role and name the last one counts.
  ///
  /// - Parameter configuration: The configuration.
  public func register(_ configuration: SceneConfiguration) {
    configurations.removeAll {
      $0.role == configuration.role && $0.name == configuration.name
    }
    configurations.append(configuration)
  }

  // MARK: Launching

  /// Reads which scenes there are; call it once, before any other.
  ///
  /// Scenes that their configuration does not restore for this reason are
  /// discarded. The delegate is told of them, and of those that were discarded
  /// while the app did not run, in one call.
  ///
  /// - Parameter asSession: Whether the system brings back all apps.
  /// - Throws: ``RestorationError`` with `archive` if the list cannot be read; it
  ///   is unchanged then.
  public func launch(asSession: Bool = false) async throws(RestorationError) {
    let stored: SceneIndex?
    do {
      stored = try await index.read()
    } catch {
      throw RestorationError(.archive, "The list of scenes cannot be read: \(error)")
    }
    restoreReason =
      switch stored {
      case nil: .pristine
      case _? where asSession: .session
      case let stored?: stored.endedCleanly ? .launch : .recover
      }
    openSessions = stored?.scenes.map { SceneSession($0) } ?? []
    let reason = restoreReason
    let unwanted = openSessions.filter { session in
      configuration(of: session).map { $0.restoration[reason] == nil } ?? false
    }
    let gone = (stored?.discarded ?? []).map { SceneSession($0) } + unwanted
    for session in unwanted { try await removeState(of: session) }
    openSessions.removeAll { unwanted.contains($0) }
    discarded = []
    try await writeIndex()
    if !gone.isEmpty { delegate?.host(self, didDiscardSceneSessions: gone) }
  }

  /// Says that the app is about to end properly.
  ///
  /// - Throws: ``RestorationError`` with `archive` if that cannot be stored.
  public func terminate() async throws(RestorationError) {
    endedCleanly = true
    try await writeIndex()
  }

  /// Discards scenes of an app that does not run, as a window switcher may do.
  ///
  /// - Parameter identifiers: The persistent identifiers of their sessions.
  /// - Throws: ``RestorationError`` with `archive`.
  public func discardWhileNotRunning(_ identifiers: [String]) async throws(RestorationError) {
    do {
      guard var stored = try await index.read() else { return }
      let gone = stored.scenes.filter { identifiers.contains($0.identifier) }
      for entry in gone { try await removeState(of: SceneSession(entry)) }
      stored.scenes.removeAll { gone.contains($0) }
      stored.discarded += gone
      indexNumber += 1
      try await index.write(stored, number: indexNumber)
    } catch let error as RestorationError {
      throw error
    } catch {
      throw RestorationError(.archive, "The list of scenes cannot be changed: \(error)")
    }
  }

  /// Stores what was set on sessions that have no scene now.
  ///
  /// - Throws: ``RestorationError`` with `archive`.
  public func saveSessions() async throws(RestorationError) {
    try await writeIndex()
  }

  // MARK: Sessions

  func configuration(of session: SceneSession) -> SceneConfiguration? {
    let ofRole = configurations.filter { $0.role == session.role }
    guard let name = session.configurationName else { return ofRole.first }
    return ofRole.first { $0.name == name }
  }

  /// What makes the scene of a session.
  ///
  /// - Throws: `noConfiguration` if there is none, or one of another role.
  func chosenConfiguration(
    for session: SceneSession, _ options: SceneConnectionOptions
  ) throws(RestorationError) -> SceneConfiguration {
    let chosen = delegate?.host(self, configurationForConnecting: session, options: options)
    guard let chosen = chosen ?? configuration(of: session) else {
      throw RestorationError(
        .noConfiguration,
        "No configuration is registered for the role “\(session.role.rawValue)”.")
    }
    guard chosen.role == session.role else {
      throw RestorationError(
        .noConfiguration,
        "The configuration is for the role “\(chosen.role.rawValue)”,"
          + " and the session for “\(session.role.rawValue)”.")
    }
    return chosen
  }

  func addSession(_ configuration: SceneConfiguration) -> SceneSession {
    let session = SceneSession(
      SceneEntry(
        identifier: UUID().uuidString.lowercased(), role: configuration.role,
        configurationName: configuration.name),
      content: SceneContent())
    openSessions.insert(session, at: 0)
    return session
  }

  func defaultConfiguration(_ role: SceneRole, _ name: String?) -> SceneConfiguration? {
    configurations.first { $0.role == role && (name == nil || $0.name == name) }
  }

  /// The first configuration that says that it handles it, else the first that
  /// says nothing.
  func configurationName(handling content: [String]) -> String? {
    (configurations.first { $0.handlesExternalEvents?.matches(content) ?? false }
      ?? configurations.first { $0.handlesExternalEvents == nil })?.name
  }

  func forget(_ session: SceneSession) {
    openSessions.removeAll { $0 == session }
  }

  func moveToFront(_ session: SceneSession) {
    openSessions.removeAll { $0 == session }
    openSessions.insert(session, at: 0)
  }

  func keeper(of session: SceneSession) -> StateKeeper {
    let identifier = session.persistentIdentifier
    if let known = keepers[identifier] { return known }
    let made = StateKeeper(sharing: keeper, name: "scene-\(identifier)")
    keepers[identifier] = made
    return made
  }

  func setScene(_ scene: Scene?, of session: SceneSession) {
    scenes[session.persistentIdentifier] = scene
    session.scene = scene
  }

  /// Takes a session out of the list; its file and its data key go with it.
  func removeSession(_ session: SceneSession) async throws(RestorationError) {
    openSessions.removeAll { $0 == session }
    try await removeState(of: session)
    try await writeIndex()
    trace?("didDiscardSceneSessions")
    delegate?.host(self, didDiscardSceneSessions: [session])
  }

  private func removeState(of session: SceneSession) async throws(RestorationError) {
    try await keeper(of: session).discardState()
    keepers[session.persistentIdentifier] = nil
  }

  /// Stores the list of sessions.
  func writeIndex() async throws(RestorationError) {
    indexNumber += 1
    let list = SceneIndex(
      scenes: openSessions.map(\.entry), discarded: discarded, endedCleanly: endedCleanly)
    do {
      try await index.write(list, number: indexNumber)
    } catch {
      throw RestorationError(.archive, "The list of scenes cannot be stored: \(error)")
    }
  }
}

@available(*, unavailable, message: "a host belongs to the actor of its scenes")
extension SceneHost: Sendable {}
