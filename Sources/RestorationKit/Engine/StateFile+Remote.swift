internal import ArchiveCodec

/// Gets a state from the store that several machines share.
extension StateFile {
  /// What a state is fetched for.
  enum Need {
    case toLook
    /// What was fetched before is too old.
    case toRestore
    /// A copy that lasts goes on without the store.
    case toWrite
  }

  /// Makes sure that what is here is what the store has, or newer.
  ///
  /// - Throws: `storeUnavailable` if nothing is here to go on with.
  func fetch(_ need: Need = .toLook) async throws(ArchiveError) {
    guard let remote = place.remote else { return }
    remote.onWake { [weak self] in await self?.check() }
    let isRestore = need == .toRestore
    if remote.isLasting {
      if need == .toWrite { return }
      if isRestore, let newer = remote.newer, !remote.isUnsent {
        return try adopt(newer.state, remote)
      }
      if try remote.main.open() != nil || remote.isFetched {
        if isRestore { Task { await check() } }
        return
      }
    } else if remote.isFetched, !isRestore || remote.isUnsent {
      return
    }
    try await load(remote, claims: need != .toLook)
  }

  /// Makes what the store has what is here, with its lease if there is one to take.
  private func load(_ remote: RemoteCopy, claims: Bool) async throws(ArchiveError) {
    for round in 0..<Self.largestRoundCount {
      let state: RemoteState?
      let before = remote.moment
      do {
        state = try await remote.store.load(remote.name)
        if remote.isOlder(state), round < Self.largestRoundCount - 1 {
          try await Self.pause(round)
          continue
        }
      } catch {
        let error = RemoteStoreError(error)
        remote.tell(.unavailable(error))
        throw .storeUnavailable(error, at: remote.location)
      }
      // What was stored from here meanwhile is newer than the answer.
      guard remote.moment == before else { continue }
      if claims, let owner = remote.otherOwner(of: state), remote.leasing?.lease.takesOver == false
      {
        throw ArchiveError(.locked, subject: owner, location: remote.location)
      }
      try adopt(state, remote)
      guard claims, remote.isLeaseDue, !remote.isUnsent else { return }
      do {
        guard let outgoing = try remote.outgoing() else { return }
        if try await write(outgoing, remote) {
          (directory as? RemoteStateDirectory)?.renewLeases()
          return
        }
      } catch {
        throw .storeUnavailable(RemoteStoreError(error), at: remote.location)
      }
      // Another process was first.
      remote.giveUpAttempts()
    }
    throw ArchiveError(.locked, location: remote.location)
  }

  /// Lets others have the state before its lease ends, as soon as the store has it.
  ///
  /// Whoever went on from what the store has would be in conflict with what is sent later.
  func release() async {
    guard let remote = place.remote, remote.hasLease else { return }
    remote.endsLease = true
    guard !remote.isUnsent else { return }
    while let sending { _ = await sending.value }
    await endLease(remote)
  }

  func endLease(_ remote: RemoteCopy) async {
    guard remote.endsLease, remote.hasLease, !remote.isUnsent else { return }
    do {
      if let outgoing = remote.outgoingRelease() { _ = try await write(outgoing, remote) }
    } catch {
      // It ends by itself.
    }
    // Whoever has taken the state meanwhile renews it.
    if remote.endsLease { remote.forgetLease() }
  }

  private func adopt(_ state: RemoteState?, _ remote: RemoteCopy) throws(ArchiveError) {
    let isFirst = !remote.isFetched
    if try remote.adopt(state) {
      forgetStored()
      // Another machine may have forgotten some.
      if !isFirst { secrets.removeAll() }
    }
    if !remote.isUnsent { remote.tell(.current) }
  }

  /// Goes on as if nothing of what is stored were known here.
  func forgetStored() {
    (known, replacing, window) = (nil, .previous, nil)
    open.close()
    place.storage.forgetGenerations()
    (storedSecrets, generationSecrets) = (nil, [:])
  }

  /// Looks whether the store has something newer than what is here, and says so.
  func check() async {
    guard let remote = place.remote else { return }
    let isOwn = remote.isUnsent || remote.hasLease && remote.isLeaseDue
    if remote.needsSending {
      guard case .sent = await send(), !isOwn else { return }
    }
    do {
      for round in 0..<Self.largestRoundCount {
        let before = remote.moment
        let state = try await remote.store.load(remote.name)
        guard !remote.isUnsent, remote.moment == before else { return }
        switch try remote.compare(state) {
        case .asBefore, .settled: return remote.tell(.current)
        case .older where round < Self.largestRoundCount - 1: try await Self.pause(round)
        case .older, .changed:
          let newer = RemoteCopy.Newer(state: state)
          return remote.tell(.newer(conflict(with: state)), newer: newer)
        }
      }
    } catch {
      remote.tell(.unavailable(RemoteStoreError(error)))
    }
  }

  /// Whether what is here outlasts the process.
  var isCopyLasting: Bool { place.remote?.isLasting ?? true }
}

extension ArchiveError {
  /// What a store has said, as a failure of what is stored there.
  static func storeUnavailable(
    _ error: RemoteStoreError, at location: String? = nil
  ) -> ArchiveError {
    ArchiveError(.storeUnavailable, subject: error.description, location: location)
  }
}
