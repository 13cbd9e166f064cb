internal import ArchiveCodec

/// Gets a state from the store that several machines share.
extension StoreLink {
  /// What a state is fetched for.
  enum Need {
    /// Nothing that is here is replaced.
    case toLook
    /// As a launch looks: what is not as it was left gives way to what the store has.
    case toList
    /// What was fetched before is too old.
    case toRestore
    /// A copy that lasts goes on without the store.
    case toWrite
    /// Whatever is stored; a copy that has nothing does not know what that is.
    case toReplace

    /// Whether a lease is taken.
    var isUse: Bool { self != .toLook && self != .toList }
  }

  /// Makes sure that what is here is what the store has, or newer.
  ///
  /// - Throws: `storeUnavailable` if nothing is here to go on with.
  func fetch(
    _ need: Need, isolation: isolated (any Actor)? = #isolation
  ) async throws(ArchiveError) {
    remote.onWake { [weak file] in await file?.check() }
    let isRestore = need == .toRestore
    if remote.isLasting {
      try remote.prove(orNothing: need == .toReplace)
      if need == .toWrite { return }
      if isRestore, let newer = remote.newer, !remote.isUnsent {
        try adopt(newer.state)
        checkLater()
        return
      }
      let isLoaded = try await loadDoubted(need)
      let isHere = try remote.main.open() != nil
      if isLoaded || isHere || remote.isFetched {
        if isRestore { checkLater() }
        return
      }
    } else if remote.isFetched, !isRestore || remote.isUnsent {
      if need.isUse { try await checkLease() }
      return
    }
    try await load(claims: need.isUse)
  }

  /// Finds out whether the store has what is here, as long as that is here to be compared.
  func learn() async {
    guard remote.isLasting else { return }
    do {
      try remote.prove()
      while !remote.isFetched {
        // What is sent finds it out, and must not find that what is here has gone.
        await sent()
        let state = try await remote.store.load(remote.name)
        guard !remote.isFetched else { return }
        if remote.sending != nil { continue }
        _ = try remote.compare(state)
        return
      }
    } catch {
      // Then what the store has is a conflict, which somebody has to decide.
    }
  }

  /// Throws if another process has the lease; what is written takes it if nobody has.
  private func checkLease() async throws(ArchiveError) {
    guard remote.mayBeLeased else { return }
    var state: RemoteState?
    try await askStore { state = try await remote.store.load(remote.name) }
    if let owner = remote.obstacle(in: state) {
      throw ArchiveError(.locked, subject: owner, location: remote.location)
    }
  }

