internal import ArchiveCodec
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif
internal import Synchronization

/// The lease of the state, as far as the directory takes any.
extension RemoteCopy {
  /// Whose lease is on a state that has not ended; nil if it is this process, or nobody.
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

  /// Whether another process has the lease of what is worked on here without the store.
  var isInUseElsewhere: Bool {
    guard isLasting, let leasing, !leasing.lease.takesOver,
      let lease = content.withLock({ $0.lease })
    else { return false }
    return lease.holder != leasing.holder && lease.end > leasing.now()
  }

  /// Notes whose lease is on what the store has.
  func noteLease(of state: RemoteState?) {
    let lease = state.flatMap { RemoteContent($0.bytes).lease }
    content.withLock { $0.lease = lease }
  }

  /// Whether this process has the lease, as far as it knows.
  var hasLease: Bool {
    guard let leasing else { return false }
    return content.withLock { $0.lease?.holder == leasing.holder && $0.theirs == nil }
  }

  /// Says that the lease is no longer renewed.
  func forgetLease() { content.withLock { ($0.lease, $0.endsLease) = (nil, false) } }

  /// Whether the lease is let go when the store has what is here.
  var endsLease: Bool {
    get { content.withLock { $0.endsLease } }
    set { content.withLock { $0.endsLease = newValue } }
  }

  /// Whether there is anything to be sent now.
  var needsSending: Bool { isUnsent || hasUnsentAsides || hasRemovedAsides || isRenewalDue }

  var isRenewalDue: Bool { hasLease && isLeaseDue }

  /// Whether the lease is to be taken or renewed: at half of its time.
  var isLeaseDue: Bool { dueLease != nil }

  var dueLease: StoredLease? {
    guard let leasing else { return nil }
    let lease = content.withLock { $0.lease }
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

  /// The lease of this process for longer, for a state that has nothing else to be sent; nil if
  /// it has none, or it is not due.
  func renewal() -> Outgoing? { isRenewalDue ? outgoingLease() : nil }

  /// A lease for a state that has nothing else to be sent; nil if none is due.
  func outgoingLease() -> Outgoing? { dueLease.flatMap(outgoing) }

  /// A place for a state of which the store has nothing.
  func outgoingPlace() -> Outgoing? { outgoing(newLease ?? .place(at: now())) }

  /// A place with the lease of this process for a state that is gone; nil if it has none, or is
  /// about to let it go.
  func outgoingPlace(insteadOf base: Base) -> Outgoing? {
    guard hasLease, !endsLease, let lease = newLease else { return nil }
    return outgoing(lease, insteadOf: base, changes)
  }

  /// A lease that has ended, if this process has one.
  func outgoingRelease() -> Outgoing? {
    guard hasLease, let leasing else { return nil }
    if let base = content.withLock({ $0.base }), base.isPlace { return removal(of: base) }
    return outgoing(
      StoredLease(holder: leasing.holder, end: leasing.now(), owner: leasing.lease.owner))
  }

  private func outgoing(_ lease: StoredLease) -> Outgoing? {
    let base = content.withLock { $0.theirs == nil ? $0.base : nil }
    guard let base, !base.isPlace else { return outgoing(lease, insteadOf: base, nil) }
    let parcel = lease.parcel(.random())
    return parcel.bytes.map { bytes in
      begin(
        Outgoing(
          write: .append(bytes, expecting: base.version),
          attempt: Attempt(
            id: parcel.id, isWhole: false, parcelCount: base.parcelCount + 1,
            byteCount: base.byteCount, changes: nil, lease: lease)))
    }
  }

  /// A lease alone, which makes a place.
  private func outgoing(
    _ lease: StoredLease, insteadOf base: Base?, _ changes: Changes?
  ) -> Outgoing? {
    let parcel = lease.parcel(.random())
    return parcel.bytes.map { bytes in
      content.withLock { $0.needsWhole = true }
      return begin(
        Outgoing(
          write: .replace(bytes, expecting: base?.version),
          attempt: Attempt(
            id: parcel.id, isWhole: false, parcelCount: 1, byteCount: 0, changes: changes,
            lease: lease, isPlace: true)))
    }
  }

  /// Whether another process may have a lease that nobody has looked for here.
  ///
  /// Who has only looked at a state has not asked for it.
  var mayBeLeased: Bool { leasing != nil && !hasLease && !isUnsent }
}
