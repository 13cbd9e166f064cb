public import ArchiveCodec
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

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
  public func storage(named name: String) -> any ArchiveStorage {
    FileStorage(path: "\(path)/\(name)\(Self.fileExtension)")
  }

  /// The names of the `.rka` files in the directory, without `.rka`, and the names of
  /// states of which only older generations are there.
  public func names() throws(ArchiveError) -> [String] {
    guard FileManager.default.fileExists(atPath: path) else { return [] }
    do {
      let files = try FileManager.default.contentsOfDirectory(atPath: path)
      return Array(Set(files.compactMap(Self.stateName)))
    } catch {
      throw ArchiveError(.inputOutput, location: path)
    }
  }

  private static func stateName(of file: String) -> String? {
    guard !file.hasPrefix(".") else { return nil }
    if file.hasSuffix(fileExtension) { return String(file.dropLast(fileExtension.count)) }
    let generations = SetAsideReason.allCases.filter(\.isGeneration)
    return generations.lazy.compactMap { reason in
      file.firstRange(of: "\(fileExtension).\(reason.rawValue)-")
    }.first.map { String(file[..<$0.lowerBound]) }
  }

  /// Removes the temporary files of writers that have ended, in one listing of
  /// the directory.
  public func removeLeftovers(where isOwn: (_ name: String) -> Bool) throws(ArchiveError) {
    do throws(ArchiveError) {
      try Directory(path).sweepTemporaries { file in
        file.hasSuffix(Self.fileExtension)
          && isOwn(String(file.dropLast(Self.fileExtension.count)))
      }
    } catch {
      throw error.located(at: path)
    }
  }

  /// The file `name.launch.rka` in the directory.
  ///
  /// The file is not durable: a launch should not wait for the disk (3 syncs took 7 ms
  /// of 7.5), and a launch after a power cut has no crash to count.
  public func launchStorage(ofStateNamed name: String) -> any ArchiveStorage {
    FileStorage(path: "\(path)/\(name).launch\(Self.fileExtension)", isDurable: false)
  }
}
