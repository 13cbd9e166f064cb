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
      hadDelegate = delegate != nil
      // While a delegate was gone, nothing was saved, so all changes are still due.
      autosave?.turns.change()
    }
  }

  private var hadDelegate = false

  /// The autosave of the keeper and what gives its roots, until ``close()`` or a second one.
  var autosave: (turns: AutosaveTurns, roots: () -> [any RestorableNode])? {
    didSet {
      oldValue?.turns.stop()
      owner.autosave = autosave?.turns
    }
  }

  var settings: KeeperSettings
  let turns = TurnQueue()
  let owner = KnownObjects.Owner()
  let objects = ObjectTable(TypeTable())
  let file: FileQueue
  /// What is stored; nil as long as nobody has looked.
  var document: Document?
  var known = FileQueue.Known()
  var findings = Findings()
  var asking = Asking()

  /// The bounds of keys and values in a state.
  public var limits: ArchiveLimits { settings.source.limits }

  /// What the keeper stores, keeps, and leaves out.
  public var policy: StatePolicy {
    get { settings.policy }
    set { settings.policy = newValue }
  }

  /// What the keeper is doing, or why it does nothing.
  public var status: RestorationStatus {
    if isDelegateGone { return .notRestored(.delegateGone) }
    if turns.running == .restore { return .restoring }
    switch findings.lastRestore {
    case nil, .success(.delegateGone): return .notRestoredYet
    case .success(.inUse) where stateName != nil: return .notRestoredYet
    case .success(.restored), .success(.noArchive), .success(.nothingKept):
      guard case .failure(let error)? = findings.lastSave else { return .active }
      return .notSaved(error.description)
    case .success(let outcome): return .notRestored(outcome)
    case .failure(let error): return .failed(error.description)
    }
  }

  /// The name of the state that the keeper has; nil before its first restore or save and after
  /// ``close()``.
  ///
  /// The name is the one that the keeper was made with, or with ``InstancePolicy/numbered`` the first
  /// free name with a number.
  public var stateName: String? { known.stateName }

  /// The instances that had the states with lower numbers when the keeper took its own.
  public var otherInstances: [OtherInstance] { known.others }

  /// Creates a keeper of one state of an application.
  ///
  /// - Parameters:
  ///   - application: An identifier that is stable for ever, as `org.example.catalog`.
  ///     It names the directory, and an archive of one application does not open in
  ///     another.
  ///   - name: The name of the state, for applications with several; where one process
  ///     keeps the states of several users, make the user a part of it. At most 150
  ///     bytes without “/” and control characters, not beginning with “.”, with “.history”
  ///     nowhere in it, and not ending in “.launch”, “.remote” or “~” and digits.
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
    for (name, isOfState) in [(application, false), (name, true)] {
      guard let flaw = Self.flaw(of: name, isOfState: isOfState) else { continue }
      throw RestorationError(.invalidName, "“\(name)” cannot name a state\(flaw)")
    }
    settings = KeeperSettings(
      source: StateFile.Source(
        name: name, application: application,
        directory: directory ?? FileStateDirectory(application: application),
        keys: keys ?? FileKeyProvider(application: application), environment: environment,
        limits: limits),
      // A clock that gives no number is none.
      now: { now().ifNumber ?? Date() })
    file = FileQueue(settings.source)
  }

  deinit { autosave?.turns.stop() }

  /// Saves what roots and all below them say, as one commit that is on stable storage at the end.
  ///
  /// Nodes that say when they change are asked when they are new or have said so; where nothing has
  /// changed, nothing is written.
  ///
  /// - Parameter roots: The nodes at the top of the tree.
  /// - Returns: What the save did.
  /// - Throws: ``RestorationError`` if nothing could be stored; what is stored stays.
  /// - Complexity: O(*n*) in the nodes that are asked.
  @discardableResult
  public func save(_ roots: [any RestorableNode]) async throws(RestorationError)
    -> PreservationReport
  {
    try await save { roots }
  }

  /// Brings back what is stored.
  ///
  /// - Parameter roots: Nodes that are there already.
  /// - Returns: What the restore did; nothing stored is no error.
  /// - Throws: ``RestorationError`` if what is stored cannot be read; it stays.
  @discardableResult
  public func restore(into roots: [any RestorableNode] = []) async throws(RestorationError)
    -> RestorationReport
  {
    try await restore { roots }
  }

  /// Lets the state go, so that another keeper may have it.
  public func close() async {
    autosave = nil
    try? await inFile { (queue) throws(ArchiveError) in try queue.file.close() }
    findings.lastRestore = nil
  }

  /// Hears the problems of all reports from now on.
  package func hearProblems(_ heard: @escaping ([String]) -> Void) {
    settings.heard = heard
  }

  /// Whether the delegate is gone without having been set to nil.
  var isDelegateGone: Bool { delegate == nil && hadDelegate }
}

