/// What is known of one state, here and in the store, and what is under way between the two.
///
/// A value that changes by events alone, in ``after(_:at:)``: nothing is asked, read or written there.
/// The changes that are made here are counted, and a state is unsent as long as their count is another one than
/// that of the changes that the store has.
package struct SyncState: Equatable, Sendable {
  /// What the store has, as far as is known here.
  package enum Store: Equatable, Sendable {
    /// The store was not asked, or what was known does not count any more.
    case unknown
    /// A state or a place; nil for nothing.
    case known(Base?)
  }

  /// A replica may be so many saves behind.
  private static let largestPast = 64
  /// More answers than are lost in a row before the first attempt is settled.
  private static let largestAttemptCount = 64

  package var store = Store.unknown
  /// The writes whose answers are missing: the store may have any of them.
  package var attempts: [Attempt] = []
  /// The state that another machine has stored, or the inner nil if it has removed that: somebody decides which
  /// one stays, and nothing is sent until then.
  package var theirs: RemoteState??
  /// The last parcels of earlier states of the store; nil where it had nothing.
  package var past: [RemoteParcel.ID?] = []

  /// The changes that the store has.
  package var sent: Changes = 0
  /// Whether the local archive no longer begins with the one in the store, so that it is sent whole.
  package var needsWhole = false
  /// The changes after which the state was removed here.
  package var removed: Changes?
  /// The changes after which the store was to have nothing, also no lease.
  package var unwanted: Changes?

  /// The lease that the store has.
  package var lease: StoredLease?
  /// Whether the lease is let go as soon as the store has the local state.
  package var endsLease = false

  /// The result of the proof; nil before it.
  package var finding: LocalFinding?

  /// Begins without knowing anything.
  ///
  /// - Parameter finding: What is known of the local state without a proof.
  package init(finding: LocalFinding? = nil) {
    self.finding = finding
  }
}

// MARK: Parts

extension SyncState {
  /// How many changes were made here.
  package typealias Changes = UInt64

  /// Another count than there is, so that all counts as unsent.
  private static let none = Changes.max

  /// A state of the store, or a place.
  package struct Base: Equatable, Codable, Sendable {
    package var version: RemoteVersion
    /// The last parcel; nil if no parcel was whole.
    package var id: RemoteParcel.ID?
    package var parcelCount: Int
    /// The size in bytes of the archive in the parcels.
    package var byteCount: Int
    /// Whether the store has only a place, and no state yet.
    package var isPlace: Bool

    init(_ version: RemoteVersion, _ content: RemoteContent) {
      self.version = version
      (id, parcelCount) = (content.ids.last, content.ids.count)
      (byteCount, isPlace) = (content.archive.count, content.isPlace)
    }

    package init(
      _ version: RemoteVersion, id: RemoteParcel.ID? = nil, parcelCount: Int = 0,
      byteCount: Int = 0, isPlace: Bool = false
    ) {
      self.version = version
      (self.id, self.parcelCount, self.byteCount) = (id, parcelCount, byteCount)
      self.isPlace = isPlace
    }
  }

  /// A write that is being sent, or whose answer was lost.
  package struct Attempt: Equatable, Sendable {
    package enum Kind: Sendable {
      /// What was added to the archive.
      case change
      case whole
      /// A lease alone, behind the state.
      case lease
      /// A lease alone, which replaces what the store has.
      case place
      case removal
    }

    package let kind: Kind
    package let id: RemoteParcel.ID
    package let parcelCount: Int
    package let byteCount: Int
    /// The changes that the write brings to the store; nil if it brings none.
    package let changes: Changes?
    /// The lease that the write takes; nil if the lease stays as it is.
    package let lease: StoredLease?

    package init(
      _ kind: Kind, _ id: RemoteParcel.ID, parcelCount: Int, byteCount: Int, changes: Changes?,
      lease: StoredLease? = nil
    ) {
      (self.kind, self.id, self.changes, self.lease) = (kind, id, changes, lease)
      (self.parcelCount, self.byteCount) = (parcelCount, byteCount)
    }
  }
}

// MARK: Questions

extension SyncState {
  /// What the store has, as far as is known; nil also if nothing is known.
  var base: Base? {
    if case .known(let base) = store { base } else { nil }
  }

  /// Whether the store has not confirmed the whole local state.
  package func isUnsent(at changes: Changes) -> Bool { sent != changes || theirs != nil }
}

// MARK: Events

/// Something that happens to a state, here or in the store.
package enum SyncEvent: Equatable, Sendable {
  // When the copy is there.
  /// Nothing is known of the store; whether there is a state here.
  case began(isHere: Bool)
  /// The local state was compared with its note, which says this of the store.
  case proved(LocalFinding, SyncNote)

  // Here.
  /// The local state was removed.
  case removed
  /// Nothing of the state is to be in the store, not even a place.
  case unwanted
  /// These changes leave nothing to be sent, as if they were undone.
  case undone(SyncState.Changes)
  /// The state was claimed, or is let go.
  case endsLease(Bool)
  /// Nothing of a doubted state was ever in the store, so it may be sent.
  case trusted

  // Between here and the store.
  case sent(SyncState.Attempt)
  /// The store has stored an attempt; a nil version stands for a removal.
  case stored(RemoteParcel.ID, as: RemoteVersion?)
  /// The store has not stored an attempt.
  case notStored(RemoteParcel.ID)
  /// The store was asked, and has what was known.
  case asked
  /// The store has this lease now, or none that is to be renewed.
  case leased(StoredLease?)
  /// The state of the store has replaced the local one.
  case took(SyncState.Base?, StoredLease?, needsWhole: Bool)
  /// The local state begins with that of the store, which was sent from here.
  case recognized(SyncState.Base, StoredLease?, isAll: Bool)
  /// The store has a place of somebody, or nothing, where there was a place.
  case foundPlace(SyncState.Base?)

  // Conflicts.
  case opposed(RemoteState?)
  /// The local state is to replace the one that it is in conflict with.
  case prevailed
}

