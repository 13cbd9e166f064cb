internal import ArchiveCodec
internal import Synchronization

/// Sends a state to the store that several machines share.
extension StoreLink {
  /// Sends what the store does not have, and waits for the answer.
  ///
  /// One thing is sent at a time; what came meanwhile is sent together.
  @discardableResult
  func send(isolation: isolated (any Actor)? = #isolation) async -> RemoteOutcome {
    // What is under way may be older than what was written before the call.
    if let sending = remote.sending, remote.isBeingSent { return await sending.value }
    await sent()
    guard remote.needsSending else { return .sent }
    let task = Task {
      _ = isolation
      return await sendAll()
    }
    remote.sending = task
    return await task.value
  }

  /// Sends, and with a copy that lasts waits for the answer for a short time only: what was
  /// saved is on the disk.
  func sendSoon(isolation: isolated (any Actor)? = #isolation) async -> RemoteOutcome {
    guard remote.isLasting else { return await send() }
    return await withCheckedContinuation { continuation in
      let answer = FirstAnswer(continuation)
      let limit = Task {
        _ = isolation
        do { try await Task.sleep(for: Self.patience) } catch { return }
        giveUp(answer)
      }
      Task {
        _ = isolation
        _ = answer.give(await send())
        limit.cancel()
      }
    }
  }

  /// What became of a save that was to be sent.
  struct Sent: Sendable {
    let outcome: RemoteOutcome
    let isCopyLasting: Bool
    /// Why the store did not take what was set aside.
    let refusal: RemoteStoreError?
  }

  /// Sends a save, and removes what was set aside too long ago, if it has set something aside.
  func sendSaved(
    _ settingAside: SettingAside?, isolation: isolated (any Actor)? = #isolation
  ) async -> Sent {
    let outcome = await sendSoon()
    if case .sent = outcome, let settingAside {
      let bounding = Task {
        _ = isolation
        await boundStoredAsides(settingAside)
      }
      // With a copy that lasts, nothing waits for the store for long.
      if !remote.isLasting { await bounding.value }
    }
    return Sent(outcome: outcome, isCopyLasting: remote.isLasting, refusal: takeRefusal())
  }

  /// Goes on without an answer; what has come meanwhile counts.
  private func giveUp(_ answer: FirstAnswer) {
    guard remote.isUnsent else {
      _ = answer.give(.sent)
      return
    }
    let error = RemoteStoreError(
      .unavailable,
      "\(remote.store.location) has not answered in \(Self.patience). The state is sent when it"
        + " does.")
    if answer.give(.unsent(error)) { remote.tell(.unsent(error)) }
  }

  private static let patience = Duration.seconds(2)

  private func sendAll() async -> RemoteOutcome {
    defer { remote.sending = nil }
    // Without anything to send the store is not asked.
    let asksStore = remote.isUnsent || remote.isRenewalDue
    let outcome: RemoteOutcome
    do {
      outcome = try await exchange()
    } catch {
      outcome = .unsent(RemoteStoreError(error))
    }
    switch outcome {
    case .sent:
      if asksStore { remote.tell(.current) }
      do { try dropForgotten() } catch {
        // It goes when something is sent again.
      }
      await endLease()
      // What was put back is in the store before it goes from where it was.
      await sendRemovedAsides()
    case .unsent(let error):
      remote.tell(.unsent(error))
      tryAgain()
    case .conflict(let conflict): remote.tell(.conflict(conflict))
    }
    return outcome
  }

