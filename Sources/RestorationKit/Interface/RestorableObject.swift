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
  var objectRestorationClass: (any RestorationClass.Type)? { get }
}

extension RestorableObject {
  /// None.
  public var restorationParent: (any StateRestoring)? { nil }

  /// None.
  public var objectRestorationClass: (any RestorationClass.Type)? { nil }
}

extension RestorableObject where Self: RestorationClass {
  /// The object's own class.
  public var objectRestorationClass: (any RestorationClass.Type)? { Self.self }
}