extension StateKeeper {
  /// The older states that stay beside the state, the oldest first; see ``StatePolicy/historyBound``.
  ///
  /// - Returns: The moments; none if the state has none.
  /// - Throws: ``RestorationError`` if they cannot be listed, or if another instance has the state.
  public func history() async throws(RestorationError) -> [Moment] {
    try await inFile { (queue) throws(ArchiveError) in try queue.file.history() }
  }

  /// Makes an older state the stored one again; the one that is stored becomes a moment.
  ///
  /// What the app has now is not written any more: restore again, or launch again, before you save.
  ///
  /// - Parameter moment: One of ``history()``.
  /// - Throws: ``RestorationError`` if it is not there any more, or cannot be put back; then nothing has
  ///   changed.
  public func putBack(_ moment: Moment) async throws(RestorationError) {
    try await inFile { (queue) throws(ArchiveError) in try queue.file.putBack(moment) }
    beginAnew()
    (findings.hasTriedToRestore, findings.lastRestore) = (false, nil)
  }

  /// Removes an older state.
  ///
  /// - Parameter moment: One of ``history()``; one that is gone is no error.
  /// - Throws: ``RestorationError`` if it cannot be removed.
  public func remove(_ moment: Moment) async throws(RestorationError) {
    try await inFile { (queue) throws(ArchiveError) in try queue.file.remove([moment]) }
  }

  /// Lets the next restore try again the elements that restores leave out after crashes.
  ///
  /// Restores try one element at a time: the next restore the first one, and a later
  /// launch the one after it. Without this call an element is tried again after 1, 2,
  /// 4, 8 and more launches, and by another version of the app. If nothing is left out,
  /// nothing changes.
  ///
  ///     try await keeper.retrySkippedNodes()
  ///     print(try await keeper.restore(into: [window]))
  ///
  /// - Throws: ``RestorationError`` with `archive` if the request cannot be noted, or
  ///   its key is locked, and `inUse` if another instance has the state.
  public func retrySkippedNodes() async throws(RestorationError) {
    try await inFile { (queue) throws(ArchiveError) in try queue.file.retryLeftOut() }
  }
}

extension StateKeeper {
  private static let longestName = 150

  /// Why a name cannot be that of a state, or of an application; nil if it can.
  ///
  /// Names come from outside, and become those of files.
  private static func flaw(of name: String, isOfState: Bool) -> String? {
    if name.isEmpty || name.hasPrefix(".") || name.utf8.count > longestName
      || name.utf8.contains(where: { $0 == UInt8(ascii: "/") || $0 < 0x20 })
    {
      return ". Use up to \(longestName) bytes without “/”, not beginning with “.”."
    }
    guard isOfState else { return nil }
    if name.hasSuffix(".launch") || name.hasSuffix(".remote") || name.containsBytes(of: ".history")
    {
      return ": it must not end in “.launch” or “.remote”, or contain “.history”."
    }
    let start = name.utf8.reversed().drop { (0x30...0x39).contains($0) }
    return start.first == UInt8(ascii: "~") && start.count < name.utf8.count
      ? ": with “~” and digits at its end it is that of another instance of the app." : nil
  }
}

@available(*, unavailable, message: "a keeper belongs to the actor of its nodes")
extension StateKeeper: Sendable {}
