internal import ArchiveCodec
internal import RestorationKit
internal import Synchronization

/// The history of the state: the moments here, and those that the store has under names of their own.
///
/// What a restore may try stays here; the store gets the moments that keep somebody's work.
extension RemoteCopy {
  struct History {
    /// The moments that the store has, by their identifiers.
    var stored: [String: RemoteVersion] = [:]
    /// The moments that were removed here, and that the store still has.
    var removed: [String: RemoteVersion] = [:]
    /// The identifiers of the moments that the store does not take.
    var refused: Set<String> = []
    /// Grows when a moment is kept, and the count up to which the store has all.
    var kept: UInt64 = 0
    var sent: UInt64 = 0
    /// The bytes of a moment that is only in the store, while something is done with it.
    var held: (id: String, bytes: [UInt8])?
  }

  /// What the names of moments begin with in the store.
  var historyPrefix: String { "\(name).history-" }

  /// The moments here and in the store, for the keeper.
  var moments: MomentStore {
    var moments = MomentStore(of: self, in: SharedMoments(copy: self), prefix: "")
    moments.putLink = { [self] id throws(ArchiveError) in
      if Moment(id: id)?.reason.isRestorable == true {
        // Nothing is damaged in memory, so that nothing is kept there for that.
        return isLasting ? try files.moments.putLink(id) : true
      }
      history.withLock { $0.kept += 1 }
      return try files.moments.putLink(id)
    }
    return moments
  }

  /// The moments that the store does not have.
  func unsentMoments() throws(ArchiveError) -> [Moment] {
    let history = history.withLock { $0 }
    return try files.moments.listed().filter {
      !$0.reason.isRestorable && history.stored[$0.id] == nil && !history.refused.contains($0.id)
    }
  }

  /// Whether the store may lack moments.
  var hasUnsentMoments: Bool { history.withLock { $0.sent != $0.kept } }

  /// Whether the store may have moments that were removed here.
  var hasRemovedMoments: Bool { history.withLock { !$0.removed.isEmpty } }

  /// Notes that the store has every moment up to a count.
  func markMomentsSent(_ count: UInt64) {
    history.withLock { $0.sent = count }
    writeNote()
  }

  /// Notes a moment that the store has now; in memory it need not be here, too.
  func noteStored(_ moment: Moment, _ version: RemoteVersion) throws(ArchiveError) {
    history.withLock { $0.stored[moment.id] = version }
    if !isLasting { try files.moments.remove([moment]) }
  }

  /// Notes that a moment was removed here.
  fileprivate func noteRemoved(_ moment: Moment) {
    let isStored = history.withLock { history in
      guard let version = history.stored.removeValue(forKey: moment.id) else { return false }
      history.removed[moment.id] = version
      return true
    }
    if isStored { writeNote() }
  }

  /// Leaves removed moments in the store, to be found there anew.
  func keepRemovedMoments() {
    history.withLock { $0.removed = [:] }
    writeNote()
  }
}

/// The moments here and in the store, as storages.
private struct SharedMoments: StateDirectory {
  let copy: RemoteCopy

  func storage(named id: String) -> any ArchiveStorage {
    Moment(id: id).map { SharedMoment(moment: $0, copy: copy) } ?? MemoryStorage()
  }

  func names() throws(ArchiveError) -> [String] {
    let here = try copy.files.moments.listed().map(\.id)
    return Array(Set(here).union(copy.history.withLock { $0.stored.keys }))
  }
}

private struct SharedMoment: PassingStorage {
  let moment: Moment
  let copy: RemoteCopy

  var base: any ArchiveStorage { copy.files.moments.storage(of: moment) }

  func open() throws(ArchiveError) -> (any ArchiveFile)? {
    if let file = try base.open() { return file }
    let held = copy.history.withLock { $0.held }
    return held?.id == moment.id ? try MemoryStorage(held?.bytes).open() : nil
  }

  func remove() throws(ArchiveError) {
    try copy.files.moments.remove([moment])
    copy.noteRemoved(moment)
  }
}
