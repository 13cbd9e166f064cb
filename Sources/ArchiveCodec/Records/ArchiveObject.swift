/// An instance of a class that a record can hold, with others that it refers to.
///
/// An object that is met twice is stored once, and every reference to it yields the
/// same instance. Conform to ``ImmutableArchiveObject`` or to
/// ``CyclicArchiveObject``, and register the class with ``ArchiveClasses``.
public protocol ArchiveObject: AnyObject {
  /// Writes the values of the object, and references to others.
  ///
  /// Called when the values of the record and of all objects that were met
  /// before are written.
  ///
  /// - Parameter encoder: Takes the values, only for the time of this call.
  /// - Throws: Any error; then the record is not written.
  func encode(to encoder: KeyedEncoder) throws
}

/// An object that is made in one step, from the objects that it refers to.
///
/// Those objects are made before it. So it cannot refer to itself, directly or
/// through others of this kind, and chains of them are limited in length to
/// four times ``ArchiveLimits/depth``.
public protocol ImmutableArchiveObject: ArchiveObject {
  /// Makes the object.
  ///
  /// A ``CyclicArchiveObject`` that it refers to may not have its values yet.
  ///
  /// - Parameter decoder: The values that ``ArchiveObject/encode(to:)`` wrote.
  /// - Throws: Any error; no reference yields the object then.
  init(from decoder: ObjectDecoder) throws
}

/// An object that is made in two steps, so that it can be in a cycle.
///
/// References to it are handed out after the first. Chains and cycles of such
/// objects may be of any length.
public protocol CyclicArchiveObject: ArchiveObject {
  /// Makes the object without its values.
  init()

  /// Sets the values.
  ///
  /// - Parameter decoder: The values that ``ArchiveObject/encode(to:)`` wrote.
  /// - Throws: Any error; all objects that are decoded with it fail then.
  func decode(from decoder: ObjectDecoder) throws
}
