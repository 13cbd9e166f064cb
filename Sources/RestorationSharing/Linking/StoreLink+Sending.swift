internal import ArchiveCodec
internal import RestorationKit
internal import Synchronization

/// Sends a state to the store that several machines share.
extension StoreLink {
  /// Sends all changes that the store does not have, and waits for the answer.
  ///
  /// One change is sent at a time; changes that came meanwhile are sent together.
  @discardableResult
  func send(isolation: isolated (any Actor)? = #isolation) async -> RemoteStatus {
    // A sending that is under way may be older than the changes that were written before this call.
    if let sending = remote.sending, remote.isBeingSent { return await sending.value }
    await sent()
    guard remote.needsSending else { return .current }
    let task = Task {
      _ = isolation
      return await sendAll()
    }
    remote.sending = task
    return await task.value
  }

  /// Sends, and with a copy that lasts waits only a short time for the answer: the save
  /// is on the disk.
  func sendWithPatience(isolation: isolated (any Actor)? = #isolation) async -> RemoteStatus {
    guard remote.isLasting else { return await send() }
    let (answers, answer) = AsyncStream.makeStream(of: RemoteStatus?.self)
    Task {
      _ = isolation
      let outcome = await send()
      answer.yield(outcome)
    }
    let limit = Task {
      _ = isolation
      do { try await Task.sleep(for: Self.patience) } catch { return }
      answer.yield(nil)
    }
    defer { limit.cancel() }
    // To cancel the task of the caller does not end the wait.
    let outcome = await Task { await answers.first { _ in true } ?? nil }.value
    if let outcome { return outcome }
    // Changes that were sent all the same count.
    guard remote.isUnsent else { return .current }
    let status = RemoteStatus.unsent(
      RemoteStoreError(
        .unavailable,
        "\(remote.store.location) has not answered in \(Self.patience). The state is sent when it"
          + " does."))
    remote.tell(status)
    return status
  }

  private static let patience = Duration.seconds(2)

  private func sendAll() async -> RemoteStatus {
    defer { remote.sending = nil }
    // If there is nothing to send, the store is not asked, so its status does not change.
    let asksStore = remote.isUnsent || remote.isRenewalDue
    let status: RemoteStatus
    do { status = try await exchange() } catch { status = .unsent(RemoteStoreError(error)) }
    if asksStore || status != .current { remote.tell(status) }
    if case .unsent = status { tryAgain() }
    if status == .current {
      await endLease()
      await sendRemovedMoments()
    }
    return status
  }

  /// Writes until the store has all changes, or another machine's state is in the way.
  private func exchange() async throws -> RemoteStatus {
    try remote.prove()
    remote.noteIfReplaced()
    if let theirs = remote.theirs { return .conflict(conflict(with: theirs)) }
    try await sendMoments()
    if let outcome = try await lookForOthers() { return outcome }
    for round in 0..<Self.largestRoundCount {
      guard let outgoing = try remote.outgoing() else { return .current }
      if try await write(outgoing) {
        // The state is written after its place.
        if outgoing.attempt.kind == .place { continue }
        return .current
      }
      let state = try await remote.store.load(remote.name)
      switch try remote.compare(state) {
      case .settled where !remote.isUnsent: return .current
      case .settled: break
      case .older where round == Self.largestRoundCount - 1: return oppose(state)
      case .asBefore, .older: try await Self.pause(round)
      case .changed: return oppose(state)
      }
    }
    throw RemoteStoreError(
      .unavailable,
      "\(remote.location) refuses a change of the version that it says it has. Save again; if that"
        + " goes on, let the store answer from its first copy.")
  }

  /// Looks whether another machine has the state or has written it, unless that is known.
  ///
  /// - Returns: The outcome if another machine's state counts; nil if nothing is in the way.
  private func lookForOthers() async throws -> RemoteStatus? {
    if !remote.isFetched || remote.isUnclear || remote.mayBeThere {
      let state = try await remote.store.load(remote.name)
      if case .changed = try remote.compare(state) {
        // There are no local changes, so a newer state is in the way of nothing.
        guard remote.isUnsent else { return .current }
        return oppose(state)
      }
      remote.take(.asked)
    }
    if remote.isUnsent, remote.isInUseElsewhere {
      let state = try await remote.store.load(remote.name)
      if remote.obstacle(in: state) != nil { return oppose(state) }
    }
    return nil
  }

  /// The tries that a call makes while copies of a store are behind.
  static let largestRoundCount = 6

  /// Waits until a copy of the store that is behind may have come up.
  static func pause(_ round: Int) async throws {
    try await Task.sleep(for: .milliseconds(10 << round))
  }

  /// Writes to the store; false if the store has another version than is expected.
  func write(_ outgoing: RemoteCopy.Outgoing) async throws -> Bool {
    let (name, bytes) = (remote.name, outgoing.bytes)
    let version: RemoteVersion?
    switch (outgoing.attempt.kind, outgoing.expected) {
    case (.removal, let expected?):
      guard try await remote.store.remove(name, expecting: expected) else { return false }
      remote.take(.stored(outgoing.attempt.id, as: nil))
      return true
    case (.change, let expected?), (.lease, let expected?):
      version = try await remote.store.append(bytes, to: name, expecting: expected)
    case (_, let expected):
      version = try await remote.store.replace(name, with: bytes, expecting: expected)
    }
    guard let version else { return false }
    remote.take(.stored(outgoing.attempt.id, as: version))
    if remote.hasLease { directory.renewLeases() }
    return true
  }

  private func oppose(_ state: RemoteState?) -> RemoteStatus {
    remote.take(.opposed(state))
    return .conflict(conflict(with: state))
  }

  /// Describes the state of another machine, by the facts that are sealed in it.
  func conflict(with state: RemoteState?) -> RemoteConflict {
    let content = RemoteContent(state?.bytes ?? [])
    let owner = remote.otherOwner(of: content.lease)
    if content.state == nil, owner == nil { return RemoteConflict(isRemoved: true) }
    do {
      let saved = try remote.opener()?.archive(in: MemoryStorage(content.archive), isWhole: false)?
        .savedBy()
      return RemoteConflict(
        savedBy: saved?.deviceName, savedAt: saved?.date, takenOverBy: owner)
    } catch {
      // A state that cannot be read has an unknown author, but is not ours.
      return RemoteConflict(takenOverBy: owner)
    }
  }

  /// Sends again after a pause, and after ever longer pauses until all is sent.
  ///
  /// The pauses keep nothing alive.
  func tryAgain() {
    guard remote.beginRetry() else { return }
    Task { [weak remote, clock = directory.clock] in
      var pause = Duration.seconds(1)
      repeat {
        do { try await clock.sleep(for: pause) } catch { return }
        pause = min(pause * 2, .seconds(60))
        await remote?.wake()
      } while remote?.goesOnRetrying() == true
    }
  }
}
