package import RestorationFoundation
internal import ArchiveCodec

/// Restores an app at its start, and saves it by itself until its end.
///
///     @main @MainActor
///     struct Notes {
///       @Restored("draft") static var draft = ""
///
///       static func main() async throws {
///         try await Restoration.begin("org.example.notes")
///         // … the app …
///         await Restoration.end()
///       }
///     }
///
/// ``begin(_:version:signals:roots:prepare:)`` makes a ``StateKeeper``, restores with it, and
/// begins its autosave. Nobody has to hold anything. A change is on disk within a
/// quarter of a second, or within two seconds if its object does not say when it changes; a
/// crash or a SIGKILL loses at most these changes. While the main actor is busy, changes wait.
@MainActor
public enum Restoration {
  /// The keeper between ``begin(_:version:signals:roots:prepare:)`` and ``end(within:)``; nil otherwise.
  public static var keeper: StateKeeper? { session.keeper }

  /// The report of the restore, or the error that prevented it; nil before the restore.
  ///
  /// A failure says why the stored state could not be read. The app has started with its
  /// defaults then, and the first save keeps the old state.
  public static var report: Result<RestorationReport, RestorationError>? {
    keeper == nil ? nil : session.last.restore
  }

  /// The report of the last save, or the error that prevented the save; nil before the first one.
  ///
  /// The result stays after ``end(within:)``.
  public static var lastSave: Result<PreservationReport, RestorationError>? { session.last.save }

  /// Takes each problem of a restore, of a save or of a value, in place of stderr.
  ///
  /// A debug build prints each problem once to stderr, in a line with what is wrong, where,
  /// and what to do; a release build prints nothing, nor does a process that runs tests.
  ///
  /// With a closure nothing is printed, and the closure is called with the line, in every
  /// build and in tests, too. It may be called on any thread. Set it before
  /// ``begin(_:version:signals:roots:prepare:)``; an empty closure makes the library silent.
  /// An app that draws on the whole terminal needs one, which shows the lines or keeps them.
  ///
  ///     Restoration.onProblem = { print("A problem:", $0) }
  ///
  /// A line has names that the app has given, such as keys and classes, and of an error
  /// the description that its type gives; a line has no values.
  nonisolated public static var onProblem: (@Sendable (String) -> Void)? {
    get { Problems.closure }
    set { Problems.closure = newValue }
  }

  /// The problems of this launch that belong to no node, as those with the use of ``Restored``
  /// values; observation sees them change.
  ///
  /// A value or a field that cannot be stored is here as soon as a save has found it.
  /// The report of the next save has these problems, too.
  public static var problems: [ReportNote] { session.values.problems }

  private static var session: RestorationSession { .current }

  /// Restores the app, and saves it from then on.
  ///
  /// Call the method once. An unreadable state is no error: the app starts with its defaults, and
  /// ``report`` says why.
  ///
  /// - Parameters:
  ///   - application: An identifier that is stable for ever, as `org.example.notes`;
  ///     see
  ///     ``StateKeeper/init(application:name:directory:keys:environment:limits:now:)``.
  ///   - version: The version of the app, as `1.4`. Another version tries again what crashed,
  ///     and the last state of the version before is kept.
  ///   - signals: The signals that end the app and before which it is saved: SIGTERM, SIGINT and SIGHUP
  ///     if nil, or some of them; all others are left alone. In the midst of the restore
  ///     they are no crash. See ``Autosave/flushOnSignals(_:within:)``.
  ///   - roots: Gives the roots of the trees, such as the windows of the app; asked in
  ///     the restore and in each save.
  ///   - prepare: Registers classes with the keeper, and sets its properties, before
  ///     the keeper restores.
  /// - Returns: The keeper, which is also ``keeper``.
  /// - Throws: The errors of `prepare`, and ``RestorationError`` with `alreadyBegun` or
  ///   `invalidName`.
  @discardableResult
  public static func begin(
    _ application: String, version: String? = nil,
    signals: Set<Int32>? = nil,
    roots: @escaping @MainActor () -> [any RestorableNode] = { [] },
    prepare: (StateKeeper) throws -> Void = { _ in }
  ) async throws -> StateKeeper {
    let keeper = try make(application, version, signals, prepare)
    _ = try? await keeper.restore(roots)
    keeper.autosave(roots: roots)
    return keeper
  }

  /// Restores the app before it returns, and saves it from then on: for toolkits whose `main` is
  /// synchronous and never returns.
  ///
  ///     static func main() throws {
  ///       try Restoration.beginNow("org.example.notes")
  ///       NotesApp.main()
  ///     }
  ///
  /// The method does the same as ``begin(_:version:signals:roots:prepare:)``, and blocks the main
  /// thread until the state is read. Other threads read the key and the file. The autosave
  /// needs a main thread that runs the main queue, as the main threads of toolkits do.
  ///
  /// - Parameters:
  ///   - application: An identifier that is stable for ever.
  ///   - version: The version of the app.
  ///   - signals: The signals that end the app and before which it is saved.
  ///   - limit: How long the call waits at most for the key and the file. After that
  ///     ``report`` is a failure, and a save keeps what is stored before it replaces that.
  ///   - roots: Gives the roots of the trees.
  ///   - prepare: Registers classes with the keeper, and sets its properties.
  /// - Returns: The keeper, which is also ``keeper``.
  /// - Throws: As ``begin(_:version:signals:roots:prepare:)``.
  @discardableResult
  public static func beginNow(
    _ application: String, version: String? = nil,
    signals: Set<Int32>? = nil,
    within limit: Duration = .seconds(30),
    roots: @escaping @MainActor () -> [any RestorableNode] = { [] },
    prepare: (StateKeeper) throws -> Void = { _ in }
  ) throws -> StateKeeper {
    let keeper = try make(application, version, signals, prepare)
    keeper.blocked(within: limit, isolation: MainActor.shared) {
      _ = try? await keeper.restore(roots)
    }
    keeper.autosave(roots: roots)
    return keeper
  }

