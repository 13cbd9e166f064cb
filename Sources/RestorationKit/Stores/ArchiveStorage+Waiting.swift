internal import ArchiveCodec

extension ArchiveStorage {
  /// Locks as soon as no other writer has the lock.
  ///
  /// - Parameter limit: How long to wait for other writers.
  /// - Returns: The lock.
  /// - Throws: ``ArchiveError`` with `locked` and the writer that has it if the
  ///   time is over, or if the task is cancelled meanwhile; else as ``lock()``.
  func lock(within limit: Duration) async throws(ArchiveError) -> any ArchiveLock {
    let deadline = ContinuousClock.now + limit
    while true {
      do throws(ArchiveError) {
        return try lock()
      } catch {
        guard error.code == .locked, ContinuousClock.now < deadline, await pause() else {
          throw error
        }
      }
    }
  }

  /// A write takes a few milliseconds; false if nobody waits any more.
  private func pause() async -> Bool {
    do {
      try await Task.sleep(for: .milliseconds(5))
      return true
    } catch {
      return false
    }
  }
}
