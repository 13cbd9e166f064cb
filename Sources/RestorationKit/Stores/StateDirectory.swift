public import ArchiveCodec

/// A place for the states of one application, each under a name.
public protocol StateDirectory: Sendable {
  /// The storage of one state, which need not exist; each name has a storage of its own.
  ///
  /// - Parameter name: A name that ``StateKeeper`` has checked: not empty, no
  ///   `/`, no leading `.`.
  /// - Returns: The place where that state is or will be.
  func storage(named name: String) -> any ArchiveStorage

  /// The place where a keeper notes whether restores of a state have ended.
  ///
  /// By default the place is the storage named `NAME.launch`. The notes need not
  /// survive a power cut.
  ///
  /// - Parameter name: The name of the state.
  /// - Returns: A storage that no state has.
  func launchStorage(ofStateNamed name: String) -> any ArchiveStorage

  /// The names of the states that are stored here.
  ///
  /// A ``SceneHost`` needs the names to find scenes that its list has lost.
  ///
  /// - Returns: The names, in any order; none if the directory cannot tell, as by
  ///   default.
  /// - Throws: ``/ArchiveCodec/ArchiveError`` with `inputOutput`.
  func names() throws(ArchiveError) -> [String]

  /// Removes files that killed saves of some states have left behind.
  ///
  /// A keeper and a ``SceneHost`` call the method once for the state and all of its scenes,
  /// also for closed ones: two seconds after the launch, or when they let the state go. A
  /// discard calls it for what it discards. A file that another process still writes must
  /// stay. The method does nothing by default, which is right where a write leaves
  /// nothing behind until it is done.
  ///
  /// - Parameter isOwn: Says whether a state, or the `NAME.launch` of one, is meant.
  /// - Throws: ``/ArchiveCodec/ArchiveError`` with `permissionDenied` or
  ///   `inputOutput`. The next report of a restore tells of it; a discard throws it.
  func removeLeftovers(where isOwn: (_ name: String) -> Bool) throws(ArchiveError)

  /// Where a directory of this package keeps the sessions of a state; nil for any other
  /// directory, as by default.
  @_documentation(visibility: internal)
  func keptSessions(ofStateNamed name: String) -> KeptSessions?

  /// The states of a directory of this package that are also elsewhere; nil for any other
  /// directory, as by default.
  @_documentation(visibility: internal)
  var linkedStates: LinkedStates? { get }
}

/// A directory whose states are also elsewhere, for the library alone.
///
/// A requirement of the protocol has it, since a cast of a directory to another protocol would have
/// the Swift runtime go through all conformances of the program at the first launch.
@_documentation(visibility: internal)
public struct LinkedStates: Sendable {
  package let directory: any LinkedDirectory

  package init(_ directory: any LinkedDirectory) {
    self.directory = directory
  }
}

extension StateDirectory {
  /// None.
  @_documentation(visibility: internal)
  public var linkedStates: LinkedStates? { nil }

  /// None.
  @_documentation(visibility: internal)
  public func keptSessions(ofStateNamed name: String) -> KeptSessions? { nil }

  /// None: by default a directory cannot tell.
  public func names() throws(ArchiveError) -> [String] { [] }

  /// Removes nothing.
  public func removeLeftovers(where isOwn: (_ name: String) -> Bool) throws(ArchiveError) {}

  /// The storage named `NAME.launch`.
  public func launchStorage(ofStateNamed name: String) -> any ArchiveStorage {
    storage(named: name + ".launch")
  }
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
