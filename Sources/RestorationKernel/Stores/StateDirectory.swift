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

/// States in files of one directory, written whole or not at all.
///
/// See ``/ArchiveCodec/FileStorage`` for how a file is replaced. The history of a state is the
/// directory `name.history` beside its file.
public struct FileStateDirectory: StateDirectory {
  /// The path of the directory; it is made with the first state.
  public let path: String

  var fileExtension = ".rka"

  /// Names a directory, which need not exist.
  ///
  /// In the container of an app group, call ``StateKeeper/close()`` before the app
  /// is suspended: iOS ends apps that hold a lock on a file there (0xdead10cc in
  /// Apple's list of termination codes).
  ///
  /// - Parameter path: The path of the directory.
  public init(path: String) {
    self.path = path
  }

  /// Names the application's directory in the user's directory for state.
  ///
  /// The user's directory is `$XDG_STATE_HOME`, or `~/.local/state` if the variable is not
  /// set or not absolute, and on Apple systems Application Support. The home directory is
  /// `$HOME`, or that of the password database if `$HOME` is not set or not absolute.
  ///
  /// - Parameter application: The identifier of the application.
  public init(application: String) {
    self.init(path: BaseDirectories.current.state(of: application))
  }

  /// The file `name.rka` in the directory.
  public func storage(named name: String) -> any ArchiveStorage {
    FileStorage(path: file(of: name))
  }

  /// The path of the file of a state.
  fileprivate func file(of name: String) -> String { "\(path)/\(name)\(fileExtension)" }

  /// The names of the `.rka` files in the directory, without `.rka`.
  public func names() throws(ArchiveError) -> [String] {
    var found: [String] = []
    do throws(ArchiveError) {
      try Directory(path).forEachName(beginningWith: "") { file throws(ArchiveError) in
        guard !file.hasPrefix("."), file.hasSuffix(fileExtension),
          try Directory.status(of: Directory(path).child(file))?.isRegularFile == true
        else { return }
        found.append(String(file.dropLast(fileExtension.count)))
      }
    } catch {
      throw error.located(at: path)
    }
    return found
  }
}

/// A directory that has the moments of a state in a place of its own.
///
/// Any other directory has copies in storages, with names of their own.
package protocol LinkingDirectory: StateDirectory {
  func linkedMoments(of name: String) -> MomentStore
}

extension StateDirectory {
  func moments(of name: String) -> MomentStore {
    // To ask a type whether it has a protocol takes longer than to compare it.
    if let files = self as? FileStateDirectory {
      return MomentStore(linking: files.file(of: name), in: "\(files.path)/\(name).history")
    }
    return (self as? any LinkingDirectory)?.linkedMoments(of: name)
      ?? MomentStore(of: storage(named: name), in: self, prefix: "\(name).history-")
  }
}
