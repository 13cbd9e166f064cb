/// Something with state of its own that others can refer to.
///
/// ``RestorableNode`` and ``RestorableView`` refine it. Any other object, such
/// as a filter that two screens share, conforms to it alone and is registered
/// with ``StateKeeper/registerObject(_:restorationIdentifier:)``. It is saved if
/// something that is saved refers to it; all who do get the same object back.
///
/// Conformances may be isolated to an actor, as in
/// `final class Filter: @MainActor RestorableObject`. All members are called on
/// the actor that calls the ``StateKeeper``.
public protocol RestorableObject: AnyObject {
  /// Scopes the identifier of a registered object; none by default.
  ///
  /// Objects of different parents may have the same identifier. It counts if it
  /// is a node or a registered object that is preserved itself; any other is
  /// ignored. Nodes and views have their place in the tree, so theirs is not
  /// asked.
  var restorationParent: (any RestorableObject)? { get }

  /// The type that makes or finds a registered object when it is restored.
  ///
  /// None by default: the object must have been registered again by then. With
  /// one, nothing else is asked. Nodes have ``RestorableNode/restorationClass``
  /// instead.
  var objectRestorationClass: (any ObjectRestoration.Type)? { get }

  /// Writes what brings the object back to where it is; nothing by default.
  ///
  /// Store what the user would miss and an identifier for what can be loaded
  /// again. If it throws, the object is preserved without state, what is below
  /// it is preserved, and the report says so.
  ///
  /// - Parameter coder: Takes the values; only for the time of this call.
  /// - Throws: Any error; it costs the state of this object alone.
  func encodeRestorableState(with coder: StateEncoder) throws

  /// Takes back what was encoded; does nothing by default.
  ///
  /// All that is restored exists by then; parents are decoded before children,
  /// and what is referred to may be decoded later than what refers to it. If it
  /// throws, the others are restored all the same, and the report says so.
  ///
  /// - Parameter coder: Holds the values that this object wrote.
  /// - Throws: Any error; it costs the state of this object alone.
  func decodeRestorableState(with coder: StateDecoder) throws

  /// Takes back what depends on the layout; does nothing by default.
  ///
  /// Called on all that was decoded, after the delegate's
  /// ``StateDelegate/layOutRestoredInterface()``: the place for scroll positions.
  ///
  /// - Parameter coder: The same values as in ``decodeRestorableState(with:)``.
  /// - Throws: Any error; the report shows it.
  func restoreStateAfterLayout(with coder: StateDecoder) throws

  /// Tells a restored object that every other is decoded; does nothing by default.
  ///
  /// The place for what needs several objects at once.
  func applicationFinishedRestoringState()
}

extension RestorableObject {
  /// None.
  public var restorationParent: (any RestorableObject)? { nil }

  /// None.
  public var objectRestorationClass: (any ObjectRestoration.Type)? { nil }

  /// Writes nothing.
  public func encodeRestorableState(with coder: StateEncoder) throws {}

  /// Reads nothing.
  public func decodeRestorableState(with coder: StateDecoder) throws {}

  /// Does nothing.
  public func restoreStateAfterLayout(with coder: StateDecoder) throws {}

  /// Does nothing.
  public func applicationFinishedRestoringState() {}
}

extension RestorableObject where Self: ObjectRestoration {
  /// The object's own class.
  public var objectRestorationClass: (any ObjectRestoration.Type)? { Self.self }
}

/// An object restoration class: makes registered objects when an archive is
/// restored.
///
/// Register it with ``StateKeeper/register(objectClass:as:aliases:version:migrations:)``.
public protocol ObjectRestoration {
  /// Makes or finds the object of a path.
  ///
  /// What it returns is registered under the last identifier of the path.
  ///
  /// - Parameters:
  ///   - path: The identifiers from the root of its scope to the object.
  ///   - coder: The values of the object.
  /// - Returns: The object, or nil to drop it; references to it are nil then.
  /// - Throws: Any error leaves it out this time and keeps it, as for
  ///   ``NodeRestoration/node(at:coder:)``.
  static func object(
    at path: RestorationPath, coder: StateDecoder
  ) throws -> (any RestorableObject)?
}
