internal import ArchiveCodec
internal import Synchronization

/// Keeps a stored archive open for the changes that follow, for as long as a file has it.
///
/// An open archive takes guarded memory for keys, of which a process has little, and a descriptor
/// if the archive is a file. So of all states only the ones are open that were saved last. An open
/// archive does not prolong the claim of the state.
package final class OpenArchive: Sendable {
  private struct Content {
    let writer: ArchiveWriter
    let key: ArchiveKey
    /// The provider's stamp of the key.
    var stamp: KeyFile.Stamp?
    let lock: BorrowedLock
  }

  private struct Recent {
    weak var state: OpenArchive?
  }

  /// The open archives of one kind, in any order.
  private final class Recents: Sendable {
    let states = Mutex<[Recent]>([])
    let useCount = Atomic<UInt64>(0)
    let largestCount: Int

    init(largestCount: Int) {
      self.largestCount = largestCount
    }
  }

  private static let inFiles = Recents(largestCount: 8)
  /// Many servers have more sessions than this, but their sessions save at once only when they end.
  private static let inMemory = Recents(largestCount: 1024)

  private let content = Mutex<Content?>(nil)
  private let takesDescriptor: Bool
  /// The number of the last use, counted over all states of the kind.
  private let lastUse = Atomic<UInt64>(0)
  private let isListed = Atomic(false)

  init(takesDescriptor: Bool) {
    self.takesDescriptor = takesDescriptor
  }

  package func close() { content.withLock { $0 = nil } }

  /// Opens the stored archive, or one that is still to be written; the first change cuts off an end
  /// that is not whole.
  ///
  /// The file may be open already.
  ///
  /// - Throws: As ``ArchiveWriter/open(_:with:context:limits:recovery:)``.
  func open(
    _ storage: any ArchiveStorage, _ key: CurrentKey, _ context: ArchiveContext,
    _ lock: any ArchiveLock, _ limits: ArchiveLimits, _ file: (any AppendableArchiveFile)? = nil
  ) throws(ArchiveError) -> ArchiveWriter {
    let lock = BorrowedLock(lock)
    let writer = try ArchiveWriter(
      storage, with: .key(key.key), context: context, lock: lock, file: file, limits: limits)
    content.withLock {
      $0 = Content(writer: writer, key: key.key, stamp: key.stamp, lock: lock)
    }
    comeFirst()
    return writer
  }

  /// The open writer, if it writes with this key and under this lock.
  func writer(with key: CurrentKey, _ lock: any ArchiveLock) -> ArchiveWriter? {
    writer(under: lock) { content in
      guard content.key.isSame(as: key.key) else { return false }
      content.stamp = key.stamp
      return true
    }
  }

  /// The open writer, if its key is still the provider's current one and it writes under this lock.
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

  /// A builder for changes of a version; nil if another version is open, or none.
  func builder(changing version: ArchiveVersion) -> RecordBuilder? {
    content.withLock { content in
      guard let writer = content?.writer, writer.version == version else { return nil }
      return writer.builder()
    }
  }

  /// The open archive of a version; nil if another version is open, or none.
  func archive(of version: ArchiveVersion) -> Archive? {
    content.withLock { content in
      guard let writer = content?.writer, writer.version == version else { return nil }
      return writer.archive
    }
  }

  /// Notes a use, and closes the archive that was used least recently if too many are open.
  ///
  /// - Complexity: O(1), and O(*n*) in the open archives when too many are open.
  private func comeFirst() {
    let recents = takesDescriptor ? Self.inFiles : Self.inMemory
    let use = recents.useCount.wrappingAdd(1, ordering: .relaxed).newValue
    lastUse.store(use, ordering: .relaxed)
    guard !isListed.exchange(true, ordering: .acquiringAndReleasing) else { return }
    let last = recents.states.withLock { recent -> OpenArchive? in
      recent.append(Recent(state: self))
      guard recent.count > recents.largestCount else { return nil }
      recent.removeAll { $0.state == nil }
      guard recent.count > recents.largestCount else { return nil }
      let uses = recent.enumerated().compactMap { place, recent in
        recent.state.map { (state: $0, use: $0.lastUse.load(ordering: .relaxed), place: place) }
      }
      guard let oldest = uses.min(by: { $0.use < $1.use }) else { return nil }
      recent.remove(at: oldest.place)
      oldest.state.isListed.store(false, ordering: .releasing)
      return oldest.state
    }
    last?.close()
  }
}

/// A lock whose owner lets it go; the archive does not hold it.
private final class BorrowedLock: ArchiveLock {
  weak let lock: (any ArchiveLock)?

  init(_ lock: any ArchiveLock) {
    self.lock = lock
  }

  func isHeld() throws(ArchiveError) -> Bool { try lock?.isHeld() ?? false }
}
