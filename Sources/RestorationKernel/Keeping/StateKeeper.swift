public import ArchiveCodec
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

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
      // While the delegate was gone, nothing was saved, so all changes are still due.
      if wasGone { engine.signal.tell() }
    }
  }

  private var hadDelegate = false

  /// The autosave of the keeper, until ``close()`` or a second one.
  var autosave: HeldAutosave?
  /// The signals before which an autosave saves.
  var endSignals: Set<EndSignal> = []

  package let engine: StateEngine

  /// The bounds of keys and values in a state.
  public var limits: ArchiveLimits { engine.settings.source.limits }

  /// What the keeper stores, keeps, and leaves out.
  public var policy: StatePolicy {
    get { engine.settings.policy }
    set { engine.settings.policy = newValue }
  }

  /// What the keeper is doing, or why it does nothing.
  public var status: RestorationStatus { isDelegateGone ? .delegateGone : engine.status }

  /// The name of the state that the keeper has; nil before its first restore or save and after
  /// ``close()``.
  ///
  /// The name is the one that the keeper was made with, or with ``InstancePolicy/numbered`` the first
  /// free name with a number.
  public var stateName: String? { engine.settings.source.holding.now.name }

  /// The instances that had the states with lower numbers when the keeper took its own.
  public var otherInstances: [OtherInstance] { engine.settings.source.holding.now.others }

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
    try Self.check(application, name)
    engine = StateEngine(
      EngineSettings(
        StateFile.Source(
          name: name, application: application,
          directory: directory ?? FileStateDirectory(application: application),
          keys: keys ?? FileKeyProvider(application: application), environment: environment,
          limits: limits),
        now: now))
  }

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
    try await engine.save { participants(roots) }
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
    try await engine.restore { participants(roots) }
  }

  /// Restores a node that came after the restore, from the state that is kept for it.
  ///
  /// Use the method for a tab or a window that is built when the user first looks at
  /// it. Its stored state is kept meanwhile. Call the method when the node has its
  /// identifier, before the user sees the node. If the node was saved before that, the
  /// state that was kept for it lies beside the saved one; this call restores it all the
  /// same, and what the node had until then lies beside it. The node's parent must be
  /// back, so begin with the uppermost node.
  ///
  ///     let editor = EditorTab()
  ///     tabs.restorationChildren.append(editor)
  ///     try await keeper.restore(late: editor, below: tabs)
  ///
  /// Use it also for a node that is back and whose decoding threw, in this launch or an earlier one, when
  /// the state can be applied: the newest such state is decoded again, and is kept no more unless its
  /// decoding throws again or a field of it does not fit. What the node had until then, saved or not, stays
  /// stored beside it, within the ``StatePolicy/keptBound``. The nodes below are left as they are.
  ///
  /// The calls are those of ``restore(into:)`` on the node and on the nodes that are
  /// kept below it, in the same order, from `loadViewIfNeeded` to
  /// `applicationFinishedRestoringState`. Nodes below the node are looked for as
  /// always; the node itself exists, so no factory is asked for it. The gates and
  /// `didDecodeRestorableState` are about the whole state and are not called. The
  /// parent is not told, but for ``RestorableTabs``: a tab that was selected when the state
  /// was saved is selected, unless another one has been selected since the
  /// restore. Nodes that are still not back stay kept.
  ///
  /// The call waits for the calls before it, as for a save that is written. An element in which the
  /// call crashes is counted, and left out as in a restore; see ``StatePolicy/crashThreshold``.
  ///
  /// - Parameters:
  ///   - node: The node, with its identifier. Among equal identifiers in a
  ///     ``RestorableStack`` or ``RestorableSplit`` its position counts; a node
  ///     that is not in there yet counts as the next one.
  ///   - parent: The node that contains or presents the node; nil for a root.
  /// - Returns: What happened to the node and all below it. The outcome is
  ///   `nothingKept` if nothing was stored for the node, or if it was restored
  ///   already. A node of another class gets nothing, and the state stays kept.
  /// - Throws: Nothing now; later versions may throw ``RestorationError``.
  /// - Complexity: O(*n*) in the restored elements, and for a stack or split in its
  ///   children.
  @discardableResult
  public func restore(
    late node: any RestorableNode, below parent: (any RestorableNode)? = nil
  ) async throws(RestorationError) -> RestorationReport {
    try await engine.restore(late: node, below: parent) { isDelegateGone ? nil : .some(delegate) }
  }

  /// Gives up the states that are kept beside, or in place of, the state of a node that is back.
  ///
  /// The next save does not store them: use it when the user discards a draft that the node
  /// could not decode. Nothing kept is not an error.
  ///
  /// - Parameter node: The node.
  public func discardKeptState(of node: any RestorableNode) async {
    await engine.discardKeptState(of: node)
  }

  func participants(_ roots: [any RestorableNode]) -> Participants? {
    isDelegateGone ? nil : Participants(roots: roots, delegate: delegate)
  }

  /// Removes what is stored; the next save begins anew.
  ///
  /// A save that an autosave had due is not made; the next change is saved. If there is an autosave,
  /// the nodes are asked for their present state, to recognize that change. A state that
  /// ``endNow(saving:within:isolation:)`` has stored meanwhile stays.
  ///
  /// - Throws: ``RestorationError`` if something could not be removed.
  public func discardState() async throws(RestorationError) {
    try await engine.discardState {
      guard let autosave, !autosave.turns.needsSave else { return nil }
      return autosave.roots.flatMap { participants($0()) }
    }
  }

  /// Lets the state go, so that another keeper may have it.
  public func close() async {
    engine.signal.tell(.ended)
    autosave = nil
    await engine.close()
  }

  /// Hears the problems of all reports from now on.
  package func hearProblems(_ heard: @escaping ([String]) -> Void) {
    engine.settings.heard = heard
  }

  /// Whether the delegate is gone without having been set to nil.
  var isDelegateGone: Bool { delegate == nil && hadDelegate }
}

extension StateKeeper {
  private static let longestName = 150

  /// Names come from outside, and become those of files.
  private static func check(_ application: String, _ name: String) throws(RestorationError) {
    func check(_ name: String, isRefused: Bool, _ why: String) throws(RestorationError) {
      guard isRefused else { return }
      throw RestorationError(.invalidName, "“\(name)” cannot name a state\(why)")
    }
    for name in [application, name] {
      let isRefused =
        name.isEmpty || name.hasPrefix(".") || name.utf8.count > longestName
        || name.utf8.contains { $0 == UInt8(ascii: "/") || $0 < 0x20 }
      try check(
        name, isRefused: isRefused,
        ". Use up to \(longestName) bytes without “/”, not beginning with “.”.")
    }
    try check(
      name,
      isRefused: name.hasSuffix(".launch") || name.hasSuffix(".remote")
        || name.containsBytes(of: ".history"),
      ": it must not end in “.launch” or “.remote”, or contain “.history”.")
    let start = name.utf8.reversed().drop { (0x30...0x39).contains($0) }
    try check(
      name, isRefused: start.first == UInt8(ascii: "~") && start.count < name.utf8.count,
      ": with “~” and digits at its end it is that of another instance of the app.")
  }
}

@available(*, unavailable, message: "a keeper belongs to the actor of its nodes")
extension StateKeeper: Sendable {}
