public import RestorationKit
internal import Synchronization

public import RestorationFoundation

/// Restarts an app within a test, without a process of its own.
///
/// A restart saves, ends the process as a kill would, and restores into the root that a
/// closure makes, with a new keeper. The state is in memory, and the key is made for the
/// tester and kept nowhere. A problem in a report fails the test, unless the tester
/// ``allowsProblems``.
///
///     let screen = NoteScreen()
///     screen.draft = "Milk"
///     let again = try await RestorationTester().restart(screen) { NoteScreen() }
///     #expect(again.draft == "Milk")
///
/// A tester belongs to the actor that made it, as the nodes do.
public final class RestorationTester {
  /// The identifier of the app.
  public let application: String

  /// The directory of the states.
  public private(set) var directory: any StateDirectory

  /// The facts that the next launch has, such as the version of the app.
  public var environment = ApplicationEnvironment(userInterfaceIdiom: "test", systemVersion: "test")

  /// Whether the next launches may have problems, for a test that looks at them; false by
  /// default.
  ///
  /// While it is false, each save asks all nodes, so that it finds a change that a node has
  /// not announced. The tester throws ``RestorationTestFailure`` with `problems`: when a
  /// restart finds a problem, when ``launch(isolation:_:)`` ends, and when the next launch
  /// begins after one whose keeper or host the test has called itself.
  public var allowsProblems = false

  /// Prepares each new keeper: registers classes and sets bounds.
  public var prepareKeeper: ((StateKeeper) throws -> Void)?

  /// Makes the delegate of each new keeper, which lives as long as the launch.
  public var makeDelegate: (() throws -> any StateDelegate)?

  /// The keeper of the launch that is running; nil if none is.
  public private(set) var keeper: StateKeeper?

  /// Prepares each new host: registers configurations and declares activity types.
  public var prepareHost: ((SceneHost) throws -> Void)?

  /// Makes the delegate of each new host, which lives as long as the launch.
  public var makeHostDelegate: (() throws -> any SceneHostDelegate)?

  /// The host of the launch that is running; nil if it has none.
  public private(set) var host: SceneHost?
  private var hostDelegate: (any SceneHostDelegate)?

  /// The report of the save of the last ``restart(_:_:)-(Root,_)``; nil before the first.
  public private(set) var saved: PreservationReport?

  /// The report of the restore of the last ``restart(_:_:)-(Root,_)``; nil before the first.
  public private(set) var restored: RestorationReport?

  private let clock: TestClock
  private var found = FoundProblems()
  private var keys: (any KeyProvider)?
  private var process: ProcessDirectory?
  private var delegate: (any StateDelegate)?

  /// Creates a tester of an app that was never launched.
  ///
  /// - Parameters:
  ///   - application: The identifier of the app.
  ///   - directory: The directory of the states; in memory if nil.
  ///   - keys: The provider of the key; a new key if nil.
  ///   - date: The time of the first launch; always the same by default.
  ///   - prepareKeeper: Prepares each new keeper.
  public init(
    application: String = "org.example.test", directory: (any StateDirectory)? = nil,
    keys: (any KeyProvider)? = nil,
    at date: Date = Date(timeIntervalSinceReferenceDate: 800_000_000),
    prepareKeeper: ((StateKeeper) throws -> Void)? = nil
  ) {
    self.application = application
    self.directory = directory ?? MemoryStateDirectory()
    self.keys = keys
    self.prepareKeeper = prepareKeeper
    clock = TestClock(date)
  }

  // MARK: The clock

  /// The time that keepers of this tester see.
  public var now: Date { clock.now }

  /// Lets time pass, for states that become too old, and for what is kept for some time.
  ///
  /// - Parameter duration: How long; less than zero sets the clock back.
  public func advance(by duration: Duration) {
    clock.now += duration / .seconds(1)
  }

  // MARK: Launches

  /// Ends the launch that is running as a kill would, and begins another one.
  ///
  /// The new launch has restored nothing yet; the stored state is still there.
  ///
  /// - Returns: The keeper of the new launch, which is also ``keeper``.
  /// - Throws: ``/RestorationKit/RestorationError`` with `invalidName`, the errors of
  ///   the tester's closures, or an error if no key can be made; ``RestorationTestFailure``
  ///   with `problems` if the launch that was running had some.
  @discardableResult
  public func launch() throws -> StateKeeper {
    kill()
    try failForProblems("The launch before")
    // A save of the launch before that still goes on tells nobody.
    found = FoundProblems()
    let keys = try keys ?? .ephemeral()
    self.keys = keys
    let process = ProcessDirectory(directory)
    let clock = clock
    let keeper = try StateKeeper(
      application: application, directory: process, keys: keys, environment: environment,
      now: { clock.now })
    if !allowsProblems { keeper.hearProblems(found.add) }
    try prepareKeeper?(keeper)
    if let delegate = try makeDelegate?() {
      keeper.delegate = delegate
      self.delegate = delegate
    }
    (self.process, self.keeper) = (process, keeper)
    return keeper
  }

