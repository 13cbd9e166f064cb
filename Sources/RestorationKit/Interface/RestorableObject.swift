/// An object that several nodes share, such as a filter.
///
/// Register the object with ``StateKeeper/registerObject(_:restorationIdentifier:)``. A
/// save stores the object if a node or an object that is saved refers to it. After a
/// restore, every reference to the object yields the same instance.
public protocol RestorableObject: StateRestoring {
  /// Scopes the identifier of the object; none by default.
  ///
  /// Objects of different parents may have the same identifier. The parent counts
  /// if it is a node or a registered object that is preserved itself; any other
  /// parent, as a view, is ignored.
  var restorationParent: (any StateRestoring)? { get }

  /// The type that makes or finds the object when it is restored.
  ///
  /// None by default, or the object's own class if that is a restoration class. A
  /// restore asks that class alone. Without one, register the object again before
  /// you restore.
  var objectRestorationClass: (any ObjectRestoration.Type)? { get }
}

extension RestorableObject {
  /// None.
  public var restorationParent: (any StateRestoring)? { nil }

  /// None.
  public var objectRestorationClass: (any ObjectRestoration.Type)? { nil }
}

extension RestorableObject where Self: ObjectRestoration {
  /// The object's own class.
  public var objectRestorationClass: (any ObjectRestoration.Type)? { Self.self }
}

/// A restoration class: makes registered objects when an archive is restored.
///
/// Register the class with
/// ``StateKeeper/register(restorationClass:as:aliases:version:migrations:)``. If the
/// objects are of that class themselves, use
/// ``StateKeeper/register(_:as:aliases:version:migrations:restoration:)``. For nodes
/// conform to ``NodeRestoration``.
public protocol ObjectRestoration {
  /// Makes or finds the object of a path.
  ///
  /// The restore registers the object under the last identifier of the path.
  ///
  /// - Parameters:
  ///   - path: The identifiers from the root of its scope to the object.
  ///   - coder: The values of the object.
  /// - Returns: The object, or nil to drop it; references to the object are nil then.
  /// - Throws: Any error leaves the object out this time and keeps it, as for
  ///   ``NodeRestoration/node(at:coder:)``.
  static func object(
    at path: RestorationPath, coder: StateDecoder
  ) throws -> (any StateRestoring)?
}
