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
/// quarter of a second, or within two seconds if only a poll can find it; a crash or a
/// SIGKILL loses at most these changes. While the main actor is busy, a change of a value is
/// on disk after a second, and changes of nodes wait.
@MainActor
public enum Restoration {
  /// The keeper between ``begin(_:version:signals:roots:prepare:)`` and ``end(within:)``; nil otherwise.
  public static var keeper: StateKeeper? { session.begun?.keeper }

  /// The report of the restore, or the error that prevented it; nil before the restore.
  ///
  /// A failure says why the stored state could not be read. The app has started with its
  /// defaults then. If the state can be read later, it is restored before the first save,
  /// and this is the report of that restore; if the app has changed something by then, the
  /// save sets the old state aside.
  public static var report: Result<RestorationReport, RestorationError>? {
    session.begun?.latestReport
  }

  /// The report of the last save of the values and nodes of the app, or the error that prevented
  /// the save; nil before the first one.
  ///
  /// The result stays after ``end(within:)``. The windows of a ``SceneHost`` have saves of their
  /// own, see ``SceneHost/autosave(every:polling:clock:isolation:told:)``.
  public static var lastSave: Result<PreservationReport, RestorationError>? { session.lastSave }

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
  public static var problems: [ReportNote] { session.values.allProblems }

  private static var session: RestorationSession { .current }

  /// Restores the app, and saves it from then on.
  ///
  /// Call the method once, before anything reads or sets a ``Restored`` value. An unreadable
  /// state is no error: the app starts with its defaults, and ``report`` says why.
  ///
  /// - Parameters:
  ///   - application: An identifier that is stable for ever, as `org.example.notes`;
  ///     see
  ///     ``StateKeeper/init(application:name:directory:keys:environment:limits:now:)``.
  ///   - version: The version of the app, as `1.4`. Another version tries again what crashed,
  ///     and the last state of the version before is kept.
  ///   - signals: The signals that end the app and before which it is saved; an empty
  ///     set leaves all signals alone. In the midst of the restore they are no crash. See
  ///     ``Autosave/flushOnSignals(_:within:)``.
  ///   - roots: Gives the roots of the trees, such as the windows of the app; asked in
  ///     the restore, in each save, and in polls.
  ///   - prepare: Registers classes with the keeper, and sets its properties, before
  ///     the keeper restores.
  /// - Returns: The keeper, which is also ``keeper``: for a ``SceneHost``, and to save
  ///   now.
  /// - Throws: The errors of `prepare`, and ``RestorationError`` with `alreadyBegun` or
  ///   `invalidName`.
  @discardableResult
  public static func begin(
    _ application: String, version: String? = nil,
    signals: Set<EndSignal> = Set(EndSignal.allCases),
    roots: @escaping @MainActor () -> [any RestorableNode] = { [] },
    prepare: (StateKeeper) throws -> Void = { _ in }
  ) async throws -> StateKeeper {
    let begun = try session.begin(application, version, prepare, roots)
    begun.hold(signals)
    await begun.restore(.waiting)
    return begun.follow(signals)
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
  ///     ``report`` is a failure, and a save replaces nothing stored before it has set
  ///     it aside.
  ///   - roots: Gives the roots of the trees.
  ///   - prepare: Registers classes with the keeper, and sets its properties.
  /// - Returns: The keeper, which is also ``keeper``.
  /// - Throws: As ``begin(_:version:signals:roots:prepare:)``.
  @discardableResult
  public static func beginNow(
    _ application: String, version: String? = nil,
    signals: Set<EndSignal> = Set(EndSignal.allCases),
    within limit: Duration = .seconds(30),
    roots: @escaping @MainActor () -> [any RestorableNode] = { [] },
    prepare: (StateKeeper) throws -> Void = { _ in }
  ) throws -> StateKeeper {
    let begun = try session.begin(application, version, prepare, roots)
    begun.hold(signals)
    let calls = FileCalls.blocking(until: .now + limit.bounded)
    Blocking.run { await begun.restore(calls) }
    return begun.follow(signals)
  }

  /// Stores the unsaved changes, and lets the state go.
  ///
  /// Values that are set after this are not stored.
  ///
  /// - Parameter limit: How long the call waits at most for the changes to be stored.
  /// - Returns: Whether all that the app has is stored; false if nothing has begun. If a
  ///   value cannot be stored, the value is false, ``problems`` says why, and the other
  ///   values are stored.
  @discardableResult
  public static func end(within limit: Duration = .seconds(5)) async -> Bool {
    guard let begun = session.begun else { return false }
    begun.beginEnd()
    let isStored = await begun.flush(within: limit)
    session.end()
    session.values.end()
    await begun.keeper.close()
    return isStored
  }

  /// Stores the unsaved changes and lets the state go, and blocks the thread until
  /// then: for toolkits that call `exit`.
  ///
  /// The end of the process by `exit`, or by a return from `main`, does this by itself.
  /// An `exit` on another thread waits one second for the main thread. If the main
  /// thread is busy for longer, or not all can be stored, ``Restored`` values alone are
  /// stored, of states that no machines share.
  ///
  /// - Parameter limit: How long the call waits at most.
  /// - Returns: Whether all that the app has is stored, as of ``end(within:)``.
  @discardableResult
  public static func endNow(within limit: Duration = .seconds(2)) -> Bool {
    guard let begun = session.begun else { return false }
    begun.beginEnd()
    let end = ContinuousClock.now + limit.bounded
    session.begun = nil
    // Nodes may set values when they are asked, and these are stored.
    defer {
      session.end()
      session.values.end()
    }
    if begun.endNow(within: limit) { return true }
    // As in a restore, or if a window cannot be stored.
    if session.isOfProcess, !begun.keeper.isDelegateGone {
      // The keeper may have no other owner.
      withExtendedLifetime(begun) {
        ValuesAtExit.store(within: ContinuousClock.now.duration(to: end))
      }
    }
    return false
  }

  /// Removes the value of a key, which is then the value of its declaration.
  ///
  /// - Parameter key: The key; of the app, or of the scene within ``scope(_:_:)``.
  public static func removeValue(forKey key: String) {
    (ValueStore.scope ?? session.values).remove(key)
  }
}

extension RestorationSession {
  @MainActor
  fileprivate func end() {
    begun = nil
    if isOfProcess { ValuesAtExit.end() }
  }

