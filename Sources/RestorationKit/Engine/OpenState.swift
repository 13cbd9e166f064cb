internal import ArchiveCodec
internal import Synchronization

/// What goes on with a stored archive, for as long as a file has it.
///
/// It takes a descriptor, so of all states of a process only those are open that were
/// saved last. It does not prolong the claim of the state.
final class OpenState: Sendable {
  private struct Content {
    let writer: ArchiveWriter
    let key: ArchiveKey
    /// What the provider said of the key before it gave it.
    var stamp: KeyFile.Stamp?
    let lock: BorrowedLock
  }

  private struct Recent {
    weak var state: OpenState?
  }

  private static let recent = Mutex<[Recent]>([])
  private static let largestCount = 8

  private let content = Mutex<Content?>(nil)

  func close() { content.withLock { $0 = nil } }

  /// Opens what is stored, or will be; the first change cuts off an end that is not whole.
  ///
  /// - Throws: As ``ArchiveWriter/open(_:with:context:limits:recovery:)``.
  func open(
    _ storage: any ArchiveStorage, _ key: CurrentKey, _ context: ArchiveContext,
    _ lock: any ArchiveLock, _ limits: ArchiveLimits
  ) throws(ArchiveError) -> ArchiveWriter {
    let lock = BorrowedLock(lock)
    let writer = try ArchiveWriter(
      storage, with: .key(key.key), context: context, lock: lock, limits: limits)
    content.withLock {
      $0 = Content(writer: writer, key: key.key, stamp: key.stamp, lock: lock)
    }
    comeFirst()
    return writer
  }

  /// What is open, if it writes what a key opens under a lock.
  func writer(with key: CurrentKey, _ lock: any ArchiveLock) -> ArchiveWriter? {
    writer(under: lock) { content in
      guard content.key.isSame(as: key.key) else { return false }
      content.stamp = key.stamp
      return true
    }
  }

  /// The same, if the key is still what it was.
  func writer(withKeyOf stamp: KeyFile.Stamp, _ lock: any ArchiveLock) -> ArchiveWriter? {
    writer(under: lock) { $0.stamp == stamp }
  }

  private func writer(
    under lock: any ArchiveLock, _ hasKey: (inout Content) -> Bool
  ) -> ArchiveWriter? {
    let writer = content.withLock { content -> ArchiveWriter? in
      guard var open = content, open.lock.lock === lock, hasKey(&open) else { return nil }
      content = open
      return open.writer
    }
    if writer != nil { comeFirst() }
    return writer
  }

  /// A builder of what changes a version; nil if that is not what is open.
  func builder(changing version: ArchiveVersion) -> RecordBuilder? {
    content.withLock { content in
      guard let writer = content?.writer, writer.version == version else { return nil }
      return writer.builder()
    }
  }

  /// Closes the one that was used least recently, if there are too many.
  private func comeFirst() {
    let last = Self.recent.withLock { recent -> OpenState? in
      if recent.last?.state === self { return nil }
      recent.removeAll { $0.state == nil || $0.state === self }
      recent.append(Recent(state: self))
      return recent.count > Self.largestCount ? recent.removeFirst().state : nil
    }
    last?.close()
  }
}

/// A key with what its provider said of it before it gave it.
struct CurrentKey {
  let key: ArchiveKey
  let stamp: KeyFile.Stamp?
}

/// A lock that somebody else lets go.
private final class BorrowedLock: ArchiveLock {
  weak let lock: (any ArchiveLock)?

  init(_ lock: any ArchiveLock) {
    self.lock = lock
  }

  func isHeld() throws(ArchiveError) -> Bool { try lock?.isHeld() ?? false }
}
