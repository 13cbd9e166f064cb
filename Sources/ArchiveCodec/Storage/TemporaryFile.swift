internal import RestorationLibc

/// A file that is written under a name of its own, until it gets its final one.
///
/// The writer has the file locked, and the system lets the lock go when the writer
/// ends, in any way and in any container. So a file that can be locked has no writer
/// any more, and the process that has locked it may remove it.
package struct TemporaryFile: ~Copyable {
  package let path: String
  let file: OpenFile

  /// Makes and locks a new file.
  ///
  /// - Parameters:
  ///   - directory: The directory of the file.
  ///   - name: The final name of the file.
  ///   - pause: Called between making and locking; a test does there what other
  ///     processes may do.
  /// - Throws: ``ArchiveError``: the errors of the system calls, and `locked` if other
  ///   processes remove the new file again and again.
  package init(
    in directory: Directory, for name: String, pause: () throws(ArchiveError) -> Void = {}
  ) throws(ArchiveError) {
    for _ in 0..<Self.largestTryCount {
      let path = directory.child(Self.name(for: name))
      let file = try OpenFile(path, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
      try pause()
      // Until the file is locked, other processes take it for one that was left behind.
      // They lock the file before they remove it: then either the lock is refused here,
      // or the name is gone already.
      let status = try file.status()
      switch try? FileLock.attempt(file) {
      case false?:
        _ = unsafe unlink(path)
        continue
      case true?: if try !FileLock.names(path, FileIdentity(status)) { continue }
      // The file system has no locks.
      case nil: break
      }
      do throws(ArchiveError) {
        try file.openToOwnerAlone(status)
      } catch {
        _ = unsafe unlink(path)
        throw error
      }
      self.path = path
      self.file = file
      return
    }
    throw ArchiveError(.locked)
  }

  /// Each try that fails has met another writer that checked the file at that moment.
  private static let largestTryCount = 100

  /// Removes a file of this user that nobody writes any more.
  ///
  /// Where the lock cannot be asked for, a file goes that is older than any write can take.
  static func sweep(_ path: String) throws(ArchiveError) {
    guard let status = try Directory.status(of: path), status.st_uid == geteuid() else { return }
    do throws(ArchiveError) {
      let file = try OpenFile(path, O_WRONLY)
      guard try FileLock.attempt(file) else { return }
      // The file may have got its final name before it was locked.
      if try FileLock.names(path, FileIdentity(try file.status())) { _ = unsafe unlink(path) }
      // The lock is held until the name is gone.
      _ = consume file
      return
    } catch {
      // The age decides on a file that cannot be opened or locked.
    }
    if status.modificationTime.tv_sec < time(nil) - longestWrite { _ = unsafe unlink(path) }
  }

  /// Ten minutes, in seconds.
  private static let longestWrite = 600

  // MARK: Names

  private static let suffix = ".tmp"

  private static func name(for name: String) -> String {
    ".\(name)." + String(UInt64.random(in: .min ... .max), radix: 36) + suffix
  }

  /// The name that a temporary file would get; nil if it is not named as one.
  static func finalName(of candidate: String) -> String? {
    guard candidate.hasPrefix("."), candidate.hasSuffix(suffix) else { return nil }
    let stem = candidate.dropFirst().dropLast(suffix.count)
    guard let dot = stem.lastIndex(of: "."),
      UInt64(stem[stem.index(after: dot)...], radix: 36) != nil
    else { return nil }
    return String(stem[..<dot])
  }
}