  /// Makes the keeper of an app.
  @MainActor
  fileprivate func begin(
    _ application: String, _ version: String?, _ prepare: (StateKeeper) throws -> Void,
    _ roots: @escaping @MainActor () -> [any RestorableNode]
  ) throws -> BegunRestoration {
    guard begun == nil else {
      throw RestorationError(
        .alreadyBegun, "Restoration.begin was called before. Call it once, at the start of the app."
      )
    }
    let keeper = try place.makeKeeper(application, version)
    keeper.keepsHosts = true
    if isOfProcess { ValuesAtExit.begin() }
    keeper.engine.setValues(values)
    values.begin()
    keeper.engine.told = { [weak self] saved in self?.lastSave = saved }
    values.listenToChanges { [signal = keeper.engine.signal] in signal.tell() }
    try prepare(keeper)
    let begun = BegunRestoration(keeper, roots)
    self.begun = begun
    if isOfProcess { ExitHook.set() }
    return begun
  }
}

/// An app between its begin and its end.
@MainActor
final class BegunRestoration {
  let keeper: StateKeeper
  let roots: @MainActor () -> [any RestorableNode]
  var report: Result<RestorationReport, RestorationError>?
  private(set) var autosave: Autosave?

  /// The report of the restore, or of the one that came after it, since it had failed.
  var latestReport: Result<RestorationReport, RestorationError>? {
    keeper.engine.found.lateReport.map { .success($0) } ?? report
  }

  init(_ keeper: StateKeeper, _ roots: @escaping @MainActor () -> [any RestorableNode]) {
    self.keeper = keeper
    self.roots = roots
  }

  /// Holds signals until ``follow(_:)``: a signal in the midst of the restore is no crash.
  func hold(_ signals: Set<EndSignal>) {
    guard !signals.isEmpty else { return }
    // Nothing has changed yet that could be stored.
    EndSignals.add(ObjectIdentifier(self), for: signals, within: .zero) { $0(true) }
  }

  /// Restores, and keeps the report or the error.
  func restore(_ calls: FileCalls) async {
    do throws(RestorationError) {
      report = .success(try await keeper.restore(into: keeper.engine.checked(roots()), calls))
    } catch {
      report = .failure(error)
    }
  }

  /// Lets the last save find mistakes that only the whole of a launch can show.
  func beginEnd() {
    guard Problems.isDebugBuild, Problems.isHeard else { return }
    keeper.checksAllContents = true
    keeper.engine.values?.noteUnread()
  }

  /// Begins the autosave.
  func follow(_ signals: Set<EndSignal>) -> StateKeeper {
    keeper.endSignals = signals
    autosave = keeper.autosave(roots: roots)
    EndSignals.remove(ObjectIdentifier(self))
    return keeper
  }

  /// Stores the unsaved changes, and blocks the thread meanwhile.
  func endNow(within limit: Duration) -> Bool {
    let end = ContinuousClock.now + limit
    var isStored = true
    for endNow in keeper.endsOfHosts {
      isStored = endNow(max(.zero, ContinuousClock.now.duration(to: end))) && isStored
    }
    let rest = max(.zero, ContinuousClock.now.duration(to: end))
    return keeper.endNow(within: rest) && isStored
  }

  /// Stores the unsaved changes of the app and of its windows.
  func flush(within limit: Duration) async -> Bool {
    var isStored = await autosave?.flush(within: limit) ?? false
    for turns in keeper.besides.compactMap({ $0() }) {
      isStored = await turns.flush(within: limit) && isStored
    }
    return isStored
  }
}
