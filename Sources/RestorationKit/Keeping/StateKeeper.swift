public import ArchiveCodec
public import RestorationFoundation

/// Saves the state of an application's nodes and brings it back.
///
/// A keeper belongs to the actor that made it, as the nodes do. It walks and calls the
/// nodes on that actor; it seals, writes, reads and verifies off it.
///
///     let keeper = try StateKeeper(application: "org.example.catalog")
///     try keeper.register(DetailScreen.self)
///     let restored = try await keeper.restore(into: [window])
///     let saved = try await keeper.save([window])
public final class StateKeeper {
  /// Takes part in saving and restoring; both work without it.
  ///
  /// The keeper does not keep the delegate alive. When the delegate is gone without having
  /// been set to nil, nothing is saved or restored any more, and the reports say so.
  public weak var delegate: (any StateDelegate)? {
    didSet {
      let wasGone = hadDelegate && oldValue == nil
      hadDelegate = delegate != nil
      // While the delegate was gone, nothing was saved or polled, so all changes are still due.
      if wasGone { engine.signal.tell() }
    }
  }

  private var hadDelegate = false

  /// The autosave of the keeper, until ``close()`` or a second one.
  var autosave: HeldAutosave?
  /// The autosaves of the hosts that were made with the keeper, while there are any.
  var besides: [() -> AutosaveTurns?] = []
  /// Ends the hosts as ``SceneHost/endNow(within:isolation:)`` does, each within a time limit.
  var endsOfHosts: [(Duration) -> Bool] = []
  /// Whether hosts of this keeper save by themselves, and live as long as the keeper has its state:
  /// ``Restoration`` has begun it, and nobody has to hold anything.
  var keepsHosts = false
  var keptHosts: [AnyObject] = []
  /// The signals before which the autosaves of the keeper and of its hosts save.
  var endSignals: Set<EndSignal> = []

  /// Whether each save finds the nodes that contain others than before and have not said so.
  package var checksAllContents: Bool {
    get { engine.settings.checksAllContents }
    set { engine.settings.checksAllContents = newValue }
  }

  /// The limits of the records of a state, in saves and in restores.
  ///
  /// A value over a limit makes its node lose its new state, and the report
  /// names the key. A state that was saved with greater limits is not read: the
  /// restore throws, and the next save sets the state aside.
  public var limits: ArchiveLimits { engine.settings.limits }

  /// The rules by which the keeper saves, restores and keeps states.
  ///
  /// A rule holds from the next save or restore on.
  public var policy: StatePolicy {
    get { engine.settings.policy }
    set {
      engine.settings.policy = newValue
      engine.claim.policy = newValue.instances
    }
  }

  /// The name of the state that the keeper has; nil before its first restore or
  /// save and after ``close()``.
  ///
  /// The name is the one that the keeper was made with, or with
  /// ``InstancePolicy/numbered`` the first free name with a number.
  public var stateName: String? { engine.stateName }

  /// Whether states are saved and restored now, and if not, why.
  public var status: RestorationStatus { isDelegateGone ? .delegateGone : engine.status }

  /// The instances that had the states with lower numbers when the keeper took its own.
  public var otherInstances: [OtherInstance] { engine.otherInstances }

  package let engine: StateEngine