  /// Makes what the store has what is here, with its lease if there is one to take.
  func load(claims: Bool) async throws(ArchiveError) {
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
      if claims, let owner = remote.obstacle(in: state) {
        throw ArchiveError(.locked, subject: owner, location: remote.location)
      }
      guard try adoptAlone(state), claims, !remote.finding.isDoubted else { return }
      do {
        if try await takeLease() { return }
      } catch {
        throw .storeUnavailable(RemoteStoreError(error), at: remote.location)
      }
    }
    throw ArchiveError(.locked, location: remote.location)
  }

  /// Takes the lease of what is here and in the store, if there is one to take; false if another
  /// process was first.
  private func takeLease() async throws -> Bool {
    guard !remote.isUnsent, !remote.endsLease, let outgoing = remote.outgoingLease() else {
      return true
    }
    guard try await write(outgoing) else {
      remote.giveUp(outgoing.attempt)
      return false
    }
    // It may have been let go meanwhile.
    await endLease()
    return true
  }

  /// Lets others have the state before its lease ends, as soon as the store has it.
  ///
  /// Whoever went on from what the store has would be in conflict with what is sent later.
  func release() async {
    remote.endsLease = true
    guard remote.hasLease, !remote.isUnsent else { return }
    await sent()
    await endLease()
  }

  func endLease() async {
    guard remote.endsLease, remote.hasLease, !remote.isUnsent else { return }
    do {
      if let outgoing = remote.outgoingRelease() { _ = try await write(outgoing) }
    } catch {
      // It ends by itself.
    }
    // Whoever has taken the state meanwhile renews it.
    if remote.endsLease { remote.forgetLease() }
  }

  /// Does so unless an instance in another process may have written what is here; false then.
  private func adoptAlone(
    _ state: RemoteState?
  ) throws(ArchiveError) -> Bool {
    guard remote.isLasting, claimed.claim.taken == nil else {
      try adopt(state)
      return true
    }
    let lock: any ArchiveLock
    do throws(ArchiveError) {
      lock = try directory.storage(named: claimed.name).lock()
    } catch {
      guard error.code == .locked else { throw error }
      return false
    }
    defer { withExtendedLifetime(lock) {} }
    // It may have ended since.
    guard try remote.main.open() == nil else { return false }
    try adopt(state)
    return true
  }

  private func adopt(_ state: RemoteState?) throws(ArchiveError) {
    if try adoptForDoubted(state) { return }
    let isFirst = !remote.isFetched
    if remote.isSupersededBy(state) {
      try take(state)
      forgetStored()
      // Another machine may have forgotten some.
      if !isFirst { secrets.subkeys.removeAll() }
    }
    if !remote.isUnsent { remote.tell(.current) }
  }

  /// Makes what the store has what is here, without what was forgotten here.
  private func take(_ state: RemoteState?) throws(ArchiveError) {
    let content = try state.map { (state) throws(ArchiveError) in try remote.read(state) }
    // A process may have ended when it had set aside what was here, and nothing more.
    var ours: [SecretKeys.Entry] = []
    if try remote.main.open() == nil, try !remote.main.setAsideArchives().isEmpty {
      ours = try secrets.content(of: try remote.secrets.bytes() ?? []).entries
    }
    try remote.take(state, hasSubkeys: try mergeSubkeys(of: content, keeping: ours))
  }

  /// Goes on as if nothing of what is stored were known here.
  func forgetStored() {
    archive.forget()
    launch.forgetRestore()
    secrets.forgetStored()
  }

  /// Looks whether the store has something newer, after a restore that did not wait for the store
  /// and has begun to use the state.
  private func checkLater(isolation: isolated (any Actor)? = #isolation) {
    Task {
      _ = isolation
      await check(claims: true)
    }
  }

  /// Looks whether the store has something newer than what is here, and says so.
  ///
  /// - Parameter claims: Whether to take a lease that nobody has: a restore that did not wait for
  ///   the store has begun to use the state.
  func check(claims: Bool = false) async {
    do { try remote.prove() } catch { return }
    let isOwn = remote.isUnsent || remote.isRenewalDue
    if remote.needsSending {
      guard case .sent = await send(), !isOwn else { return }
    }
    do {
      for round in 0..<Self.largestRoundCount {
        let before = remote.moment
        let state = try await remote.store.load(remote.name)
        guard !remote.isUnsent, remote.moment == before else { return }
        switch try remote.compare(state) {
        case .asBefore, .settled:
          if claims, remote.obstacle(in: state) != nil {
            remote.noteLease(of: state)
            tellNewer(state)
            return
          }
          // What another process has stored in between is looked at anew.
          if claims, try await !takeLease() { continue }
          if !remote.isUnsent { remote.tell(.current) }
          return
        case .older where round < Self.largestRoundCount - 1: try await Self.pause(round)
        case .older, .changed:
          tellNewer(state)
          return
        }
      }
    } catch {
      remote.tell(.unavailable(RemoteStoreError(error)))
    }
  }

  /// Says that the store has something newer, which the next restore brings back.
  @discardableResult
  func tellNewer(_ state: RemoteState?) -> RemoteConflict {
    let conflict = conflict(with: state)
    remote.tell(.newer(conflict), newer: RemoteCopy.Newer(state: state))
    return conflict
  }
}

extension ArchiveError {
  /// What a store has said, as a failure of what is stored there.
  static func storeUnavailable(
    _ error: RemoteStoreError, at location: String? = nil
  ) -> ArchiveError {
    ArchiveError(.storeUnavailable, subject: error.description, location: location)
  }
}
