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
    var moments = files.moments
    moments.held = { [self] moment in
      history.withLock { $0.held?.id == moment.id ? MemoryStorage($0.held?.bytes) : nil }
    }
    moments.elsewhere = { [self] in history.withLock { Array($0.stored.keys) } }
    moments.removed = { [self] moment in
      files.moments.removed(moment)
      let isStored = history.withLock { history in
        guard let version = history.stored.removeValue(forKey: moment.id) else { return false }
        history.removed[moment.id] = version
        return true
      }
      if isStored { writeNote() }
    }
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
}
