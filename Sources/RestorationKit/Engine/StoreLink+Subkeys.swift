internal import ArchiveCodec

/// Brings together the subkeys that are here and those of the store.
extension StoreLink {
  /// Stores the subkeys of a state of the store before it comes in place of what is here.
  ///
  /// It is one step: whenever the process ends, what was forgotten here is in neither state, and
  /// what is set aside has the secrets that it had.
  ///
  /// - Parameters:
  ///   - content: What the store has; nil for nothing.
  ///   - ours: The subkeys of what is set aside here.
  /// - Returns: False if they are those of the store as it has them, and nothing was stored.
  /// - Throws: What the storage throws, and why the key cannot be had.
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
    // One to which the state that comes refers, and that it does not have, was forgotten.
    let gone = forgotten.union(stored).union(theirs.entries.map(\.id))
    let kept = ours.filter { !gone.contains($0.id) }
    let left = theirs.entries.filter { !forgotten.contains($0.id) }
    // Where nothing is any more, all is forgotten.
    let isListed = content?.isPlace ?? true || forgotten.isSubset(of: theirs.forgotten)
    guard !kept.isEmpty || left.count < theirs.entries.count || !isListed else { return false }
    try secrets.file.write(left + kept, forgotten: forgotten, key)
    secrets.forgetStored()
    return true
  }

  /// Takes the subkeys of the store that are not here and were not forgotten here, and forgets
  /// what another machine has.
  func loadSubkeys(of state: RemoteState?) throws(ArchiveError) {
    guard remote.needsSubkeys else { return }
    if let state, try remote.main.open() != nil {
      let content = try remote.read(state)
      let theirs = try secrets.content(of: content.secrets)
      if !remote.finding.hasSubkeys, !remote.mergesSubkeys, remote.changes.secrets == 0 {
        // What is here was not written by this launch, and is not to be trusted.
        if !theirs.entries.isEmpty, try !mergeSubkeys(of: content) {
          try remote.adoptSubkeys(content.secrets, of: state.version)
        }
        secrets.forgetStored()
      } else {
        try secrets.keep(theirs.entries, besides: nil)
        try secrets.forgetAgain(theirs.forgotten)
      }
    }
    remote.markSubkeysHere()
  }

  // MARK: What was forgotten

  /// What was forgotten and the store may have, with the key that seals it; nil if there is none.
  ///
  /// Without the key nobody can say which they were.
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

  /// Lets go of what was forgotten, where the store has nothing of the state any more.
  func dropForgotten() throws(ArchiveError) {
    guard let taken = claimed.claim.taken, try taken.lock.isHeld(), !remote.isUnsent,
      remote.hasNothing,
      try remote.main.open() == nil, let bytes = try remote.secrets.bytes(),
      try !remote.hasSubkeys(in: bytes)
    else { return }
    try remote.secrets.adopt(nil)
    secrets.dropForgotten()
  }

  /// Waits until the store has what was forgotten.
  ///
  /// - Returns: `sent` only if the store has what is here, and nothing else.
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
