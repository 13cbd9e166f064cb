internal import ArchiveCodec
internal import RestorationKit

/// Merges the subkeys of this machine and of the store.
extension StoreLink {
  /// Stores the subkeys of a store's state before the state takes the place of the local one.
  ///
  /// The subkeys are written in one step: whenever the process ends, subkeys that were forgotten
  /// here are in neither state, and archives that are set aside have the secrets that they had.
  ///
  /// - Parameters:
  ///   - content: The content of the store; nil if it has none.
  ///   - ours: The subkeys of the local state that is set aside.
  /// - Returns: False if the subkeys are the ones of the store, unchanged, and nothing was stored.
  /// - Throws: The errors of the storage, and the reason why there is no key.
  func mergeSubkeys(
    of content: RemoteContent?, keeping ours: [SecretKeys.Entry] = []
  ) throws(ArchiveError) -> Bool {
    let here = try remote.secrets.bytes() ?? []
    guard !here.isEmpty || !secrets.subkeys.forgotten.isEmpty,
      let key = try archive.opener.keys.key(creating: false)
    else { return false }
    let theirs = try secrets.content(of: content?.secrets ?? [])
    let forgotten = try secrets.content(of: here).forgotten
      .union(secrets.subkeys.forgotten).union(theirs.forgotten)
    let stored =
      ours.isEmpty
      ? [] : content?.state.flatMap { secrets.referred(in: MemoryStorage($0)) } ?? []
    // If the store's state refers to a subkey that it does not have, the subkey was forgotten.
    let gone = forgotten.union(stored).union(theirs.entries.map(\.id))
    let kept = ours.filter { !gone.contains($0.id) }
    let left = theirs.entries.filter { !forgotten.contains($0.id) }
    // A store without the state has forgotten all of its subkeys, so no record is needed there.
    let isListed = content?.isPlace ?? true || forgotten.isSubset(of: theirs.forgotten)
    guard !kept.isEmpty || left.count < theirs.entries.count || !isListed else { return false }
    try secrets.file.write(left + kept, forgotten: forgotten, key)
    secrets.forgetStored()
    return true
  }

  /// Takes the subkeys of the store that are missing here and were not forgotten here, and forgets
  /// the subkeys that another machine has forgotten.
  func loadSubkeys(of state: RemoteState?) throws(ArchiveError) {
    guard remote.needsSubkeys else { return }
    if let state, try remote.main.open() != nil {
      let content = try remote.read(state)
      let theirs = try secrets.content(of: content.secrets)
      if !remote.finding.hasSubkeys, !remote.mergesSubkeys, remote.changes.secrets == 0 {
        // This launch has not written the local subkeys, so they are not to be trusted.
        if !theirs.entries.isEmpty, try !mergeSubkeys(of: content) {
          try remote.adoptSubkeys(content.secrets, of: state.version)
        }
        secrets.forgetStored()
      } else {
        try secrets.keep(theirs.entries, besides: nil)
        try secrets.forgetAgain(theirs.forgotten)
      }
    }
    remote.take(.hasSubkeys)
  }

  // MARK: Forgotten subkeys

  /// The forgotten subkeys that the store may have, with the key that seals their record; nil
  /// if there are none.
  ///
  /// Without the key nobody can say which subkeys were forgotten, so nil is returned then, too.
  func unsentForgotten() throws(ArchiveError) -> SecretStore.Unsent? {
    guard !remote.hasSentSubkeys else { return nil }
    let key: ArchiveKey?
    do throws(ArchiveError) {
      key = try archive.opener.keys.key(creating: false)
    } catch {
      key = nil
    }
    guard let key else { return nil }
    let stored = try secrets.content(of: try remote.secrets.bytes() ?? []).forgotten
    let forgotten = stored.union(secrets.subkeys.forgotten)
    return forgotten.isEmpty ? nil : SecretStore.Unsent(forgotten: forgotten, key: key)
  }

  /// Drops the record of forgotten subkeys, if the store has nothing of the state any more.
  func dropForgotten() throws(ArchiveError) {
    guard let taken = claimed.claim.taken, try taken.lock.isHeld(), !remote.isUnsent,
      remote.hasNothing,
      try remote.main.open() == nil, let bytes = try remote.secrets.bytes(),
      try !remote.hasSubkeys(in: bytes)
    else { return }
    try remote.secrets.adopt(nil)
    secrets.dropForgotten()
  }

  /// Waits until the store has forgotten the subkeys that were forgotten here.
  ///
  /// - Returns: `sent` only if the store has the local state and no other.
  func sendForgotten() async -> RemoteOutcome {
    let isUnsent = remote.isUnsent
    let outcome = await send()
    guard case .sent = outcome, !isUnsent else { return outcome }
    do {
      for round in 0..<Self.largestRoundCount {
        let state = try await remote.store.load(remote.name)
        switch try remote.compare(state) {
        case .asBefore, .settled: return await send()
        case .older where round < Self.largestRoundCount - 1: try await Self.pause(round)
        case .older, .changed: return .conflict(tellNewer(state))
        }
      }
    } catch {
      return .unsent(RemoteStoreError(error))
    }
    return outcome
  }
}
