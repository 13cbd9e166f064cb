internal import ArchiveCodec
internal import Synchronization

/// What the store does not have, and what became of what was sent.
extension RemoteCopy {
  /// After so many parcels the whole state is sent: a load should not take ever longer.
  private static let largestParcelCount = 512
  /// More answers than get lost in a row before the first is settled.
  private static let largestAttemptCount = 64

  /// What the store does not have yet; nil if it has all.
  func outgoing() throws(ArchiveError) -> Outgoing? {
    let changes = changes
    let (base, needsWhole, isSent) = content.withLock { content in
      (content.base, content.needsWhole, content.sent == changes && content.theirs == nil)
    }
    // A state that is only held gets longer, too.
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
        // What was written was taken back.
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
    // A whole state has taken the place of any lease.
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

  /// Whether there are subkeys among bytes, and not only the names of those that are forgotten.
  ///
  /// Where that cannot be read there may be some.
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
  var hasNothing: Bool { content.withLock { $0.isFetched && $0.base?.isPlace ?? true } }

  /// Says that the store is to have nothing, also no place for a state.
  func wantNothing() {
    let changes = changes
    content.withLock { content in
      content.sent = Changes(main: .max, secrets: .max)
      content.unwanted = changes
    }
  }

  /// Whether nothing was written since the store was to have nothing.
  var isUnwanted: Bool {
    let changes = changes
    return content.withLock { $0.unwanted == changes }
  }

  /// Whether somebody may have stored what is to be removed, and nobody has looked.
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

  /// Says that the store does not have an attempt.
  func giveUp(_ attempt: Attempt) {
    content.withLock { $0.attempts.removeAll { $0.id == attempt.id } }
  }

  /// Whether an answer is missing, so that nobody knows what the store has.
  var isUnclear: Bool { content.withLock { !$0.attempts.isEmpty } }

  /// Says that the store has stored an attempt, or what was removed.
  func settle(_ attempt: Attempt, as version: RemoteVersion?) {
    content.withLock { content in
      // Whoever has looked at the store since then knows better than a late answer.
      guard content.attempts.contains(where: { $0.id == attempt.id }) else { return }
      // What came after it may go on from something else.
      let isLast = content.attempts.last?.id == attempt.id
      content.base = version.map { Base($0, after: attempt) }
      content.lease = version == nil ? nil : attempt.lease ?? content.lease
      if attempt.isWhole || !isLast { content.needsWhole = !isLast }
      content.sent = attempt.changes ?? content.sent
      (content.attempts, content.theirs) = ([], nil)
      content.isFetched = true
    }
    writeNote()
  }

  /// What the state of the store says of what was sent.
  enum Finding {
    /// The store has what was known before: nothing of what was tried.
    case asBefore
    /// It has one of the attempts, which was settled.
    case settled
    /// It has what it had before that: an old answer, as of a copy of the store that is behind.
    ///
    /// If it says so for long, somebody has brought that back.
    case older
    /// Somebody else has stored something.
    case changed
  }

  /// Whether a state is one that the store had before what it has now, as far as is known.
  func isOlder(_ state: RemoteState?) -> Bool {
    let (base, past) = content.withLock { ($0.base, $0.past) }
    guard state?.version != base?.version else { return false }
    guard let state else { return past.contains(nil) }
    let content = RemoteContent(state.bytes)
    guard let id = content.ids.last, !content.isDamaged else { return false }
    return past.contains(id)
  }

  /// Compares what the store has with what was sent.
  func compare(_ state: RemoteState?) throws(ArchiveError) -> Finding {
    let (base, attempts) = content.withLock { ($0.base, $0.attempts) }
    guard let state else { return compareWithNothing(base, attempts) }
    if state.version == base?.version { return .asBefore }
    let stored = try read(state)
    if let attempt = attempts.last(where: { stored.ids.contains($0.id) }) {
      // What follows it is not known here, so nothing may be appended to that.
      guard stored.ids.last == attempt.id else { return .changed }
      settle(attempt, as: state.version)
      return .settled
    }
    if isOlder(state) { return .older }
    if base?.isPlace ?? true, stored.isPlace, otherOwner(of: state) == nil {
      return endsDoubt() ? goOn(from: Base(state.version, stored)) : .changed
    }
    // A process that ended before it noted an answer has sent it: no two archives begin alike.
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
    // What is doubted here was there.
    guard endsDoubt() else { return .changed }
    guard let base else { return .asBefore }
    if base.isPlace { return goOn(from: nil) }
    return isOlder(nil) ? .older : .changed
  }

  /// Ends a doubt about what is here where nothing is known of what was sent; false if a note says
  /// that something was.
  private func endsDoubt() -> Bool {
    guard finding.isDoubted else { return true }
    guard finding.note == .missing else { return false }
    endDoubt()
    return true
  }

  /// Goes on from what the store has, which was sent from here.
  private func adopt(
    _ stored: RemoteContent, _ version: RemoteVersion, here bytes: [UInt8]
  ) throws(ArchiveError) {
    let hasSecrets = try secrets.bytes() ?? [] == stored.secrets
    main.mark(stored.archive.count)
    content.withLock { content in
      content.base = Base(version, stored)
      content.lease = stored.lease
      (content.needsWhole, content.attempts) = (false, [])
      content.isFetched = true
      content.sent = Changes(
        main: bytes.count == stored.archive.count ? changes.main : .max,
        secrets: hasSecrets ? changes.secrets : .max)
      content.finding?.file = .whole
      content.finding?.note = .fits
      // Another machine may have forgotten some.
      content.mergesSubkeys = !hasSecrets
    }
    writeNote()
  }

  /// Whether an archive of that size, with which what is here begins, may come from here.
  ///
  /// What was noted is part of it then. A shorter one was brought back by somebody.
  private func couldHaveSent(_ byteCount: Int) -> Bool {
    content.withLock { content in
      content.needsWhole || byteCount >= content.base?.byteCount ?? 0
    }
  }

  /// Takes another place for the state, or none: nothing was lost by that.
  private func goOn(from place: Base?) -> Finding {
    content.withLock { content in
      (content.base, content.lease, content.attempts) = (place, nil, [])
      (content.needsWhole, content.isFetched) = (true, true)
    }
    return .settled
  }

  /// Notes that what the store has stands against what is here.
  func oppose(_ state: RemoteState?) {
    content.withLock { content in
      content.theirs = .some(state)
      content.attempts = []
    }
  }

  /// Lets what is here take the place of what the store has.
  func prevail() {
    content.withLock { content in
      guard let theirs = content.theirs else { return }
      (content.theirs, content.lease) = (nil, nil)
      content.needsWhole = true
      // What is here was not sent to that.
      content.sent = Changes(main: .max, secrets: .max)
      content.base = theirs.map { Base($0.version) }
      (content.finding, content.opposes) = (.trusted, false)
    }
  }
}
