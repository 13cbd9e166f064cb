internal import ArchiveCodec
internal import RestorationKit
internal import Synchronization

/// The writes to the store, and their results.
extension RemoteCopy {
  /// After so many parcels the whole state is sent: a load must not take longer and longer.
  private static let largestParcelCount = 512

  /// The next write to the store; nil if the store has everything.
  func outgoing() throws(ArchiveError) -> Outgoing? {
    let changes = changes
    let state = state
    let (base, isSent) = (state.base, !state.isUnsent(at: changes))
    // Renewals of a lease alone make the stored state longer, too.
    let isTooLong = isRenewalDue && base.map { $0.parcelCount >= Self.largestParcelCount } ?? false
    guard !isSent || isTooLong else { return renewal() }
    guard try isHere(), let file = try files.main.open() else {
      if isSent { return renewal() }
      guard let base else {
        take(.undone(changes))
        return nil
      }
      take(.removed)
      return (isUnwanted ? nil : outgoingPlace(insteadOf: base)) ?? removal(of: base)
    }
    guard base != nil else { return outgoingPlace() }
    if let base, !state.needsWhole, base.parcelCount < Self.largestParcelCount,
      tracked.withLock({ $0.unchangedByteCount }) >= base.byteCount,
      let added = try bytes(from: base.byteCount)
    {
      guard !added.isEmpty else {
        // The change was undone before it was sent.
        take(.undone(changes))
        return renewal()
      }
      return try outgoingChange(added, of: base, changes)
    }
    let archive = try file.read(at: 0, count: file.byteCount)
    return try outgoingWhole(archive, insteadOf: base, changes)
  }

  private func outgoingChange(
    _ added: [UInt8], of base: Base, _ changes: Changes
  ) throws(ArchiveError) -> Outgoing {
    let parcel = RemoteParcel(kind: .change, archive: added)
    let lease = dueLease
    let attempt = Attempt(
      .change, parcel.id, parcelCount: base.parcelCount + 1,
      byteCount: base.byteCount + added.count, changes: changes, lease: lease)
    return begin(attempt, try checked(parcel, lease), expecting: base.version)
  }

  private func outgoingWhole(
    _ archive: [UInt8], insteadOf base: Base?, _ changes: Changes
  ) throws(ArchiveError) -> Outgoing {
    let parcel = RemoteParcel(kind: .whole, archive: archive)
    // The whole state replaces any lease, so the lease is written anew.
    let lease = newLease
    let attempt = Attempt(
      .whole, parcel.id, parcelCount: 1, byteCount: archive.count, changes: changes, lease: lease)
    return begin(attempt, try checked(parcel, lease), expecting: base?.version)
  }

  /// Whether nothing was written since the store was to have nothing.
  var isUnwanted: Bool { state.unwanted == changes }

  /// Whether the store may have a state that is to be removed, and was not asked.
  var mayBeThere: Bool { isUnsent && isUnwanted && version == nil }

  func removal(of base: Base) -> Outgoing {
    let attempt = Attempt(.removal, .random(), parcelCount: 0, byteCount: 0, changes: changes)
    return begin(attempt, [], expecting: base.version)
  }

  private func checked(
    _ parcel: RemoteParcel, _ lease: StoredLease?
  ) throws(ArchiveError) -> [UInt8] {
    guard let bytes = parcel.bytes else {
      throw ArchiveError(.limitExceeded, subject: "more than 4 GiB", location: location)
    }
    return bytes + (lease?.parcel(parcel.id).bytes ?? [])
  }

  func begin(_ attempt: Attempt, _ bytes: [UInt8], expecting version: RemoteVersion?) -> Outgoing {
    take(.sent(attempt))
    return Outgoing(attempt: attempt, bytes: bytes, expected: version)
  }

  /// Whether an answer is missing, so that the state of the store is not known.
  var isUnclear: Bool { state.phase(at: changes) == .awaiting }

