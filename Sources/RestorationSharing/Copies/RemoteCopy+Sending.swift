internal import ArchiveCodec
internal import RestorationKit
internal import Synchronization

/// The writes to the store, and their results.
extension RemoteCopy {
  /// After so many parcels the whole state is sent: a load must not take longer and longer.
  private static let largestParcelCount = 512

  /// The next write to the store; nil if the store has everything.
  func outgoing() throws(ArchiveError) -> Outgoing? {
    let (changes, state) = (changes, state)
    let isSent = !state.isUnsent(at: changes)
    // Renewals of a lease alone make the stored state longer, too.
    let isTooLong = state.base.map { $0.parcelCount >= Self.largestParcelCount } ?? false
    guard !isSent || isTooLong && isRenewalDue else { return renewal() }
    guard try isHere(), let file = try files.main.open() else {
      if isSent { return renewal() }
      guard let base = state.base else {
        take(.undone(changes))
        return nil
      }
      take(.removed)
      // While this process has the lease, a place stays in the store.
      guard !isUnwanted, hasLease, !endsLease else { return begin(.removal, after: base, changes) }
      return begin(.place, after: base, changes, newLease)
    }
    guard let base = state.base else { return outgoing(newLease ?? .place(at: now())) }
    if !state.needsWhole, !isTooLong,
      tracked.withLock({ $0.unchangedByteCount }) >= base.byteCount,
      let added = try bytes(from: base.byteCount)
    {
      guard added.isEmpty else {
        return begin(.change, after: base, changes, dueLease, try checked(added))
      }
      // The change was undone before it was sent.
      take(.undone(changes))
      return renewal()
    }
    // The whole state replaces any lease, so the lease is written anew.
    let archive = try file.read(at: 0, count: file.byteCount)
    return begin(.whole, after: base, changes, newLease, try checked(archive))
  }

  private func checked(_ archive: [UInt8]) throws(ArchiveError) -> [UInt8] {
    guard archive.count <= RemoteParcel.largestArchive else {
      throw ArchiveError(.limitExceeded, subject: "more than 4 GiB", location: location)
    }
    return archive
  }

  /// Notes that a write is sent, and makes its bytes: of an archive or of what is added to it, and of a lease.
  func begin(
    _ kind: Attempt.Kind, after base: Base?, _ changes: Changes?, _ lease: StoredLease? = nil,
    _ archive: [UInt8] = []
  ) -> Outgoing {
    let id = RemoteParcel.ID.random()
    let parcel: RemoteParcel? =
      switch kind {
      case .change: RemoteParcel(id: id, kind: .change, archive: archive)
      case .whole: RemoteParcel(id: id, kind: .whole, archive: archive)
      case .lease, .place, .removal: nil
      }
    let begun = kind == .change || kind == .lease ? base : nil
    let attempt = Attempt(
      kind, id, parcelCount: (begun?.parcelCount ?? 0) + 1,
      byteCount: (begun?.byteCount ?? 0) + archive.count, changes: changes, lease: lease)
    take(.sent(attempt))
    let bytes = (parcel?.bytes ?? []) + (lease?.parcel(id).bytes ?? [])
    return Outgoing(attempt: attempt, bytes: bytes, expected: base?.version)
  }

  /// Whether nothing was written since the store was to have nothing.
  var isUnwanted: Bool { state.unwanted == changes }

  /// Whether the store may have a state that is to be removed, and was not asked.
  var mayBeThere: Bool { isUnsent && isUnwanted && version == nil }

  /// Whether an answer is missing, so that the state of the store is not known.
  var isUnclear: Bool { !state.attempts.isEmpty }

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
    if base?.isPlace ?? true, stored.isPlace, otherOwner(of: stored.lease) == nil {
      return endsDoubt() ? goOn(from: Base(state.version, stored)) : .changed
    }
    // A process may have ended after a write and before it noted the answer. Then the
    // local bytes begin with those of the store: no two archives begin alike.
    guard isLasting, otherOwner(of: stored.lease) == nil, stored.hasState, !stored.isDamaged,
      stored.archive.count >= Self.sampleByteCount,
      // The noted archive is a part of it then. A shorter archive was brought back by somebody.
      self.state.needsWhole || stored.archive.count >= base?.byteCount ?? 0,
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
      told.isRetrying = needsSending && theirs == nil
      return told.isRetrying
    }
  }
}
