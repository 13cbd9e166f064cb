internal import ArchiveCodec
internal import RestorationFoundation
internal import Synchronization

/// The lease of the state, if the directory takes leases.
extension RemoteCopy {
  /// The other owner whose lease on a state has not ended; nil if there is none.
  func otherOwner(of state: RemoteState?) -> String? {
    guard let leasing, let state, let lease = RemoteContent(state.bytes).lease,
      lease.holder != leasing.holder, lease.end > leasing.now()
    else { return nil }
    return lease.owner
  }

  /// The owner who keeps this process from taking the lease; nil if nobody does.
  func obstacle(in state: RemoteState?) -> String? {
    leasing?.lease.takesOver == true ? nil : otherOwner(of: state)
  }

  /// Whether another process has the lease on the state that goes on here without the store.
  var isInUseElsewhere: Bool {
    guard isLasting, let leasing, !leasing.lease.takesOver,
      let lease = state.lease
    else { return false }
    return lease.holder != leasing.holder && lease.end > leasing.now()
  }

  /// Whether this process has the lease, as far as it knows.
  var hasLease: Bool {
    guard let leasing else { return false }
    let state = state
    return state.lease?.holder == leasing.holder && state.theirs == nil
  }

  /// Whether the lease is let go as soon as the store has the local state.
  var endsLease: Bool {
    get { state.endsLease }
    set { take(.endsLease(newValue)) }
  }

  /// Whether there is anything to be sent now.
  var needsSending: Bool { isUnsent || hasUnsentMoments || hasRemovedMoments || isRenewalDue }

  var isRenewalDue: Bool { hasLease && isLeaseDue }

  /// Whether the lease is to be taken or renewed: half of its time is over.
  var isLeaseDue: Bool { dueLease != nil }

  var dueLease: StoredLease? {
    guard let leasing else { return nil }
    let lease = state.lease
    guard lease?.holder == leasing.holder, let end = lease?.end,
      end.timeIntervalSince(leasing.now()) > leasing.seconds / 2
    else { return newLease }
    return nil
  }

  var newLease: StoredLease? {
    leasing.map { leasing in
      StoredLease(
        holder: leasing.holder, end: leasing.now().addingTimeInterval(leasing.seconds),
        owner: leasing.lease.owner)
    }
  }

  /// A renewed lease of this process, for a state with nothing else to be sent; nil if
  /// the process has no lease, or it is not due.
  func renewal() -> Outgoing? { isRenewalDue ? outgoingLease() : nil }

  /// A lease for a state with nothing else to be sent; nil if none is due.
  func outgoingLease() -> Outgoing? { dueLease.flatMap(outgoing) }

  /// A place, which holds the name in the store until the state comes.
  func outgoingPlace() -> Outgoing? { outgoing(newLease ?? .place(at: now())) }

  /// A place with the lease of this process, for a state that is gone; nil if the
  /// process has no lease, or is about to let it go.
  func outgoingPlace(insteadOf base: Base) -> Outgoing? {
    guard hasLease, !endsLease, let lease = newLease else { return nil }
    return outgoing(lease, insteadOf: base, changes)
  }

  /// A lease that has ended, which lets go of the lease of this process; nil if it has none.
  func outgoingRelease() -> Outgoing? {
    guard hasLease, let leasing else { return nil }
    if let base = state.base, base.isPlace { return removal(of: base) }
    return outgoing(
      StoredLease(holder: leasing.holder, end: leasing.now(), owner: leasing.lease.owner))
  }

  private func outgoing(_ lease: StoredLease) -> Outgoing? {
    let state = state
    let base = state.theirs == nil ? state.base : nil
    guard let base, !base.isPlace else { return outgoing(lease, insteadOf: base, nil) }
    let parcel = lease.parcel(.random())
    return parcel.bytes.map { bytes in
      let attempt = Attempt(
        .lease, parcel.id, parcelCount: base.parcelCount + 1, byteCount: base.byteCount,
        changes: nil, lease: lease)
      return begin(attempt, bytes, expecting: base.version)
    }
  }

  /// A write of a lease alone, which makes a place.
  private func outgoing(
    _ lease: StoredLease, insteadOf base: Base?, _ changes: Changes?
  ) -> Outgoing? {
    let parcel = lease.parcel(.random())
    return parcel.bytes.map { bytes in
      let attempt = Attempt(
        .place, parcel.id, parcelCount: 1, byteCount: 0, changes: changes, lease: lease)
      return begin(attempt, bytes, expecting: base?.version)
    }
  }

  /// Whether another process may have a lease that this process has not looked for.
  ///
  /// A process that has only looked at a state has not asked for its lease.
  var mayBeLeased: Bool { leasing != nil && !hasLease && !isUnsent }
}
