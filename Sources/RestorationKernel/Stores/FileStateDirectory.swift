public import ArchiveCodec

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
  private func file(of name: String) -> String { "\(path)/\(name)\(fileExtension)" }

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
    (self as? FileStateDirectory)?.linkedMoments(of: name)
      ?? (self as? any LinkingDirectory)?.linkedMoments(of: name)
      ?? MomentStore(copying: name, in: self)
  }
}

extension FileStateDirectory: LinkingDirectory {
  /// The directory of moments beside the file.
  package func linkedMoments(of name: String) -> MomentStore {
    MomentStore(linking: file(of: name), in: "\(path)/\(name).history")
  }
}
