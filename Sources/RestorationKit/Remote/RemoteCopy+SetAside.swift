internal import ArchiveCodec
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif
internal import Synchronization

/// What was set aside, which is in the store under names of its own.
extension RemoteCopy {
  /// One of them, as the store has it.
  struct StoredAside: Sendable {
    let name: String
    let version: RemoteVersion?
    /// What it is called here.
    let identifier: String
    /// Nil if it is among those of the storage here.
    let stored: RemoteAside?
  }

  /// What is only in the store.
  ///
  /// There may be many, so its bytes are here only while something is done with them.
  final class RemoteAside: Sendable {
    let storage: TrackedStorage
    private let memory = MemoryStorage([])

    /// - Parameter location: Where it is, for a person to read.
    init(location: String) {
      storage = TrackedStorage(memory, location: location, keepsGenerations: false)
    }

    /// Whether nobody has removed it.
    var isThere: Bool { memory.bytes != nil }

    /// Says what it has; nothing lets go of that.
    func hold(_ bytes: [UInt8]) {
      if isThere { memory.bytes = bytes }
    }
  }

  /// What is only in the store of what was set aside; nil if it is here.
  func remoteAside(_ archive: SetAsideArchive) -> RemoteAside? {
    asides.withLock { asides in
      asides.stored.first { $0.identifier == archive.identifier }?.stored
    }
  }

  /// One that is only in the store.
  func stored(asideNamed name: String, _ version: RemoteVersion) -> StoredAside {
    StoredAside(
      name: name, version: version, identifier: name,
      stored: RemoteAside(location: "\(store.location), “\(name)”"))
  }

  /// The name in the store, by which another machine finds out why and when it was set aside.
  func asideName(_ reason: SetAsideReason?, _ date: Date) -> String {
    let moment = Int64(millisecondsTo: date)
    return "\(name)\(StateClaim.asideMark)\((reason ?? .unreadable).rawValue)-\(moment)"
  }

  /// Why and when something was set aside, by its name in the store; nil if it is none.
  func aside(named stored: String) -> (reason: SetAsideReason, date: Date)? {
    guard stored.hasPrefix(name + StateClaim.asideMark) else { return nil }
    let words = stored.dropFirst(name.count + StateClaim.asideMark.count)
      .split(separator: "-", omittingEmptySubsequences: false)
    // A moment before 1970 has a sign.
    let isNegative = words.count > 2 && words[1].isEmpty
    guard words.count >= 2, let reason = SetAsideReason(rawValue: String(words[0])),
      let moment = Int64(isNegative ? "-\(words[2])" : words[1])
    else { return nil }
    return (reason, Date(timeIntervalSince1970: TimeInterval(moment) / 1000))
  }

  /// Under the name that it has in the store, where it is only there.
  func located(_ archive: SetAsideArchive) -> SetAsideArchive {
    guard !isLasting else { return archive }
    let place = "\(store.location), “\(asideName(archive.reason, archive.date))”"
    return SetAsideArchive(
      identifier: archive.identifier, reason: archive.reason, date: archive.date,
      storage: TrackedStorage(archive.storage, location: place, keepsGenerations: true))
  }

  /// What the store does not have; generations stay here.
  func unsentAsides() throws(ArchiveError) -> [SetAsideArchive] {
    let sent = asides.withLock { $0.refused.union($0.stored.map(\.identifier)) }
    return try main.setAsideArchives().filter { !sent.contains($0.identifier) }
  }

  /// Notes that the store has all that was set aside up to a change.
  func markAsidesSent(_ count: UInt64) {
    asides.withLock { $0.sentCount = count }
    writeNote()
  }

  /// Notes that the store will not take one as long as this process runs.
  func refuse(_ aside: SetAsideArchive) {
    asides.withLock { _ = $0.refused.insert(aside.identifier) }
  }

  /// Whether the store may not have all that was set aside.
  var hasUnsentAsides: Bool { asides.withLock { $0.sentCount } != main.changes.setAsideCount }

  /// Notes that some of those in the store may have been removed here.
  func noteRemovedAsides() {
    asides.withLock { $0.hasRemoved = true }
    writeNote()
  }

  /// Notes that the store need not hear of those that were removed.
  func markRemovedAsidesSent() {
    asides.withLock { $0.hasRemoved = false }
    writeNote()
  }

  /// Whether the store may have some that were removed here.
  var hasRemovedAsides: Bool { asides.withLock { $0.hasRemoved } }

  /// Notes what the store has now.
  func note(_ aside: StoredAside) { asides.withLock { $0.stored.append(aside) } }

  /// What is gone here and not in the store.
  func removedAsides() throws(ArchiveError) -> [StoredAside] {
    let here = Set(try main.setAsideArchives().map(\.identifier))
    return asides.withLock { asides in
      asides.stored.filter { aside in
        aside.stored.map { !$0.isThere } ?? !here.contains(aside.identifier)
      }
    }
  }

  /// Leaves in the store what was removed here, to be found there anew.
  func keepRemovedAsides() throws(ArchiveError) {
    for aside in try removedAsides() { forget(aside) }
    markRemovedAsidesSent()
  }

  func forget(_ aside: StoredAside) {
    asides.withLock { $0.stored.removeAll { $0.identifier == aside.identifier } }
  }

  func forget(asideNamed name: String) {
    asides.withLock { $0.stored.removeAll { $0.name == name && $0.stored != nil } }
  }

  /// Those that are only in the store, as far as that is known.
  var storedAsides: [SetAsideArchive] {
    asides.withLock { $0.stored }.compactMap { aside in
      guard let stored = aside.stored, stored.isThere,
        let (reason, date) = self.aside(named: aside.name)
      else { return nil }
      return SetAsideArchive(
        identifier: aside.identifier, reason: reason, date: date, storage: stored.storage)
    }
  }

  /// Whether it is known that the store has something of this name.
  func knows(asideNamed name: String) -> Bool {
    asides.withLock { $0.stored.contains { $0.name == name } }
  }

  struct Asides {
    var stored: [StoredAside] = []
    /// The changes of what is set aside that the store has.
    var sentCount: UInt64 = 0
    var hasRemoved = false
    /// What the store does not take, by what it is called here.
    var refused: Set<String> = []
  }
}
