internal import ArchiveCodec
internal import RestorationKit
internal import Synchronization

/// Decides which of two states stays that two machines have stored.
extension StoreLink {
  /// Ends a conflict, if there is one.
  ///
  /// - Returns: The moment that the state has become which does not stay; nil if there is none.
  func resolve(keepingTheirs: Bool, _ claim: Claim) async throws(ArchiveError) -> String? {
    await sent()
    // The store's state may have changed since the conflict was found.
    let theirs = try await askStore { try await remote.store.load(remote.name) }
    guard remote.theirs != nil else { return nil }
    // A state in a later format is neither taken nor replaced.
    let content = try remote.read(theirs)
    remote.take(.opposed(theirs))
    let kept = try await keepingTheirs ? giveWay(to: theirs) : prevail(over: content.state)
    await boundHistory(claim)
    return kept?.id
  }

  /// Lets the local state take the place of the store's, if there is one, which the store keeps under another
  /// name before.
  private func prevail(over theirs: [UInt8]?) async throws(ArchiveError) -> Moment? {
    let kept = try await askStore {
      guard let theirs else { return nil as Moment? }
      let last = try remote.moments.listed().last
      return try await store(
        theirs,
        as: Moment(.conflict, at: file.conditions.now, after: last, byteCount: theirs.count))
    }
    remote.take(.prevailed)
    return kept
  }

  private func giveWay(to theirs: RemoteState?) async throws(ArchiveError) -> Moment? {
    let isHere = try remote.isHere()
    // A discard that gives way may have removed moments, too, and they come back.
    if !isHere {
      remote.history.withLock { $0.removed = [:] }
      remote.writeNote()
    }
    var kept = isHere ? try remote.moments.keep(.conflict, at: file.conditions.now) : nil
    do throws(ArchiveError) {
      let sent = try await askStore { try await sendMoments(throwsRefusals: true) }
      kept = kept.map { sent[$0.id] ?? $0 }
    } catch {
      // On the disk of this machine the state that gives way is safe, so only a copy in memory
      // must reach the store.
      if !remote.isLasting { throw error }
    }
    try adopt(unconditionally: theirs)
    remote.tell(.current)
    return kept
  }
}
