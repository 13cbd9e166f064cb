internal import ArchiveCodec
internal import RestorationFoundation
internal import RestorationKit
internal import Synchronization

/// The history of a state, in the store that several machines share.
extension StoreLink {
  /// Stores moments under names of their own, and before the states that took their place.
  ///
  /// A moment that the store refuses must not hold up the changes after it, so the refusal is
  /// reported, unless the caller wants it thrown.
  ///
  /// - Returns: The moments that were stored, by the identifiers that they had before.
  @discardableResult
  func sendMoments(throwsRefusals: Bool = false) async throws -> [String: Moment] {
    guard remote.hasUnsentMoments else { return [:] }
    let count = remote.history.withLock { $0.kept }
    var (sent, sendsAll) = ([:] as [String: Moment], true)
    for moment in try remote.unsentMoments() {
      guard let file = try remote.files.moments.file(of: moment) else { continue }
      do {
        sent[moment.id] = try await store(try file.read(at: 0, count: file.byteCount), as: moment)
      } catch let error as RemoteStoreError where error.isRefusal && !throwsRefusals {
        refusal = error
        if error.isAboutContent {
          remote.history.withLock { _ = $0.refused.insert(moment.id) }
        } else {
          sendsAll = false
        }
      }
    }
    if sendsAll {
      remote.history.withLock { $0.sent = count }
      remote.writeNote()
    }
    if !sent.isEmpty, let claim = file.claimed { await boundHistory(claim) }
    return sent
  }

  /// Stores a moment under the first name that is free.
  ///
  /// A moment that has the name already is another one of the same time, or was sent before. One that is here
  /// gets the name, too.
  ///
  /// - Returns: The moment as the store has it.
  func store(_ archive: [UInt8], as moment: Moment) async throws -> Moment {
    guard archive.count <= RemoteParcel.largestArchive else {
      throw RemoteStoreError(.tooLarge, "It has more than 4 GiB.")
    }
    let bytes = RemoteParcel(kind: .whole, archive: archive).bytes
    var next = moment
    for _ in 1...Self.largestRoundCount {
      guard let version = try await store(bytes, at: remote.historyPrefix + next.id) else {
        next = Moment(moment.reason, at: moment.date, after: next, byteCount: moment.byteCount)
        continue
      }
      if next.id != moment.id, try remote.files.moments.storage(of: moment).open() != nil {
        try remote.files.moments.storage(of: next).replace { sink throws(ArchiveError) in
          try sink.write(archive)
        }
        try remote.files.moments.remove([moment])
      }
      remote.history.withLock { $0.stored[next.id] = version }
      // In memory what the store has need not be here, too.
      if !remote.isLasting { try remote.files.moments.remove([next]) }
      return next
    }
    throw RemoteStoreError(
      .damaged,
      "\(remote.store.location) has others in the place of “\(remote.historyPrefix + moment.id)”."
        + " Remove them.")
  }

  /// Stores bytes under a name and returns their version; nil if other bytes have the name.
  ///
  /// An empty place is stored first, as for a state. A moment that is there already is stored
  /// again: another machine may be about to remove the version that is there.
  private func store(_ bytes: [UInt8], at name: String) async throws -> RemoteVersion? {
    let empty = StoredLease.place(at: remote.now()).parcel(.random()).bytes
    var place = try await remote.store.replace(name, with: empty, expecting: nil)
    for _ in 0..<2 {
      if let place,
        let version = try await remote.store.replace(name, with: bytes, expecting: place)
      {
        return version
      }
      guard let there = try await remote.store.load(name) else { return nil }
      if there.bytes == bytes { return there.version }
      let content = RemoteContent(there.bytes)
      guard content.isPlace || content.archive == RemoteContent(bytes).archive else { return nil }
      place = there.version
    }
    return nil
  }

  /// Finds the moments in the store, also of other machines.
  func fetchHistory() async throws {
    let prefix = remote.historyPrefix
    let names = try await remote.store.names(prefix: prefix)
    let here = Set(try remote.files.moments.listed().map(\.id))
    let ids = Set(names.map { String($0.dropFirst(prefix.count)) })
    remote.history.withLock { history in
      history.stored = history.stored.filter { ids.contains($0.key) || here.contains($0.key) }
    }
    for id in ids.sorted() {
      guard let moment = Moment(id: id), !moment.reason.isRestorable,
        remote.history.withLock({ $0.stored[id] == nil && $0.removed[id] == nil }),
        let stored = try await remote.store.load(prefix + id)
      else { continue }
      let content = RemoteContent(stored.bytes)
      if content.archive.count == moment.byteCount, !here.contains(id) {
        remote.history.withLock { $0.stored[id] = stored.version }
      } else if content.isPlace, let end = content.lease?.end,
        remote.now().timeIntervalSince(end) > Self.longestPlace
      {
        _ = try await remote.store.remove(prefix + id, expecting: stored.version)
      }
    }
  }

  /// In seconds; to store a moment takes less time, also by a clock that is wrong.
  private static let longestPlace = 24.0 * 60 * 60

  /// Loads a moment that is only in the store, for the call that needs it.
  func hold(_ moment: Moment) async throws(ArchiveError) {
    guard try remote.files.moments.storage(of: moment).open() == nil else { return }
    let stored = try await askStore {
      try await remote.store.load(remote.historyPrefix + moment.id)
    }
    let held = stored.map { (moment.id, RemoteContent($0.bytes).archive) }
    remote.history.withLock { $0.held = held }
  }

  /// Removes moments that are over the bound, also those of other machines.
  ///
  /// A removal that fails is tried again when there is another moment.
  func boundHistory(_ claim: Claim) async {
    do {
      try await fetchHistory()
      file.removeExcess(claim)
      try await removeMoments()
    } catch {
      // A failed removal is no reason to fail the call that has kept another moment.
    }
  }

  /// Removes moments from the store that were removed here.
  ///
  /// A removal that fails is tried again in a while; the state is stored all the same.
  func sendRemovedMoments() async {
    unremoved = nil
    do {
      try await removeMoments()
    } catch {
      unremoved = RemoteStoreError(error)
      tryAgain()
    }
  }

  private func removeMoments() async throws {
    // While the store is asked, more moments may be removed here.
    while let (id, version) = remote.history.withLock({ $0.removed.first }) {
      // If another machine has stored the moment again, that version stays.
      _ = try await remote.store.remove(remote.historyPrefix + id, expecting: version)
      remote.history.withLock { _ = $0.removed.removeValue(forKey: id) }
      if !remote.hasRemovedMoments { remote.writeNote() }
    }
  }
}
