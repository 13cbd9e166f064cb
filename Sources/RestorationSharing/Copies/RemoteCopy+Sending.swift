internal import ArchiveCodec
internal import RestorationKit
internal import Synchronization

/// The writes to the store, and their results.
extension RemoteCopy {
  /// After so many parcels the whole state is sent: a load must not take longer and longer.
  private static let largestParcelCount = 512
  /// More answers than are lost in a row before the first attempt is settled.
  private static let largestAttemptCount = 64

  /// The next write to the store; nil if the store has everything.
  func outgoing() throws(ArchiveError) -> Outgoing? {
    let changes = changes
    let (base, needsWhole, isSent) = content.withLock { content in
      (content.seen.base, content.needsWhole, content.sent == changes && content.theirs == nil)
    }
    // Renewals of a lease alone make the stored state longer, too.
    let isTooLong = isRenewalDue && base.map { $0.parcelCount >= Self.largestParcelCount } ?? false
    guard !isSent || isTooLong else { return renewal() }
    let file = try main.open()
    let subkeys = try secrets.bytes() ?? []
    let isAnythingHere = if file == nil { try hasSubkeys(in: subkeys) } else { true }
    guard isAnythingHere else {
      if isSent { return renewal() }
      guard let base else {
        content.withLock { $0.sent = changes }
        return nil
      }
      noteRemoval()
      return (isUnwanted ? nil : outgoingPlace(insteadOf: base)) ?? removal(of: base)
    }
    guard base != nil else { return outgoingPlace() }
    if let base, !needsWhole, base.parcelCount < Self.largestParcelCount,
      main.changes.unchangedByteCount >= base.byteCount,
      content.withLock({ $0.sent.secrets == changes.secrets }),
      let added = try main.bytes(from: base.byteCount)
    {
      guard !added.isEmpty else {
        // The change was undone before it was sent.
        content.withLock { $0.sent = changes }
        return renewal()
      }
      return try outgoingChange(added, of: base, changes)
    }
    let archive = try file?.read(at: 0, count: file?.byteCount ?? 0) ?? []
    return try outgoingWhole(archive, subkeys, insteadOf: base, changes)
  }

  private func outgoingChange(
    _ added: [UInt8], of base: Base, _ changes: Changes
  ) throws(ArchiveError) -> Outgoing {
    let parcel = RemoteParcel(kind: .change, secrets: [], archive: added)
    let lease = dueLease
    let attempt = Attempt(
      id: parcel.id, isWhole: false, parcelCount: base.parcelCount + 1,
      byteCount: base.byteCount + added.count, changes: changes, lease: lease)
    main.mark(attempt.byteCount)
    return begin(
      Outgoing(
        write: .append(try checked(parcel, lease), expecting: base.version), attempt: attempt))
  }

  private func outgoingWhole(
    _ archive: [UInt8], _ subkeys: [UInt8], insteadOf base: Base?, _ changes: Changes
  ) throws(ArchiveError) -> Outgoing {
    let parcel = RemoteParcel(kind: .whole, secrets: subkeys, archive: archive)
    // The whole state replaces any lease, so the lease is written anew.
    let lease = newLease
    let attempt = Attempt(
      id: parcel.id, isWhole: true, parcelCount: 1, byteCount: archive.count, changes: changes,
      lease: lease)
    main.mark(archive.count)
    content.withLock { $0.needsWhole = true }
    return begin(
      Outgoing(
        write: .replace(try checked(parcel, lease), expecting: base?.version), attempt: attempt))
  }

  /// Whether bytes have subkeys, and not only the names of forgotten ones.
  ///
  /// Bytes that cannot be read may have some.
  func hasSubkeys(in bytes: [UInt8]) throws(ArchiveError) -> Bool {
    guard !bytes.isEmpty, let opener = opener.withLock({ $0 }),
      let key = try opener.keys.key(creating: false)
    else { return !bytes.isEmpty }
    do throws(ArchiveError) {
      let file = SecretsFile(storage: MemoryStorage(bytes), context: opener.subkeysContext)
      return try !file.read(key).entries.isEmpty
    } catch {
      guard error.isAboutContent else { throw error }
      return true
    }
  }

  /// Whether the store has nothing of the state, as far as is known.
  var hasNothing: Bool { content.withLock { $0.seen.isFetched && $0.seen.base?.isPlace ?? true } }

  /// Orders that the store has nothing of the state, not even a place.
  func wantNothing() {
    let changes = changes
    content.withLock { content in
      content.sent = Changes(main: .max, secrets: .max)
      content.unwanted = changes
    }
  }

  /// Whether nothing was written since ``wantNothing()``.
  var isUnwanted: Bool {
    let changes = changes
    return content.withLock { $0.unwanted == changes }
  }

  /// Whether the store may have a state that is to be removed, and was not asked.
  var mayBeThere: Bool { isUnsent && isUnwanted && version == nil }

  func removal(of base: Base) -> Outgoing {
    let attempt = Attempt(
      id: .random(), isWhole: true, parcelCount: 0, byteCount: 0, changes: changes)
    return begin(Outgoing(write: .remove(base.version), attempt: attempt))
  }

  private func checked(
    _ parcel: RemoteParcel, _ lease: StoredLease?
  ) throws(ArchiveError) -> [UInt8] {
    guard let bytes = parcel.bytes else {
      throw ArchiveError(.limitExceeded, subject: "more than 4 GiB", location: main.location)
    }
    return bytes + (lease?.parcel(parcel.id).bytes ?? [])
  }

