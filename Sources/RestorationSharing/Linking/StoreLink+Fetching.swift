internal import ArchiveCodec
internal import RestorationKit

/// Gets a state from the store that several machines share.
extension StoreLink {
  /// Makes sure that the local state is the one of the store, or newer.
  ///
  /// - Throws: `storeUnavailable` if there is no local state to go on with.
  func fetch(_ call: LinkedCall) async throws(ArchiveError) {
    let isRestore = call == .restore
    if remote.isLasting {
      // What replaces any state needs no key.
      try remote.prove(orNothing: !isRestore && call != .save)
      if call == .save { return }
      if isRestore, let newer = remote.newer, !remote.isUnsent {
        try adopt(newer)
        checkLater()
        return
      }
      let isLoaded = try await loadDoubted()
      let isHere = try remote.isHere()
      if isLoaded || isHere || remote.isFetched {
        if isRestore { checkLater() }
        return
      }
    } else if remote.isFetched, !isRestore || remote.isUnsent {
      return try await checkLease()
    }
    try await load()
  }

  /// Finds out whether the store has the local state, as long as that is here to be compared.
  func compareWithStore() async {
    guard remote.isLasting else { return }
    do {
      try remote.prove()
      guard !remote.isFetched else { return }
      // A sending that is under way finds out the same, and must not see the local state disappear.
      await sent()
      let state = try await remote.store.load(remote.name)
      if !remote.isFetched, remote.sending == nil { _ = try remote.compare(state) }
    } catch {
      // If the comparison fails, the store's state stays a conflict, which somebody has to decide.
    }
  }

  /// Throws if another process has the lease; the next write takes the lease if nobody has it.
  private func checkLease() async throws(ArchiveError) {
    // A process that has only looked at a state has not asked for its lease.
    guard remote.leasing != nil, !remote.hasLease, !remote.isUnsent else { return }
    let state = try await askStore { try await remote.store.load(remote.name) }
    if let owner = remote.obstacle(in: state) {
      throw ArchiveError(.locked, subject: owner, location: remote.location)
    }
  }

  /// Makes the store's state the local one, and takes its lease if there is one to take.
  func load() async throws(ArchiveError) {
    for round in 0..<Self.largestRoundCount {
      let state: RemoteState?
      let before = remote.point
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
      // A state that was stored from here meanwhile is newer than the answer.
      guard remote.point == before else { continue }
      if let owner = remote.obstacle(in: state) {
        throw ArchiveError(.locked, subject: owner, location: remote.location)
      }
      try adopt(state)
      guard !remote.finding.isDoubted else { return }
      if try await askStore({ try await takeLease() }) { return }
    }
    throw ArchiveError(.locked, location: remote.location)
  }

  /// Takes the lease of a state that is here and in the store, if there is one to take; false if
  /// another process was first.
  private func takeLease() async throws -> Bool {
    guard !remote.isUnsent, !remote.endsLease, let outgoing = remote.outgoingLease() else {
      return true
    }
    guard try await write(outgoing) else {
      remote.take(.notStored(outgoing.attempt.id))
      return false
    }
    // The state may have been let go meanwhile, and then the lease ends, too.
    await endLease()
    return true
  }

  /// Lets other processes have the state before its lease ends, as soon as the store has it.
  ///
  /// A process that went on from the store's state would be in conflict with changes
  /// that are sent later.
  func release() async {
    remote.take(.endsLease(true))
    guard remote.hasLease, !remote.isUnsent else { return }
    await sent()
    await endLease()
  }

  func endLease() async {
    guard remote.endsLease, remote.hasLease, !remote.isUnsent else { return }
    do {
      if let outgoing = remote.outgoingRelease() { _ = try await write(outgoing) }
    } catch {
      // The lease ends by itself.
    }
    // If the state was claimed again meanwhile, its lease stays and is renewed.
    if remote.endsLease { remote.take(.leased(nil)) }
  }

  private func adopt(_ state: RemoteState?) throws(ArchiveError) {
    if try adoptForDoubted(state) { return }
    guard !remote.isUnsent else { return }
    if !remote.isFetched || remote.version != state?.version { try adopt(unconditionally: state) }
    remote.tell(.current)
  }

  /// Looks whether the store has a newer state, after a restore that did not wait for the store and
  /// has begun to use the local one.
  private func checkLater(isolation: isolated (any Actor)? = #isolation) {
    Task {
      _ = isolation
      await check(claims: true)
    }
  }

  /// Looks whether the store has a newer state than this machine, and says so.
  ///
  /// - Parameter claims: Whether to take a lease that nobody has: a restore that did not wait for
  ///   the store has begun to use the state.
  func check(claims: Bool) async {
    do { try remote.prove() } catch { return }
    let isOwn = remote.isUnsent || remote.isRenewalDue
    if remote.needsSending {
      guard await send() == .current, !isOwn else { return }
    }
    do {
      for round in 0..<Self.largestRoundCount {
        let before = remote.point
        let state = try await remote.store.load(remote.name)
        guard !remote.isUnsent, remote.point == before else { return }
        switch try remote.compare(state) {
        case .asBefore, .settled:
          if claims, remote.obstacle(in: state) != nil {
            remote.take(.leased(state.flatMap { RemoteContent($0.bytes).lease }))
            remote.tell(.newer(conflict(with: state)), newer: state)
            return
          }
          // If another process was first, its state is looked at anew.
          if claims, try await !takeLease() { continue }
          if !remote.isUnsent { remote.tell(.current) }
          return
        case .older where round < Self.largestRoundCount - 1: try await Self.pause(round)
        case .older, .changed:
          // The next restore brings the state back.
          remote.tell(.newer(conflict(with: state)), newer: state)
          return
        }
      }
    } catch {
      remote.tell(.unavailable(RemoteStoreError(error)))
    }
  }
}
