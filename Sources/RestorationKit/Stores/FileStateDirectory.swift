public import ArchiveCodec

/// States in files of one directory, written whole or not at all.
///
/// See ``/ArchiveCodec/FileStorage`` for how a file is replaced.
public struct FileStateDirectory: StateDirectory {
  /// The path of the directory; it is made with the first state.
  public let path: String

  private static let fileExtension = ".rka"

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
  ///
  /// Temporary files of killed writers stay until ``removeLeftovers(where:)``.
  public func storage(named name: String) -> any ArchiveStorage {
    FileStorage(sweptPath: "\(path)/\(name)\(Self.fileExtension)")
  }

  /// The directory `name.sessions` beside the state.
  @_documentation(visibility: internal)
  public func keptSessions(ofStateNamed name: String) -> KeptSessions? {
    KeptSessions(FileSnapshots("\(path)/\(name).sessions", of: path)) {
      $0 + Self.fileExtension
    }
  }

  /// The names of the `.rka` files in the directory, without `.rka`, and the names of
  /// states of which only older generations are there.
  public func names() throws(ArchiveError) -> [String] {
    var found: Set<String> = []
    do throws(ArchiveError) {
      try forEachFile { if let name = Self.stateName(of: $0) { found.insert(name) } }
    } catch {
      throw ArchiveError(.inputOutput, location: path)
    }
    return Array(found)
  }

  private func forEachFile(
    _ body: (_ name: String) throws(ArchiveError) -> Void
  ) throws(ArchiveError) {
    do throws(ArchiveError) {
      try Directory(path).forEachName(beginningWith: "", body)
    } catch {
      throw error.located(at: path)
    }
  }

  private static func stateName(of file: String) -> String? {
    guard !file.hasPrefix(".") else { return nil }
    if file.hasSuffix(fileExtension) { return String(file.dropLast(fileExtension.count)) }
    let generations = SetAsideReason.allCases.filter(\.isGeneration)
    return generations.lazy.compactMap { reason in
      file.firstIndex(ofBytes: "\(fileExtension).\(reason.rawValue)-")
    }.first.map { String(file[..<$0]) }
  }

  /// Removes the temporary files of writers that have ended, and the files that lock
  /// states which are not there.
  public func removeLeftovers(where isOwn: (_ name: String) -> Bool) throws(ArchiveError) {
    let directory = Directory(path)
    var states: Set<String> = []
    var locks: [(name: String, path: String)] = []
    try forEachFile { file throws(ArchiveError) in
      if let name = Self.stateName(of: file) {
        states.insert(name)
      } else if let archive = LockFile.archive(lockedBy: file), let name = Self.name(of: archive) {
        if isOwn(name) { locks.append((name, directory.child(file))) }
      } else {
        try directory.sweep(file) { Self.name(of: $0).map(isOwn) ?? false }
      }
    }
    for lock in locks where !states.contains(lock.name) {
      do throws(ArchiveError) {
        try LockFile.remove(lock.path)
      } catch {
        throw error.located(at: lock.path)
      }
    }
  }

  /// The name of the state in a file, or beside one; nil if the file is not one of these.
  private static func name(of file: String) -> String? {
    file.hasSuffix(fileExtension) ? String(file.dropLast(fileExtension.count)) : nil
  }

  /// A place in the file `.name.rka.lock` in the directory, or for a large content the file
  /// `name.launch.rka`.
  ///
  /// The place is not durable: a launch should not wait for the disk (3 syncs took 7 ms
  /// of 7.5), and a launch after a power cut has no crash to count.
  public func launchStorage(ofStateNamed name: String) -> any ArchiveStorage {
    let separate = separateLaunchStorage(ofStateNamed: name)
    guard !StateClaim.isBesideState(name) else { return separate }
    return LaunchFile(besideState: "\(path)/\(name)\(Self.fileExtension)", or: separate)
  }

  /// The file `name.launch.rka`, also for a state that is locked elsewhere.
  package func separateLaunchStorage(ofStateNamed name: String) -> FileStorage {
    FileStorage(path: "\(path)/\(name).launch\(Self.fileExtension)", isDurable: false)
  }
}