  /// Stores the unsaved changes, and lets the state go.
  ///
  /// - Parameter limit: How long the call waits at most for the changes to be stored.
  /// - Returns: Whether all that the app has is stored; false if nothing has begun.
  @discardableResult
  public static func end(within limit: Duration = .seconds(5)) async -> Bool {
    guard let keeper else { return false }
    let isStored = await keeper.autosave?.turns.flush(within: limit) ?? false
    session.values.noteRunning(false)
    session.keeper = nil
    try? await keeper.inFile { (queue) throws(ArchiveError) in try queue.file.noteEnd() }
    await keeper.close()
    return isStored
  }

  /// Stores the unsaved changes and lets the state go, and blocks the thread until
  /// then: for toolkits that call `exit`.
  ///
  /// The end of the process by `exit`, or by a return from `main`, does this by itself.
  /// An `exit` on another thread waits one second for the main thread.
  ///
  /// - Parameter limit: How long the call waits at most.
  /// - Returns: Whether all that the app has is stored, as of ``end(within:)``.
  @discardableResult
  public static func endNow(within limit: Duration = .seconds(2)) -> Bool {
    guard let keeper else { return false }
    let isStored = keeper.endNow(within: limit)
    // A gate that says no says so of the values, too.
    if !isStored, session.isOfProcess, keeper.findings.lastSave != .success(.declined) {
      ValuesAtExit.store(within: limit)
    }
    session.values.noteRunning(false)
    session.keeper = nil
    return isStored
  }

  /// Removes the value of a key, which is then the value of its declaration.
  ///
  /// - Parameter key: The key; of the app, or of the window within ``scope(_:_:)``.
  public static func removeValue(forKey key: String) {
    let scope = ValueScope.current ?? .ofApp
    scope.table.remove(scope.name(key))
  }

  /// Makes the keeper of an app, and holds signals until the end of the app.
  private static func make(
    _ application: String, _ version: String?, _ signals: Set<Int32>?,
    _ prepare: (StateKeeper) throws -> Void
  ) throws -> StateKeeper {
    guard session.keeper == nil else {
      throw RestorationError(
        .alreadyBegun, "Restoration.begin was called before. Call it once, at the start of the app."
      )
    }
    let keeper = try session.makeKeeper(application, version)
    session.last.restore = nil
    keeper.settings.last = session.last
    keeper.use(session.values)
    try prepare(keeper)
    session.values.noteRunning(true)
    session.keeper = keeper
    if session.isOfProcess { ExitHook.set() }
    // Before there is an autosave, nothing has changed that could be stored.
    EndSignals.add(ObjectIdentifier(keeper), for: signals, within: .seconds(5)) {
      [owner = keeper.owner] in owner.autosave
    }
    return keeper
  }
}

/// The app that ``Restoration`` has begun.
///
/// A process has one session. A test can have one of its own for the code that runs in its task.
package final class RestorationSession: Sendable {
  let makeKeeper: @Sendable (_ application: String, _ version: String?) throws -> StateKeeper
  /// The values of the app.
  let values = ValueTable()
  /// The problems of values that were seen.
  package var problems: [ReportNote] { values.problems }
  /// The keeper between the begin of the app and its end.
  @MainActor var keeper: StateKeeper? {
    didSet { if let oldValue { EndSignals.remove(ObjectIdentifier(oldValue)) } }
  }
  /// What the keeper has reported, also when the app has ended its restoration.
  @MainActor let last = LastReports()

  /// A launch of an app.
  ///
  /// By default, the directory and the keys are those of apps; `heard` is told the problems of each report.
  package init(
    directory: (any StateDirectory)? = nil, keys: (any KeyProvider)? = nil,
    environment: ApplicationEnvironment = ApplicationEnvironment(),
    hearing heard: (@Sendable ([String]) -> Void)? = nil,
    now: @escaping @Sendable () -> Date = { Date() }
  ) {
    makeKeeper = { application, version in
      var environment = environment
      if let version { environment.applicationVersion = version }
      let keeper = try StateKeeper(
        application: application, directory: directory, keys: keys, environment: environment,
        now: now)
      keeper.settings.heard = heard
      return keeper
    }
  }

  static let ofProcess = RestorationSession()

  @TaskLocal private static var ofTest: RestorationSession?

  static var current: RestorationSession { ofTest ?? ofProcess }

  /// Whether the session ends with the process.
  var isOfProcess: Bool { self === Self.ofProcess }

  /// Runs a part of a test in this session.
  package func run<Result>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
  ) async rethrows -> Result {
    try await Self.$ofTest.withValue(self) { try await body() }
  }
}