  /// Ends the launch that is running as a kill would, and runs a part of a test as an app that
  /// is launched.
  ///
  ///     try await tester.launch {
  ///       try await Restoration.begin("org.example.notes")
  ///       Notes.draft = "Milk"
  ///       await Restoration.end()
  ///     }
  ///     try await tester.launch {
  ///       try await Restoration.begin("org.example.notes")
  ///       #expect(Notes.draft == "Milk")
  ///     }
  ///
  /// Within the closure, and in tasks that it begins, `Restoration` and all
  /// ``/RestorationKit/Restored`` values are those of this launch: they begin without
  /// any value, and are stored in the tester's directory. Several testers may do so at
  /// once. Code that runs elsewhere, as in a detached task or on a dispatch queue, has
  /// the values of the process.
  ///
  /// ``prepareKeeper`` and ``makeDelegate`` do not count: the app prepares its keeper itself.
  ///
  /// - Parameters:
  ///   - isolation: The actor of the app.
  ///   - body: The app, and the expectations of the test.
  /// - Returns: The result of the closure. Without `Restoration.end()` the launch ends
  ///   as by a kill.
  /// - Throws: The error of the closure, or an error if no key can be made;
  ///   ``RestorationTestFailure`` with `problems`.
  public func launch<Result>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
  ) async throws -> Result {
    kill()
    try failForProblems("The launch before")
    // A save of the launch before that still goes on tells nobody.
    found = FoundProblems()
    let keys = try keys ?? .ephemeral()
    self.keys = keys
    let process = ProcessDirectory(directory)
    self.process = process
    let clock = clock
    let session = RestorationSession(
      directory: process, keys: keys, environment: environment,
      hearing: allowsProblems ? nil : found.add, now: { clock.now })
    defer { if self.process === process { kill() } }
    do {
      let result = try await session.run { try await body() }
      if !allowsProblems { found.add(session.problems.map(\.description)) }
      try failForProblems("The launch")
      return result
    } catch {
      // The error of the test says more than the problems before it.
      _ = found.take()
      throw error
    }
  }

  /// Ends the launch that is running as a kill would.
  ///
  /// The keeper, the host and their unfinished saves no longer reach the store. Call
  /// the method in a hook of a node to end the process in the midst of a save or a
  /// restore; the call that was under way may throw then.
  public func kill() {
    process?.end()
    (process, keeper, delegate) = (nil, nil, nil)
    (host, hostDelegate) = (nil, nil)
  }

  /// Throws the problems that were found and not thrown yet.
  func failForProblems(_ subject: String) throws(RestorationTestFailure) {
    let problems = found.take()
    guard !allowsProblems, !problems.isEmpty else { return }
    throw RestorationTestFailure(
      .problems, subject,
      expected: "No save and no restore has a problem; set allowsProblems where one is meant.",
      seen: problems.joined(separator: "\n"))
  }

  /// The tester with its states in another directory, before its first launch.
  func over(_ directory: any StateDirectory, keys: any KeyProvider) -> RestorationTester {
    kill()
    (self.directory, self.keys) = (directory, keys)
    return self
  }

  // MARK: Restarts of trees of nodes

  /// Saves a root, ends the process, and restores into a new root.
  ///
  /// The ``keeper`` of the running launch saves, so a root that came from one restart
  /// can go through the next. If no launch is running, one begins, and restores into no
  /// root before it saves. In a directory that has a state already, call ``launch()``
  /// and restore yourself before.
  ///
  /// - Parameters:
  ///   - root: The root node, in the state that the user sees.
  ///   - make: Makes the root that the app makes at launch: another one.
  /// - Returns: The new root. ``saved`` and ``restored`` are the reports of the save and the
  ///   restore.
  /// - Throws: ``/RestorationKit/RestorationError`` if the state cannot be saved or restored;
  ///   ``RestorationTestFailure`` with `problems` if a report has some, or with `sameRoot`;
  ///   the errors of the closures.
  @discardableResult
  public func restart<Root: RestorableNode>(
    _ root: Root, _ make: () async throws -> Root
  ) async throws -> Root {
    try await save([root])
    let keeper = try launch()
    let new = try await make()
    guard new !== root else { throw RestorationTestFailure.sameRoot(Root.self) }
    restored = try await keeper.restore(into: [new])
    try failForProblems("The restore")
    return new
  }

  /// Saves several roots, ends the process, and restores into new roots.
  ///
  /// As ``restart(_:_:)-(Root,_)``.
  ///
  /// - Parameters:
  ///   - roots: The root nodes, in the state that the user sees.
  ///   - make: Makes the roots that the app makes at launch: other ones.
  /// - Returns: The new roots.
  /// - Throws: As for one root.
  @discardableResult
  public func restart(
    _ roots: [any RestorableNode], _ make: () async throws -> [any RestorableNode]
  ) async throws -> [any RestorableNode] {
    try await save(roots)
    let keeper = try launch()
    let new = try await make()
    if let same = new.first(where: { new in roots.contains { $0 === new } }) {
      throw RestorationTestFailure.sameRoot(type(of: same))
    }
    restored = try await keeper.restore(into: new)
    try failForProblems("The restore")
    return new
  }

  private func save(_ roots: [any RestorableNode]) async throws {
    if keeper == nil { _ = try await launch().restore() }
    saved = try await keeper?.save(roots)
    try failForProblems("The save")
  }

  // MARK: Restarts of windows

  /// Ends the launch that is running as a kill would, begins another one, and connects
  /// all windows that were saved.
  ///
  /// - Returns: The host of the new launch, which is also ``host``.
  /// - Throws: As ``launch()``, ``/RestorationKit/SceneHost/launch()`` and
  ///   ``/RestorationKit/SceneHost/connect(_:activity:)``; unless the tester allows problems,
  ///   also the error of a window whose state cannot be read. The first of these errors
  ///   is thrown, after all windows were tried; if there is none,
  ///   ``RestorationTestFailure`` with `problems` if a report has some.
  @discardableResult
  public func launchHost() async throws -> SceneHost {
    let host = SceneHost(try launch())
    self.host = host
    if let delegate = try makeHostDelegate?() {
      host.delegate = delegate
      hostDelegate = delegate
    }
    try prepareHost?(host)
    try await host.launch()
    let failures = await host.restoreScenes()
    for session in host.openSessions {
      if let failure = failures[session] { throw failure }
    }
    let unread = host.unreadSessions.sorted { $0.key < $1.key }
    if !allowsProblems, let failure = unread.first?.value { throw failure }
    try failForProblems("The restore")
    return host
  }

  /// Saves all windows of a host, ends the process, and brings all windows back.
  ///
  /// - Parameter host: The ``host`` of the running launch.
  /// - Returns: The new host, and the reports of every window.
  /// - Throws: ``/RestorationKit/RestorationError`` if a window cannot be saved or
  ///   restored; ``RestorationTestFailure`` with `otherHost`, or, unless the tester allows
  ///   problems, with `problems` if a report has some, or with `missingWindow` for a window
  ///   that is restorable and did not come back; the errors of the closures.
  public func restart(_ host: SceneHost) async throws -> HostRestart {
    guard host === self.host else { throw RestorationTestFailure.otherHost }
    var saved: [String: PreservationReport] = [:]
    for scene in host.connectedScenes {
      saved[scene.session.persistentIdentifier] = try await host.save(scene)
    }
    try await host.saveSessions()
    try failForProblems("The save")
    let open = host.openSessions.filter(\.isRestorable).map(\.persistentIdentifier)
    let again = try await launchHost()
    let back = Set(again.openSessions.map(\.persistentIdentifier))
    if !allowsProblems, let missing = open.first(where: { !back.contains($0) }) {
      throw RestorationTestFailure.missingWindow(missing)
    }
    return HostRestart(host: again, saved: saved)
  }
}

