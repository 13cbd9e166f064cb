internal import ArchiveCodec

/// Gets a state from the store that several machines share.
extension StateFile {
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
  func fetch(_ need: Need = .toLook) async throws(ArchiveError) {
    guard let remote = files.remote else { return }
    remote.onWake { [weak self] in await self?.check() }
    let isRestore = need == .toRestore
    if remote.isLasting {
      try remote.prove(orNothing: need == .toReplace)
      if need == .toWrite { return }
      if isRestore, let newer = remote.newer, !remote.isUnsent {
        try adopt(newer.state, remote)
        Task { await check(claims: true) }
        return
      }
      let isLoaded = try await loadDoubted(remote, need)
      let isHere = try remote.main.open() != nil
      if isLoaded || isHere || remote.isFetched {
        if isRestore { Task { await check(claims: true) } }
        return
      }
    } else if remote.isFetched, !isRestore || remote.isUnsent {
      if need.isUse { try await checkLease(of: remote) }
      return
    }
    try await load(remote, claims: need.isUse)
  }

  /// Finds out whether the store has what is here, as long as that is here to be compared.
  func learn() async {
    guard let remote = files.remote, remote.isLasting else { return }
    do {
      try remote.prove()
      while !remote.isFetched {
        // What is sent finds it out, and must not find that what is here has gone.
        while let sending { _ = await sending.value }
        let state = try await remote.store.load(remote.name)
        guard !remote.isFetched else { return }
        if sending != nil { continue }
        _ = try remote.compare(state)
        return
      }
    } catch {
      // Then what the store has is a conflict, which somebody has to decide.
    }
  }

  /// Throws if another process has the lease; what is written takes it if nobody has.
  private func checkLease(of remote: RemoteCopy) async throws(ArchiveError) {
    guard remote.mayBeLeased else { return }
    var state: RemoteState?
    try await sending(remote) { state = try await remote.store.load(remote.name) }
    if let owner = remote.obstacle(in: state) {
      throw ArchiveError(.locked, subject: owner, location: remote.location)
    }
  }

  /// Makes what the store has what is here, with its lease if there is one to take.
  func load(_ remote: RemoteCopy, claims: Bool) async throws(ArchiveError) {
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
      guard try adoptAlone(state, remote), claims, !remote.finding.isDoubted else { return }
      do {
        if try await takeLease(of: remote) { return }
      } catch {
        throw .storeUnavailable(RemoteStoreError(error), at: remote.location)
      }
    }
    throw ArchiveError(.locked, location: remote.location)
  }

  /// Takes the lease of what is here and in the store, if there is one to take; false if another
  /// process was first.
  private func takeLease(of remote: RemoteCopy) async throws -> Bool {
    guard !remote.isUnsent, !remote.endsLease, let outgoing = remote.outgoingLease() else {
      return true
    }
    guard try await write(outgoing, remote) else {
      remote.giveUp(outgoing.attempt)
      return false
    }
    // It may have been let go meanwhile.
    await endLease(remote)
    return true
  }

  /// Lets others have the state before its lease ends, as soon as the store has it.
  ///
  /// Whoever went on from what the store has would be in conflict with what is sent later.
  func release() async {
    guard let remote = files.remote else { return }
    remote.endsLease = true
    guard remote.hasLease, !remote.isUnsent else { return }
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

  /// Does so unless an instance in another process may have written what is here; false then.
  private func adoptAlone(
    _ state: RemoteState?, _ remote: RemoteCopy
  ) throws(ArchiveError) -> Bool {
    guard remote.isLasting, claim.taken == nil else {
      try adopt(state, remote)
      return true
    }
    let lock: any ArchiveLock
    do throws(ArchiveError) {
      lock = try directory.storage(named: String(files.name.dropLast(suffix.count))).lock()
    } catch {
      guard error.code == .locked else { throw error }
      return false
    }
    defer { withExtendedLifetime(lock) {} }
    // It may have ended since.
    guard try remote.main.open() == nil else { return false }
    try adopt(state, remote)
    return true
  }

  private func adopt(_ state: RemoteState?, _ remote: RemoteCopy) throws(ArchiveError) {
    if try adoptForDoubted(state, remote) { return }
    let isFirst = !remote.isFetched
    if remote.isSupersededBy(state) {
      try take(state, remote)
      forgetStored()
      // Another machine may have forgotten some.
      if !isFirst { secrets.removeAll() }
    }
    if !remote.isUnsent { remote.tell(.current) }
  }

  /// Makes what the store has what is here, without what was forgotten here.
  private func take(_ state: RemoteState?, _ remote: RemoteCopy) throws(ArchiveError) {
    let content = try state.map { (state) throws(ArchiveError) in try remote.read(state) }
    // A process may have ended when it had set aside what was here, and nothing more.
    var ours: [SecretKeys.Entry] = []
    if try remote.main.open() == nil, try !remote.main.setAsideArchives().isEmpty {
      ours = try subkeys(in: try remote.secrets.bytes() ?? [])
    }
    try remote.take(state, hasSubkeys: try mergeSubkeys(of: content, keeping: ours, remote))
  }

  /// Goes on as if nothing of what is stored were known here.
  func forgetStored() {
    knowNothing()
    window = nil
    open.close()
    files.storage.forgetGenerations()
    (storedSecrets, generationSecrets) = (nil, [:])
  }

  /// Looks whether the store has something newer than what is here, and says so.
  ///
  /// - Parameter claims: Whether to take a lease that nobody has: a restore that did not wait for
  ///   the store has begun to use the state.
  func check(claims: Bool = false) async {
    guard let remote = files.remote else { return }
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
            tellNewer(state, remote)
            return
          }
          // What another process has stored in between is looked at anew.
          if claims, try await !takeLease(of: remote) { continue }
          if !remote.isUnsent { remote.tell(.current) }
          return
        case .older where round < Self.largestRoundCount - 1: try await Self.pause(round)
        case .older, .changed:
          tellNewer(state, remote)
          return
        }
      }
    } catch {
      remote.tell(.unavailable(RemoteStoreError(error)))
    }
  }

  /// Says that the store has something newer, which the next restore brings back.
  @discardableResult
  func tellNewer(_ state: RemoteState?, _ remote: RemoteCopy) -> RemoteConflict {
    let conflict = conflict(with: state)
    remote.tell(.newer(conflict), newer: RemoteCopy.Newer(state: state))
    return conflict
  }

  /// Whether what is here outlasts the process.
  var isCopyLasting: Bool { files.remote?.isLasting ?? true }
}

extension ArchiveError {
  /// What a store has said, as a failure of what is stored there.
  static func storeUnavailable(
    _ error: RemoteStoreError, at location: String? = nil
  ) -> ArchiveError {
    ArchiveError(.storeUnavailable, subject: error.description, location: location)
  }
}
