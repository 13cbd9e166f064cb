/// Takes part in every save and restore, on behalf of the application.
///
/// All members have defaults, so implement only the members that you need. A keeper has
/// one delegate (``StateKeeper/delegate``), and a scene's delegate that conforms to
/// this protocol takes part in saving and restoring that scene's nodes; its gates are not asked.
public protocol StateDelegate: AnyObject {
  /// Decides whether the state is saved; true by default.
  ///
  /// Asked first in every save of the roots.
  ///
  /// - Parameter coder: Takes values that the restore gate can read.
  /// - Returns: False to save nothing and to discard an older state.
  func shouldSaveApplicationState(with coder: StateEncoder) -> Bool

  /// Decides whether a stored state is restored; true by default.
  ///
  /// Asked first in every restore that finds a state. Here you can compare
  /// ``StateDecoder/applicationVersion`` or the values of the save gate. States that are too old
  /// are left to ``StatePolicy/maximumAge``.
  ///
  /// - Parameter coder: The application's values.
  /// - Returns: False to restore nothing.
  func shouldRestoreApplicationState(with coder: StateDecoder) -> Bool

  /// Writes the application's own values, before any node is asked.
  ///
  /// A node that the delegate refers to is saved too, even below a node that is left out.
  /// If the method throws, the values stay as they were stored, and the nodes are saved.
  ///
  /// - Parameter coder: The application's coder, which the save gate wrote to.
  /// - Throws: Any error; the report shows it.
  func willEncodeRestorableState(with coder: StateEncoder) throws

  /// The name that a class has now, for names that no alias covers.
  ///
  /// Asked in a restore for every stored name of a class or a restoration class
  /// that is not registered, once for each.
  ///
  /// - Parameter name: The name in the archive.
  /// - Returns: A registered name or alias; nil, or a name that is not registered,
  ///   leaves the stored name.
  func currentClassName(forStored name: String) -> String?

  /// Makes or finds a node that has no restoration class.
  ///
  /// - Parameters:
  ///   - path: The identifiers from the root to the node.
  ///   - coder: The values of the node.
  /// - Returns: The node, or nil to let it be looked for elsewhere.
  /// - Throws: Any error leaves the node out this time and keeps it, as for
  ///   ``RestorationClass/object(at:coder:)``.
  func node(at path: RestorationPath, coder: StateDecoder) throws -> (any RestorableNode)?

  /// Lays out the interface, so that scroll positions can be set.
  ///
  /// Called once in a restore, when all is decoded, and before
  /// ``StateRestoring/restoreStateAfterLayout(with:)``. Does nothing by default.
  func layOutRestoredInterface()

  /// Reads the application's own values, after every node was decoded.
  ///
  /// - Parameter coder: The values of the save gate and `willEncodeRestorableState`.
  /// - Throws: Any error; the report shows it, and the nodes stay restored.
  func didDecodeRestorableState(with coder: StateDecoder) throws
}

extension StateDelegate {
  /// Lets the state be saved.
  public func shouldSaveApplicationState(with coder: StateEncoder) -> Bool { true }

  /// Lets the state be restored.
  public func shouldRestoreApplicationState(with coder: StateDecoder) -> Bool { true }

  /// Writes nothing.
  public func willEncodeRestorableState(with coder: StateEncoder) throws {}

  /// Has no other names.
  public func currentClassName(forStored name: String) -> String? { nil }

  /// Has no opinion.
  public func node(
    at path: RestorationPath, coder: StateDecoder
  ) throws -> (any RestorableNode)? { nil }

  /// Does nothing.
  public func layOutRestoredInterface() {}

  /// Reads nothing.
  public func didDecodeRestorableState(with coder: StateDecoder) throws {}
}
