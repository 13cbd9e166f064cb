/// An instance of a class that a record can hold, with the objects that it refers to.
///
/// An object that is met twice is stored once, and every reference to it yields the
/// same instance. Conform to ``ImmutableArchiveObject`` or to
/// ``CyclicArchiveObject``, and register the class with ``ArchiveClasses``.
public protocol ArchiveObject: AnyObject {
  /// Writes the values of the object, and references to others.
  ///
  /// Called after the values of the record and of all objects that were met
  /// before are written.
  ///
  /// - Parameter encoder: Takes the values during this call only.
  /// - Throws: Any error; then the record is not written.
  func encode(to encoder: KeyedEncoder) throws
}

/// An object that is made in one step, from the objects that it refers to.
///
/// The objects that it refers to are made first. So an object cannot refer to itself,
/// directly or through others of this kind, and a chain of such objects has at most
/// four times ``ArchiveLimits/depth`` of them.
public protocol ImmutableArchiveObject: ArchiveObject {
  /// Makes the object.
  ///
  /// A ``CyclicArchiveObject`` that this object refers to may not have its values yet.
  ///
  /// - Parameter decoder: The values that ``ArchiveObject/encode(to:)`` wrote.
  /// - Throws: Any error; no reference yields the object then.
  init(from decoder: ObjectDecoder) throws
}

/// An object that is made in two steps, so that it can be in a cycle.
///
/// Other objects get references to the object after the first step. Chains and cycles
/// of such objects may be of any length.
public protocol CyclicArchiveObject: ArchiveObject {
  /// Makes the object without its values.
  init()

  /// Sets the values.
  ///
  /// - Parameter decoder: The values that ``ArchiveObject/encode(to:)`` wrote.
  /// - Throws: Any error; then all objects that the same call decodes fail.
  func decode(from decoder: ObjectDecoder) throws
}