  /// Writes until the store has all, or somebody else's.
  private func exchange() async throws -> RemoteOutcome {
    if let theirs = remote.theirs { return .conflict(conflict(with: theirs)) }
    try remote.prove()
    remote.noteIfBehind()
    try await sendAsides()
    if let outcome = try await lookForOthers() { return outcome }
    for round in 0..<Self.largestRoundCount {
      if remote.needsSubkeys {
        try loadSubkeys(of: try await remote.store.load(remote.name))
      }
      guard let outgoing = try remote.outgoing() else { return .sent }
      if try await write(outgoing) {
        // The state comes after its place.
        if outgoing.attempt.isPlace { continue }
        return .sent
      }
      let state = try await remote.store.load(remote.name)
      switch try remote.compare(state) {
      case .settled where !remote.isUnsent: return .sent
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

  /// Looks whether another machine has the state or has written it, where that is not known.
  ///
  /// - Returns: What comes of it; nil if nothing is in the way of what is sent.
  private func lookForOthers() async throws -> RemoteOutcome? {
    if !remote.isFetched || remote.isUnclear || remote.mayBeThere {
      let state = try await remote.store.load(remote.name)
      if case .changed = try remote.compare(state) {
        // What is newer there is in the way of nothing.
        guard remote.isUnsent else { return .sent }
        try loadSubkeys(of: state)
        return oppose(state)
      }
      remote.markFetched()
    }
    if remote.isUnsent, remote.isInUseElsewhere {
      let state = try await remote.store.load(remote.name)
      if remote.obstacle(in: state) != nil { return oppose(state) }
    }
    return nil
  }

  /// As often as copies of a store are behind, one after the other.
  static let largestRoundCount = 6

  /// Waits until a copy of the store that is behind may have come up.
  static func pause(_ round: Int) async throws {
    try await Task.sleep(for: .milliseconds(10 << round))
  }

  /// False if the store has another version than is expected.
  func write(
    _ outgoing: RemoteCopy.Outgoing
  ) async throws -> Bool {
    let version: RemoteVersion?
    switch outgoing.write {
    case .replace(let bytes, let expected):
      version = try await remote.store.replace(remote.name, with: bytes, expecting: expected)
    case .append(let bytes, let expected):
      version = try await remote.store.append(bytes, to: remote.name, expecting: expected)
    case .remove(let expected):
      guard try await remote.store.remove(remote.name, expecting: expected) else { return false }
      remote.settle(outgoing.attempt, as: nil)
      return true
    }
    guard let version else { return false }
    remote.settle(outgoing.attempt, as: version)
    if remote.hasLease { directory.renewLeases() }
    return true
  }

  private func oppose(_ state: RemoteState?) -> RemoteOutcome {
    remote.oppose(state)
    return .conflict(conflict(with: state))
  }

  /// Who has stored something, by what is sealed in it.
  func conflict(with state: RemoteState?) -> RemoteConflict {
    guard let state else { return RemoteConflict(isRemoved: true) }
    let owner = remote.otherOwner(of: state)
    let content = RemoteContent(state.bytes)
    if content.state == nil, owner == nil { return RemoteConflict(isRemoved: true) }
    do {
      guard
        let archive = try archive.opener.open(MemoryStorage(content.archive), recovery: .recover),
        let values = try archive.record(NodeRecord.application)?
          .container(forKey: NodeRecord.factsKey)
      else { return RemoteConflict(takenOverBy: owner) }
      let facts = try SaveFacts(values, of: archive)
      return RemoteConflict(
        savedBy: facts.deviceName, savedAt: facts.timestamp, takenOverBy: owner)
    } catch {
      // Whoever it was, it is not ours.
      return RemoteConflict(takenOverBy: owner)
    }
  }

  /// Sends again in a while, and in ever longer ones.
  func tryAgain() {
    guard retry == nil else { return }
    let clock = directory.clock
    retry = Task { [weak file] in
      var pause = Duration.seconds(1)
      repeat {
        do { try await clock.sleep(for: pause) } catch { return }
        pause = min(pause * 2, .seconds(60))
      } while await file?.sendAgain() == true
    }
  }

  /// Whether it has to be tried once more.
  func sendAgain() async -> Bool {
    func needsSending() -> Bool {
      remote.needsSending && remote.theirs == nil
    }
    if needsSending() { await send() }
    guard !needsSending() else { return true }
    retry = nil
    return false
  }
}

/// The first of two answers; the other one is not heard.
private final class FirstAnswer: Sendable {
  private let continuation: Mutex<CheckedContinuation<RemoteOutcome, Never>?>

  init(_ continuation: CheckedContinuation<RemoteOutcome, Never>) {
    self.continuation = Mutex(continuation)
  }

  /// Gives an answer; false if there was one before.
  func give(_ outcome: RemoteOutcome) -> Bool {
    let continuation = continuation.withLock { $0.take() }
    continuation?.resume(returning: outcome)
    return continuation != nil
  }
}