  /// Creates a keeper of one state of an application.
  ///
  /// - Parameters:
  ///   - application: An identifier that is stable for ever, as `org.example.catalog`.
  ///     It names the directory, and an archive of one application does not open in
  ///     another.
  ///   - name: The name of the state, for applications with several; where one process
  ///     keeps the states of several users, make the user a part of it. At most 150
  ///     bytes without “/”, not beginning with “.”, with “.scene” nowhere in it, and
  ///     not ending in “.launch”, “.remote” or “~” and digits, and without
  ///     “.aside.” in it.
  ///   - directory: Where the state is stored; the user's state directory if nil.
  ///   - keys: Where the key comes from; a file of mode 0600 in the user's data
  ///     directory if nil.
  ///   - environment: Facts that every save carries. Give the version of the app:
  ///     another version tries elements that crashed again, and keeps the last state of
  ///     the version before.
  ///   - limits: The limits of the records of the state.
  ///   - now: The clock for the time of the save.
  /// - Throws: ``RestorationError`` with `invalidName`.
  public init(
    application: String, name: String = "main",
    directory: (any StateDirectory)? = nil, keys: (any KeyProvider)? = nil,
    environment: ApplicationEnvironment = ApplicationEnvironment(),
    limits: ArchiveLimits = .standard,
    now: @escaping () -> Date = { Date() }
  ) throws(RestorationError) {
    for name in [application, name] {
      guard !name.isEmpty, !name.hasPrefix("."), name.utf8.count <= Self.longestName,
        StateClaim.canNameFile(name)
      else {
        throw RestorationError(
          .invalidName,
          "“\(name)” cannot name a state. Use up to \(Self.longestName) bytes without “/”, not beginning with “.”."
        )
      }
    }
    guard !StateClaim.isBesideState(name), !name.containsBytes(of: StateClaim.sceneSuffix) else {
      throw RestorationError(
        .invalidName,
        "“\(name)” cannot name a state: it must not end in “\(StateClaim.launchSuffix)” or “\(StateClaim.copySuffix)”, or contain “\(StateClaim.sceneSuffix)” or “\(StateClaim.asideMark)”."
      )
    }
    guard !StateClaim.isNumbered(name) else {
      throw RestorationError(
        .invalidName,
        "“\(name)” cannot name a state: with “~” and digits at its end it is that of another instance of the app."
      )
    }
    Problems.noteKeeper()
    let directory = directory ?? FileStateDirectory(application: application)
    let keys = keys ?? FileKeyProvider(application: application)
    engine = StateEngine(
      EngineSettings(
        application: application, directory: directory, keys: keys, environment: environment,
        limits: limits, now: now),
      claim: StateClaim(directory: directory, name: name))
  }

  /// Leaves room for the suffixes that the files of a state add to its name.
  private static let longestName = 150

  /// Discards the stored state, for example when the user quits on purpose.
  ///
  /// The state is removed also if it could not be opened. States that were set aside stay by
  /// default, since an app that discards its state whenever it ends could never put one back; see ``setAsideStates()``. Remove them too where
  /// a user must leave nothing behind; then the states with a number that no instance
  /// has go as well. In a store that machines share these numbered states go only
  /// if the directory takes leases: without one, nobody knows whether an instance on another
  /// machine has them.
  ///
  /// The call waits for the calls before it, also for a store that they wait for: a
  /// store of your own must not wait for this call. What an earlier save stores is
  /// discarded, too. A state that ``endNow(saving:within:isolation:)`` has stored meanwhile
  /// stays. A save that an autosave had due is not made; the next change is saved. If there
  /// is an autosave, the nodes are asked for their present state, to recognize that change.
  ///
  /// - Parameter includingSetAside: Whether states that were set aside go, too.
  /// - Throws: ``RestorationError`` with `archive`, or `inUse` if another instance has
  ///   the state; of a state that machines share also `store` if the store does not
  ///   answer and nothing of the state is here, and `conflict` if another machine has
  ///   saved meanwhile. A missing state is not an error.
  public func discardState(
    includingSetAside: Bool = false
  ) async throws(RestorationError) {
    try await engine.discardState(
      includingSetAside: includingSetAside, hearing: autosave?.roots)
  }

  /// Waits for the restores and saves that are under way, and lets the state go,
  /// so that another keeper or another instance of the app can have it.
  ///
  /// The end of the keeper and that of the process let the state go as well. An app that
  /// launches its successor closes the keeper first: otherwise the successor would have a
  /// state of its own, or none. Save nothing after that, since the next restore or save
  /// takes the state again, if it is free. Do not wait for the call in a hook that a restore or a
  /// save calls.
  ///
  /// A lease on a state that machines share is let go as well, once the store has the saved state. As long as
  /// the keeper is there, it goes on sending changes that the store does not have;
  /// another machine that took the state meanwhile would be in conflict with them.
  /// Without the keeper, or while the store cannot be reached, the lease ends by itself.
  ///
  /// A keeper that was given to a ``SceneHost`` lets go of the scenes, too.
  public func close() async {
    engine.signal.tell(.ended)
    (autosave, keptHosts) = (nil, [])
    await engine.claim.isUnused()
    await engine.file.release()
    await engine.file.close()
    engine.claim.letGo()
    engine.found.lastStatus = .notRestoredYet
  }

  /// Tells a test the problems of each report, also of the windows; each save asks everything then.
  package func hearProblems(_ heard: @escaping ([String]) -> Void) {
    engine.settings.heard = heard
  }

  /// Whether the delegate is gone without having been set to nil.
  var isDelegateGone: Bool { delegate == nil && hadDelegate }
}

@available(*, unavailable, message: "a keeper belongs to the actor of its nodes")
extension StateKeeper: Sendable {}