/// What the note of a launch says of the store.
package enum SyncNote: Equatable, Sendable {
  case nothing
  /// The state was removed here, and the store had this then.
  case removal(SyncState.Base?)
  /// The store had this; whether the file goes on from it, and is all of it.
  case base(SyncState.Base, isSame: Bool, isAll: Bool)
}

/// What is to be done after an event.
package enum SyncAction: Equatable, Sendable {
  /// So many bytes of the archive are in the store, or will be.
  case mark(Int)
  /// The next launch needs to know.
  case note
}

extension SyncState {
  /// Says what becomes of the state by an event.
  ///
  /// - Parameters:
  ///   - event: The event.
  ///   - changes: The changes that were made here until now.
  /// - Returns: The state afterwards, and what is to be done, in this order.
  package func after(_ event: SyncEvent, at changes: Changes) -> (SyncState, [SyncAction]) {
    var next = self
    let actions = next.take(event, changes)
    return (next, actions)
  }

  private mutating func take(_ event: SyncEvent, _ changes: Changes) -> [SyncAction] {
    switch event {
    case .began(let isHere): sent = isHere ? Self.none : 0
    case .proved(let finding, let note): return take(finding, note, changes)

    case .removed:
      removed = changes
      return isUnsent(at: changes) ? [.note] : []
    case .unwanted: (sent, unwanted, needsWhole) = (Self.none, changes, true)
    case .undone(let undone): sent = undone
    case .endsLease(let ends): endsLease = ends
    case .trusted: (finding, sent, needsWhole) = (.trusted, Self.none, true)

    case .sent(let attempt): return send(attempt)
    case .stored(let id, let version): return settle(id, version)
    case .notStored(let id): attempts.removeAll { $0.id == id }
    case .asked: if store == .unknown { see(nil) }
    case .leased(let lease): self.lease = lease
    case .took(let base, let lease, let needsWhole):
      see(base)
      (attempts, theirs, self.lease, self.needsWhole) = ([], nil, lease, needsWhole)
      (sent, finding) = (changes, .trusted)
      return [.note]
    case .recognized(let base, let lease, let isAll):
      see(base)
      (attempts, self.lease, needsWhole) = ([], lease, false)
      sent = isAll ? changes : Self.none
      finding?.file = .whole
      finding?.note = .fits
      return [.mark(base.byteCount), .note]
    case .foundPlace(let place):
      see(place)
      (attempts, lease, needsWhole) = ([], nil, true)

    case .opposed(let theirs): (attempts, self.theirs) = ([], theirs)
    case .prevailed:
      guard let theirs else { break }
      self.theirs = nil
      // Nothing of the local state was sent on the base of the other one, so all is sent.
      see(theirs.map { Base($0.version) })
      (lease, sent, finding, needsWhole) = (nil, Self.none, .trusted, true)
    }
    return []
  }

  private mutating func take(
    _ finding: LocalFinding, _ note: SyncNote, _ changes: Changes
  ) -> [SyncAction] {
    self.finding = finding
    switch note {
    // A doubted state is sent only if somebody saves, and then it is a conflict.
    case _ where finding.isDoubted: sent = changes
    case .nothing: break
    case .removal(let base):
      (removed, sent) = (0, Self.none)
      if let base {
        see(base)
        needsWhole = true
      }
    case .base(let base, let isSame, let isAll):
      see(base)
      needsWhole = !isSame
      sent = isSame && isAll ? 0 : Self.none
      return isSame ? [.mark(base.byteCount)] : []
    }
    return []
  }

  private mutating func send(_ attempt: Attempt) -> [SyncAction] {
    guard theirs == nil else { return [] }
    attempts = (attempts + [attempt]).suffix(Self.largestAttemptCount)
    if attempt.kind == .whole || attempt.kind == .place { needsWhole = true }
    let hasArchive = attempt.kind == .whole || attempt.kind == .change
    return hasArchive ? [.mark(attempt.byteCount)] : []
  }

  private mutating func settle(_ id: RemoteParcel.ID, _ version: RemoteVersion?) -> [SyncAction] {
    // If the store was compared since then, that result counts more than a late answer.
    guard let attempt = attempts.first(where: { $0.id == id }) else { return [] }
    // A later attempt may go on from another version.
    let isLast = attempts.last?.id == id
    let base = version.map {
      Base(
        $0, id: id, parcelCount: attempt.parcelCount, byteCount: attempt.byteCount,
        isPlace: attempt.kind == .place)
    }
    see(base)
    attempts = []
    lease = version == nil ? nil : attempt.lease ?? lease
    switch attempt.kind {
    case .whole, .removal: needsWhole = !isLast
    case .change, .lease, .place: if !isLast { needsWhole = true }
    }
    sent = attempt.changes ?? sent
    return [.note]
  }

  /// Notes what the store has, and that what was known of it before is older.
  private mutating func see(_ base: Base?) {
    past.removeAll { $0 == base?.id }
    if case .known(let before) = store, before?.id != base?.id {
      past = (past + [before?.id]).suffix(Self.largestPast)
    }
    store = .known(base)
  }
}
