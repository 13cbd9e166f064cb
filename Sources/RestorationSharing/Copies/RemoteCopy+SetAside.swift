internal import ArchiveCodec
internal import RestorationFoundation
internal import RestorationKit
internal import Synchronization

/// The set-aside states, which are in the store under names of their own.
extension RemoteCopy {
  /// A set-aside state in the store.
  struct StoredAside: Sendable {
    let name: String
    let version: RemoteVersion?
    /// The identifier of the state on this machine.
    let identifier: String
    /// The state, if it is only in the store; nil if the local storage has it.
    let stored: RemoteAside?
  }

  /// A set-aside state that is only in the store.
  ///
  /// There may be many, so the bytes are in memory only while something is done with them.
  final class RemoteAside: Sendable {
    let storage: TrackedStorage
    private let memory = MemoryStorage([])

    /// - Parameter location: Where the state is, for a person to read.
    init(location: String) {
      storage = TrackedStorage(memory, location: location, keepsGenerations: false)
    }

    /// Whether nobody has removed the state.
    var isThere: Bool { memory.bytes != nil }

    /// Takes the bytes of the state; no bytes free the memory of the earlier ones.
    func hold(_ bytes: [UInt8]) {
      if isThere { memory.bytes = bytes }
    }
  }

  /// The state of an archive that is only in the store; nil if the archive is here.
  func remoteAside(_ archive: SetAsideArchive) -> RemoteAside? {
    asides.withLock { asides in
      asides.stored.first { $0.identifier == archive.identifier }?.stored
    }
  }

  /// A set-aside state that is only in the store.
  func stored(asideNamed name: String, _ version: RemoteVersion) -> StoredAside {
    StoredAside(
      name: name, version: version, identifier: name,
      stored: RemoteAside(location: "\(store.location), “\(name)”"))
  }

  /// The name in the store, from which another machine learns the reason and the date.
  func asideName(_ reason: SetAsideReason?, _ date: Date) -> String {
    let moment = Int64(millisecondsTo: date)
    return "\(name)\(StateClaim.asideMark)\((reason ?? .unreadable).rawValue)-\(moment)"
  }

  /// The reason and the date in a name of the store; nil if the name is not that of a
  /// set-aside state.
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

  /// The archive with its name in the store as its location, if only the store keeps it.
  func located(_ archive: SetAsideArchive) -> SetAsideArchive {
    guard !isLasting else { return archive }
    let place = "\(store.location), “\(asideName(archive.reason, archive.date))”"
    return SetAsideArchive(
      identifier: archive.identifier, reason: archive.reason, date: archive.date,
      storage: TrackedStorage(archive.storage, location: place, keepsGenerations: true))
  }

  /// The set-aside states that the store does not have.
  ///
  /// Generations stay here.
  func unsentAsides() throws(ArchiveError) -> [SetAsideArchive] {
    let sent = asides.withLock { $0.refused.union($0.stored.map(\.identifier)) }
    return try main.setAsideArchives().filter { !sent.contains($0.identifier) }
  }

  /// Notes that the store has every set-aside state up to a change.
  func markAsidesSent(_ count: UInt64) {
    asides.withLock { $0.sentCount = count }
    writeNote()
  }

  /// Notes that the store does not take a state as long as this process runs.
  func refuse(_ aside: SetAsideArchive) {
    asides.withLock { _ = $0.refused.insert(aside.identifier) }
  }

  /// Whether the store may lack set-aside states.
  var hasUnsentAsides: Bool { asides.withLock { $0.sentCount } != main.changes.setAsideCount }

  /// Notes that set-aside states in the store may have been removed here.
  func noteRemovedAsides() {
    asides.withLock { $0.hasRemoved = true }
    writeNote()
  }

  /// Notes that no removal is left to be sent.
  func markRemovedAsidesSent() {
    asides.withLock { $0.hasRemoved = false }
    writeNote()
  }

  /// Whether the store may have states that were removed here.
  var hasRemovedAsides: Bool { asides.withLock { $0.hasRemoved } }

  /// Notes a set-aside state that the store has now.
  func note(_ aside: StoredAside) { asides.withLock { $0.stored.append(aside) } }

  /// The set-aside states that are gone here and still in the store.
  func removedAsides() throws(ArchiveError) -> [StoredAside] {
    let here = Set(try main.setAsideArchives().map(\.identifier))
    return asides.withLock { asides in
      asides.stored.filter { aside in
        aside.stored.map { !$0.isThere } ?? !here.contains(aside.identifier)
      }
    }
  }

  /// Leaves removed states in the store, to be found there anew.
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

  /// The set-aside states that are known to be only in the store.
  var storedAsides: [SetAsideArchive] {
    asides.withLock { $0.stored }.compactMap { aside in
      guard let stored = aside.stored, stored.isThere,
        let (reason, date) = self.aside(named: aside.name)
      else { return nil }
      return SetAsideArchive(
        identifier: aside.identifier, reason: reason, date: date, storage: stored.storage)
    }
  }

  /// Whether the store is known to have a set-aside state of this name.
  func knows(asideNamed name: String) -> Bool {
    asides.withLock { $0.stored.contains { $0.name == name } }
  }

  struct Asides {
    var stored: [StoredAside] = []
    /// The count of ``TrackedStorage/Changes/setAsideCount`` up to which the store has all.
    var sentCount: UInt64 = 0
    var hasRemoved = false
    /// The identifiers of the states that the store does not take.
    var refused: Set<String> = []
  }
}
