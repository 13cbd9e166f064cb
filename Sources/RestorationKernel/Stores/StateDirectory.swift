public import ArchiveCodec

/// A place for the states of one application, each under a name.
public protocol StateDirectory: Sendable {
  /// The storage of one state, which need not exist; each name has a storage of its own.
  ///
  /// - Parameter name: A name that ``StateKeeper`` has checked: not empty, no
  ///   `/`, no leading `.`.
  /// - Returns: The place where that state is or will be.
  func storage(named name: String) -> any ArchiveStorage

  /// The names of the storages that hold something.
  ///
  /// By this list a keeper finds the history of its state, which lies in storages of its own
  /// unless the states are files.
  ///
  /// - Returns: The names, in any order.
  /// - Throws: ``/ArchiveCodec/ArchiveError`` if they cannot be listed.
  func names() throws(ArchiveError) -> [String]
}

extension StateDirectory {
  /// None: by default a directory cannot tell.
  public func names() throws(ArchiveError) -> [String] { [] }
}

/// Gives the key that seals and opens the states of one application.
public protocol KeyProvider: Sendable {
  /// Where the key is, for a person to read; nil by default.
  var location: String? { get }

  /// Whether ``key(creating:)`` can make a key; true by default.
  ///
  /// False for a key that the app's surroundings have to provide. Reports and errors
  /// then say that nothing is saved until the key is there.
  var makesKey: Bool { get }

  /// Finds the key.
  ///
  /// Keepers and hosts ask on a thread of their own, so the call may wait for
  /// another process.
  ///
  /// - Parameter creating: Whether to make and keep a new key if there is none.
  /// - Returns: The key, or nil if there is none and none was to be made.
  /// - Throws: ``/ArchiveCodec/ArchiveError`` if there is a key that cannot be used; a
  ///   new key never replaces it. Throw ``/ArchiveCodec/ArchiveError/keyLocked(at:)``
  ///   while the device or the keyring is locked: then no state is restored, and none
  ///   overwritten.
  func key(creating: Bool) throws(ArchiveError) -> ArchiveKey?
}

extension KeyProvider {
  /// Nil: the place of the key is not known.
  public var location: String? { nil }

  /// True: the provider makes a key.
  public var makesKey: Bool { true }
}