  /// The result of comparing the store with the attempts.
  enum Finding {
    /// The store has the version that was known before, and none of the attempts.
    case asBefore
    /// The store has one of the attempts, which was settled.
    case settled
    /// The store answers with a state from before the known one, as a replica that is behind does.
    ///
    /// If the answer stays so for long, somebody has brought that state back.
    case older
    /// Another machine has stored something.
    case changed
  }

  /// Whether the store had a state before its present one, as far as is known.
  func isOlder(_ state: RemoteState?) -> Bool {
    let (base, past) = (sync.withLock { ($0.base, $0.past) })
    guard state?.version != base?.version else { return false }
    guard let state else { return past.contains(nil) }
    let content = RemoteContent(state.bytes)
    guard let id = content.ids.last, !content.isDamaged else { return false }
    return past.contains(id)
  }

  /// Compares the state of the store with the attempts.
  func compare(_ state: RemoteState?) throws(ArchiveError) -> Finding {
    let (base, attempts) = sync.withLock { ($0.base, $0.attempts) }
    guard let state else { return compareWithNothing(base, attempts) }
    if state.version == base?.version { return .asBefore }
    let stored = try read(state)
    if let attempt = attempts.last(where: { stored.ids.contains($0.id) }) {
      // Parcels of others follow the attempt, so nothing may be appended.
      guard stored.ids.last == attempt.id else { return .changed }
      take(.stored(attempt.id, as: state.version))
      return .settled
    }
    if isOlder(state) { return .older }
    if base?.isPlace ?? true, stored.isPlace, otherOwner(of: state) == nil {
      return endsDoubt() ? goOn(from: Base(state.version, stored)) : .changed
    }
    // A process may have ended after a write and before it noted the answer. Then the
    // local bytes begin with those of the store: no two archives begin alike.
    guard isLasting, otherOwner(of: state) == nil, stored.hasState, !stored.isDamaged,
      stored.archive.count >= Self.sampleByteCount, couldHaveSent(stored.archive.count),
      let bytes = try bytes(), bytes.starts(with: stored.archive)
    else { return .changed }
    // Goes on from the state of the store, which was sent from here.
    take(
      .recognized(
        Base(state.version, stored), stored.lease, isAll: bytes.count == stored.archive.count))
    return .settled
  }

  private func compareWithNothing(_ base: Base?, _ attempts: [Attempt]) -> Finding {
    if let removal = attempts.last(where: { $0.kind == .removal }) {
      take(.stored(removal.id, as: nil))
      return .settled
    }
    // A doubted state was in the store once, so an empty store is a change.
    guard endsDoubt() else { return .changed }
    guard let base else { return .asBefore }
    if base.isPlace { return goOn(from: nil) }
    return isOlder(nil) ? .older : .changed
  }

  /// Ends a doubt about the local state if no note says that something was sent; false if one does.
  private func endsDoubt() -> Bool {
    guard finding.isDoubted else { return true }
    guard finding.note == .missing else { return false }
    take(.trusted)
    return true
  }

  /// Whether an archive of this size, with which the local bytes begin, may have been
  /// sent from here.
  ///
  /// The noted archive is a part of it then. A shorter archive was brought back by somebody.
  private func couldHaveSent(_ byteCount: Int) -> Bool {
    let state = state
    return state.needsWhole || byteCount >= state.base?.byteCount ?? 0
  }

  /// Goes on from another place, or from none: a place holds no state, so nothing is lost.
  private func goOn(from place: Base?) -> Finding {
    take(.foundPlace(place))
    return .settled
  }
}

/// Sending again what could not be sent.
extension RemoteCopy {
  /// Notes that it is tried; false if it was before.
  func beginRetry() -> Bool {
    told.withLock { told in
      defer { told.isRetrying = true }
      return !told.isRetrying
    }
  }

  /// Whether another try is needed; nothing is tried as long as somebody has to decide.
  func goesOnRetrying() -> Bool {
    told.withLock { told in
      told.isRetrying = needsSending && !isInConflict
      return told.isRetrying
    }
  }
}
