#if SecretService
internal import ArchiveCodec
internal import RestorationLibc
internal import RestorationKit

/// The file that says that the key is in the service, and that one process locks
/// while it makes the key.
///
/// The service has no call that makes an item only if there is none: it makes a second
/// one, or replaces the first one.
struct ServiceNote: Sendable {
  private let path: String

  init(application: String) {
    path = BaseDirectories.current.keyringNote(of: application)
  }

  /// Whether the key is known to be in the service.
  func isWritten() throws(ArchiveError) -> Bool {
    do throws(ArchiveError) {
      guard let status = try Directory.status(of: path) else { return false }
      return status.st_size > 0
    } catch {
      throw error.located(at: path)
    }
  }

  /// Notes it, on stable storage: what the key seals may be, too.
  func write() throws(ArchiveError) {
    do throws(ArchiveError) {
      let file = try OpenFile(path, O_WRONLY)
      try file.write(Array("The key is in the Secret Service.\n".utf8), at: 0)
      try file.synchronize()
      try Directory(parentOf: path).open().synchronize()
    } catch {
      throw error.located(at: path)
    }
  }

  /// Waits until no other process, and no other thread of this one, does the same.
  func alone<Result>(
    _ body: () throws(ArchiveError) -> Result
  ) throws(ArchiveError) -> Result {
    let file = try lockedFile()
    // Closing lets the lock go, also when the process is killed.
    defer { _ = flock(file.descriptor, LOCK_UN) }
    return try body()
  }

  private func lockedFile() throws(ArchiveError) -> OpenFile {
    do throws(ArchiveError) {
      try Directory(parentOf: path).create()
      let file = try OpenFile(path, O_RDWR | O_CREAT, mode: 0o600)
      try SystemCall.check { flock(file.descriptor, LOCK_EX) }
      return file
    } catch {
      throw error.located(at: path)
    }
  }
}
#endif
