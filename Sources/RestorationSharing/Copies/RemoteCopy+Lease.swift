internal import ArchiveCodec
internal import RestorationFoundation
internal import Synchronization

/// The lease of the state, if the directory takes leases.
extension RemoteCopy {
  /// The other owner of a lease that has not ended; nil if there is none.
  func otherOwner(of lease: StoredLease?) -> String? {
    guard let leasing, let lease, lease.holder != leasing.holder, lease.end > now() else {
      return nil
    }
    return lease.owner
  }

  /// The owner who keeps this process from taking the lease of a state; nil if nobody does.
  func obstacle(in state: RemoteState?) -> String? {
    guard let leasing, !leasing.lease.takesOver, let state else { return nil }
    return otherOwner(of: RemoteContent(state.bytes).lease)
  }

  /// Whether another process has the lease on the state that goes on here without the store.
  var isInUseElsewhere: Bool {
    isLasting && leasing?.lease.takesOver == false && otherOwner(of: state.lease) != nil
  }

  /// Whether this process has the lease, as far as it knows.
  var hasLease: Bool {
    leasing != nil && state.lease?.holder == leasing?.holder && theirs == nil
  }

  /// Whether the lease is let go as soon as the store has the local state.
  var endsLease: Bool { state.endsLease }

  /// Whether there is anything to be sent now.
  var needsSending: Bool { isUnsent || hasUnsentMoments || hasRemovedMoments || isRenewalDue }

  var isRenewalDue: Bool { hasLease && dueLease != nil }

  /// The lease to take or to renew; nil before half of its time is over.
  var dueLease: StoredLease? {
    guard let leasing else { return nil }
    if let lease = state.lease, lease.holder == leasing.holder,
      lease.end.timeIntervalSince(now()) > leasing.seconds / 2
    {
      return nil
    }
    return newLease
  }

  var newLease: StoredLease? {
    leasing.map { $0.lease(until: now().addingTimeInterval($0.seconds)) }
  }

  /// A renewed lease of this process, for a state with nothing else to be sent; nil if
  /// the process has no lease, or it is not due.
  func renewal() -> Outgoing? { hasLease ? outgoingLease() : nil }

  /// A lease for a state with nothing else to be sent; nil if none is due.
  func outgoingLease() -> Outgoing? { dueLease.map(outgoing) }

  /// A lease that has ended, which lets go of the lease of this process; nil if it has none.
  func outgoingRelease() -> Outgoing? {
    guard hasLease, let leasing else { return nil }
    if let base = state.base, base.isPlace { return begin(.removal, after: base, changes) }
    return outgoing(leasing.lease(until: now()))
  }

  /// A lease alone; where the store has no state, it is a place, which holds the name until one comes.
  func outgoing(_ lease: StoredLease) -> Outgoing {
    let base = state.base
    let kind: Attempt.Kind = base.map { !$0.isPlace } == true ? .lease : .place
    return begin(kind, after: base, nil, lease)
  }
}