  func begin(_ outgoing: Outgoing) -> Outgoing {
    content.withLock { content in
      content.attempts.append(outgoing.attempt)
      if content.attempts.count > Self.largestAttemptCount { content.attempts.removeFirst() }
    }
    return outgoing
  }

  /// Notes that the store does not have an attempt.
  func giveUp(_ attempt: Attempt) {
    content.withLock { $0.attempts.removeAll { $0.id == attempt.id } }
  }

  /// Whether an answer is missing, so that the state of the store is not known.
  var isUnclear: Bool { content.withLock { !$0.attempts.isEmpty } }

  /// Notes that the store has stored an attempt; a nil version stands for a removal.
  func settle(_ attempt: Attempt, as version: RemoteVersion?) {
    content.withLock { content in
      // If the store was compared since then, that result counts more than a late answer.
      guard content.attempts.contains(where: { $0.id == attempt.id }) else { return }
      // A later attempt may go on from another version.
      let isLast = content.attempts.last?.id == attempt.id
      content.seen.base = version.map { Base($0, after: attempt) }
      content.seen.lease = version == nil ? nil : attempt.lease ?? content.seen.lease
      if attempt.isWhole || !isLast { content.needsWhole = !isLast }
      content.sent = attempt.changes ?? content.sent
      (content.attempts, content.theirs) = ([], nil)
      content.seen.isFetched = true
    }
    writeNote()
  }

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
    let (base, past) = content.withLock { ($0.seen.base, $0.seen.past) }
    guard state?.version != base?.version else { return false }
    guard let state else { return past.contains(nil) }
    let content = RemoteContent(state.bytes)
    guard let id = content.ids.last, !content.isDamaged else { return false }
    return past.contains(id)
  }

  /// Compares the state of the store with the attempts.
  func compare(_ state: RemoteState?) throws(ArchiveError) -> Finding {
    let (base, attempts) = content.withLock { ($0.seen.base, $0.attempts) }
    guard let state else { return compareWithNothing(base, attempts) }
    if state.version == base?.version { return .asBefore }
    let stored = try read(state)
    if let attempt = attempts.last(where: { stored.ids.contains($0.id) }) {
      // Parcels of others follow the attempt, so nothing may be appended.
      guard stored.ids.last == attempt.id else { return .changed }
      settle(attempt, as: state.version)
      return .settled
    }
    if isOlder(state) { return .older }
    if base?.isPlace ?? true, stored.isPlace, otherOwner(of: state) == nil {
      return endsDoubt() ? goOn(from: Base(state.version, stored)) : .changed
    }
    // A process may have ended after a write and before it noted the answer. Then the
    // local bytes begin with those of the store: no two archives begin alike.
    let opposes = content.withLock { $0.opposes }
    guard isLasting, !opposes, otherOwner(of: state) == nil, stored.hasState, !stored.isDamaged,
      stored.archive.count >= Self.sampleByteCount, couldHaveSent(stored.archive.count),
      let bytes = try main.bytes(), bytes.starts(with: stored.archive)
    else { return .changed }
    try adopt(stored, state.version, here: bytes)
    return .settled
  }

  private func compareWithNothing(_ base: Base?, _ attempts: [Attempt]) -> Finding {
    if let removal = attempts.last(where: { $0.parcelCount == 0 }) {
      settle(removal, as: nil)
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
    endDoubt()
    return true
  }

  /// Goes on from the state of the store, which was sent from here.
  private func adopt(
    _ stored: RemoteContent, _ version: RemoteVersion, here bytes: [UInt8]
  ) throws(ArchiveError) {
    let hasSecrets = try secrets.bytes() ?? [] == stored.secrets
    main.mark(stored.archive.count)
    content.withLock { content in
      content.seen.base = Base(version, stored)
      content.seen.lease = stored.lease
      (content.needsWhole, content.attempts) = (false, [])
      content.seen.isFetched = true
      content.sent = Changes(
        main: bytes.count == stored.archive.count ? changes.main : .max,
        secrets: hasSecrets ? changes.secrets : .max)
      content.finding?.file = .whole
      content.finding?.note = .fits
      // Another machine may have forgotten some subkeys.
      content.mergesSubkeys = !hasSecrets
    }
    writeNote()
  }

  /// Whether an archive of this size, with which the local bytes begin, may have been
  /// sent from here.
  ///
  /// The noted archive is a part of it then. A shorter archive was brought back by somebody.
  private func couldHaveSent(_ byteCount: Int) -> Bool {
    content.withLock { content in
      content.needsWhole || byteCount >= content.seen.base?.byteCount ?? 0
    }
  }

  /// Goes on from another place, or from none: a place holds no state, so nothing is lost.
  private func goOn(from place: Base?) -> Finding {
    content.withLock { content in
      (content.seen.base, content.seen.lease, content.attempts) = (place, nil, [])
      (content.needsWhole, content.seen.isFetched) = (true, true)
    }
    return .settled
  }

  /// Notes that the state of the store is in conflict with the local one.
  func oppose(_ state: RemoteState?) {
    content.withLock { content in
      content.theirs = .some(state)
      content.attempts = []
    }
  }

  /// Lets the local state replace the state of the store that is in conflict with it.
  func prevail() {
    content.withLock { content in
      guard let theirs = content.theirs else { return }
      (content.theirs, content.seen.lease) = (nil, nil)
      // Nothing of the local state was sent on the base of the other state, so all is sent.
      content.sent = Changes(main: .max, secrets: .max)
      content.seen.base = theirs.map { Base($0.version) }
      (content.finding, content.opposes) = (.trusted, false)
    }
  }
}
