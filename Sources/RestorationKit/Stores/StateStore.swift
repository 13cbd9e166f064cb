public import ArchiveCodec

/// A place for the states of one application, each under a name.
public protocol StateStore: Sendable {
  /// The storage of one state, which need not exist; another for every name.
  ///
  /// A keeper of the state NAME also asks for `NAME.launch`, where it notes
  /// whether launches end.
  ///
  /// - Parameter name: A name that ``StateKeeper`` has checked: not empty, no
  ///   `/`, no leading `.`.
  /// - Returns: The place where that state is or will be.
  func storage(named name: String) -> any ArchiveStorage
}

/// Gives the key that seals and opens the states of one application.
public protocol KeyProvider: Sendable {
  /// Where the key is, for a person to read; nil by default.
  var location: String? { get }

  /// Finds the key.
  ///
  /// - Parameter creating: Whether to make and keep a new one if there is none.
  /// - Returns: The key, or nil if there is none and none was to be made.
  /// - Throws: ``ArchiveCodec/ArchiveError`` if there is a key that cannot be
  ///   used; it is never replaced by a new one. Throw
  ///   ``ArchiveCodec/ArchiveError/keyLocked(at:)`` while the device or the
  ///   keyring is locked: then no state is restored, and none overwritten.
  func key(creating: Bool) throws(ArchiveError) -> ArchiveKey?
}

extension KeyProvider {
  /// Not known.
  public var location: String? { nil }
}