@available(*, unavailable, message: "a tester belongs to the actor of its nodes")
extension RestorationTester: Sendable {}

/// The problems that nobody has been told of; an app may save on any thread.
private final class FoundProblems: Sendable {
  private let problems = Mutex<[String]>([])

  @Sendable func add(_ found: [String]) {
    problems.withLock { problems in
      problems += found.filter { !problems.contains($0) }
    }
  }

  func take() -> [String] {
    problems.withLock { problems in
      defer { problems = [] }
      return problems
    }
  }
}

/// The clock of the keepers.
private final class TestClock: Sendable {
  private let time: Mutex<Date>

  init(_ now: Date) {
    time = Mutex(now)
  }

  var now: Date {
    get { time.withLock { $0 } }
    set { time.withLock { $0 = newValue } }
  }
}

extension RestorationTestFailure {
  fileprivate static func sameRoot(_ type: Any.Type) -> RestorationTestFailure {
    RestorationTestFailure(
      .sameRoot, "\(type)", expected: "The closure makes another root, as a new process does.",
      seen: "It returned the root that was saved.")
  }

  fileprivate static var otherHost: RestorationTestFailure {
    RestorationTestFailure(
      .otherHost, "SceneHost", expected: "The host comes from launchHost() of this tester.",
      seen: "It is another one, or its launch has ended.")
  }

  fileprivate static func missingWindow(_ identifier: String) -> RestorationTestFailure {
    RestorationTestFailure(
      .missingWindow, identifier, expected: "A restorable window comes back.",
      seen: "No session has its identifier after the restart.")
  }
}
