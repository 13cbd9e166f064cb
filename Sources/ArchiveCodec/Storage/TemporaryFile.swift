#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Android)
internal import Android
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A file that is written under a name of its own, until it gets its final one.
///
/// Its writer has it locked, and the system lets the lock go when the writer
/// ends, whatever ends it, in whatever container it runs. So nobody goes on with
/// a file that can be locked, and whoever has locked it may remove it.
package struct TemporaryFile: ~Copyable {
  package let path: String
  let file: OpenFile

  /// Makes and locks a new file.
  ///
  /// - Parameters:
  ///   - directory: Where to make it.
  ///   - name: The name that it is to get.
  ///   - pause: Called between the two; a test does there what others may do.
  /// - Throws: ``ArchiveError``: what the system calls report, and `locked` if
  ///   others remove what is made here again and again.
  package init(
    in directory: Directory, for name: String, pause: () throws(ArchiveError) -> Void = {}
  ) throws(ArchiveError) {
    for _ in 0..<Self.largestTryCount {
      let path = directory.child(Self.name(for: name))
      let file = try OpenFile(path, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
      try pause()
      // Until it is locked, others take it for one that was left behind. They
      // lock it before they remove it: then either the lock is refused here, or
      // the name is gone already.
      switch FileLock.attempt(file) {
      case .locked:
        guard try FileLock.names(path, FileIdentity(try file.status())) else { continue }
      case .refused:
        _ = unsafe unlink(path)
        continue
      case .unsupported:
        break
      }
      self.path = path
      self.file = file
      return
    }
    throw ArchiveError(.locked)
  }

  /// Each try that fails has met another writer that looked at that moment.
  private static let largestTryCount = 100

  /// Removes a file of this user that nobody writes any more.
  ///
  /// Where that cannot be asked, it is one that is older than any write can take.
  static func sweep(_ path: String) throws(ArchiveError) {
    guard let status = try Directory.status(of: path), status.st_uid == geteuid() else { return }
    do throws(ArchiveError) {
      let file = try OpenFile(path, O_WRONLY)
      switch FileLock.attempt(file) {
      case .locked:
        // It may have got its final name before it was locked.
        if try FileLock.names(path, FileIdentity(try file.status())) { _ = unsafe unlink(path) }
        // Held until the name is gone.
        _ = consume file
        return
      case .refused: return
      case .unsupported: break
      }
    } catch {
      // What cannot be opened is told by its age.
    }
    if status.modificationTime < time(nil) - longestWrite { _ = unsafe unlink(path) }
  }

  /// In seconds.
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

extension stat {
  fileprivate var modificationTime: time_t {
    #if canImport(Darwin)
    st_mtimespec.tv_sec
    #else
    st_mtim.tv_sec
    #endif
  }
}
