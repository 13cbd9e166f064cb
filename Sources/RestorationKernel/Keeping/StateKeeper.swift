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

  package let engine: StateEngine

  /// The bounds of keys and values in a state.
  public var limits: ArchiveLimits { engine.settings.limits }

  /// What the keeper stores, keeps, and leaves out.
  public var policy: StatePolicy {
    get { engine.settings.policy }
    set { engine.settings.policy = newValue }
  }

  /// What the keeper is doing, or why it does nothing.
  public var status: RestorationStatus { isDelegateGone ? .delegateGone : engine.status }

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
    engine = StateEngine(
      EngineSettings(
        application: application, name: name,
        directory: directory ?? FileStateDirectory(application: application),
        keys: keys ?? FileKeyProvider(application: application), environment: environment,
        limits: limits, now: now))
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

  private func participants(_ roots: [any RestorableNode]) -> Participants? {
    isDelegateGone ? nil : Participants(roots: roots, delegate: delegate)
  }

  /// Removes what is stored; the next save begins anew.
  ///
  /// - Throws: ``RestorationError`` if something could not be removed.
  public func discardState() async throws(RestorationError) { try await engine.discardState() }

  /// Lets the state go, so that another keeper may have it.
  public func close() async { await engine.close() }

  /// Whether the delegate is gone without having been set to nil.
  private var isDelegateGone: Bool { delegate == nil && hadDelegate }
}

@available(*, unavailable, message: "a keeper belongs to the actor of its nodes")
extension StateKeeper: Sendable {}
