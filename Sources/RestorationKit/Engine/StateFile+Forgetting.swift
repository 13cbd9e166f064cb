internal import ArchiveCodec

/// Forgets secrets, here and in the store.
extension StateFile {
  /// Forgets secrets here, durably.
  ///
  /// Which they were is remembered beside the others until the store has that: a conflict would
  /// bring them back.
  func forgetSecrets(_ selection: SecretSelection) async throws(ArchiveError) {
    if claim.taken == nil { move(to: try claim.free()) }
    if try !isCopyOfSecretsHere { try await fetch() }
    let isStored = try files.secrets.isStored
    guard isStored || lacksSubkeys else {
      secrets.forget(selection)
      return try files.secrets.storage.synchronize()
    }
    try await take()
    do throws(ArchiveError) {
      try await fetch(.toReplace)
    } catch {
      // They are forgotten here, and the store hears of it later.
      guard error.code == .storeUnavailable, try isCopyOfSecretsHere else { throw error }
    }
    guard selection != .all || files.remote != nil else { return try removeSecrets() }
    storedSecrets = nil
    let stored: Set<UInt64>
    do throws(ArchiveError) {
      stored = try readStoredSecrets()
    } catch {
      // Without the key nobody can say which they were.
      guard selection == .all else { throw error }
      return try removeSecrets()
    }
    forgetSettled()
    let isAnyGone = secrets.forget(selection)
    if selection == .all, lacksSubkeys { secrets.forgotten.formUnion(try referredSecrets()) }
    if stored.isEmpty {
      // They are damaged: those that are known here are written again, the others are gone.
      try writeSecrets { _ in true }
    } else if isAnyGone {
      try writeSecrets { stored.contains($0) }
    } else {
      // A process that was killed may have written them without these just now.
      try files.secrets.storage.synchronize()
    }
  }

  /// Whether a copy that lasts has subkeys, or knows of some that were forgotten.
  private var isCopyOfSecretsHere: Bool {
    get throws(ArchiveError) {
      guard files.remote?.isLasting == true else { return false }
      return try files.secrets.isStored
    }
  }

  /// Whether the store may have subkeys that are lost here.
  private var lacksSubkeys: Bool { files.remote.map { !$0.finding.hasSubkeys } ?? false }

  /// The subkeys to which all refers that is here, as far as it can be read.
  ///
  /// Which subkeys are lost here nothing else tells.
  private func referredSecrets() throws(ArchiveError) -> Set<UInt64> {
    let others = try files.storage.generations() + files.storage.setAsideArchives()
    let storages = [files.storage] + others.map(\.storage)
    return storages.reduce(into: []) { ids, storage in ids.formUnion(secrets(of: storage) ?? []) }
  }

  /// What was forgotten and the store may have, with the key that seals it; nil if there is none.
  ///
  /// Without the key nobody can say which they were.
  func unsentForgotten() throws(ArchiveError) -> (forgotten: Set<UInt64>, key: ArchiveKey)? {
    guard let remote = files.remote, !remote.hasSentSubkeys else { return nil }
    let key: ArchiveKey?
    do throws(ArchiveError) {
      key = try keys.key(creating: false)
    } catch {
      key = nil
    }
    guard let key else { return nil }
    let stored = try secrets(in: try remote.secrets.bytes() ?? []).forgotten
    let forgotten = stored.union(secrets.forgotten)
    return forgotten.isEmpty ? nil : (forgotten, key)
  }

  /// Lets go of what was forgotten, where the store has nothing of the state any more.
  func dropForgotten(_ remote: RemoteCopy) throws(ArchiveError) {
    guard let taken = claim.taken, try taken.lock.isHeld(), !remote.isUnsent, remote.hasNothing,
      try remote.main.open() == nil, let bytes = try remote.secrets.bytes(),
      try !remote.hasSubkeys(in: bytes)
    else { return }
    try remote.secrets.adopt(nil)
    secrets.forgotten = []
    storedSecrets = []
  }

  /// Drops what is remembered as forgotten, if the store has that and it is much.
  ///
  /// As long as it is little it stays: another machine may still have what was forgotten.
  func forgetSettled() {
    guard let remote = files.remote else { return secrets.forgotten = [] }
    guard secrets.forgotten.count > Self.largestForgotten, remote.hasSentSubkeys else { return }
    secrets.forgotten = []
  }

  /// Of 8 bytes each.
  private static let largestForgotten = 4096

  /// Waits until the store has what was forgotten.
  ///
  /// - Returns: `sent` only if the store has what is here, and nothing else.
  func sendForgotten() async -> RemoteOutcome {
    guard let remote = files.remote else { return .sent }
    let isUnsent = remote.isUnsent
    let outcome = await send()
    guard case .sent = outcome, !isUnsent else { return outcome }
    do {
      for round in 0..<Self.largestRoundCount {
        let state = try await remote.store.load(remote.name)
        switch try remote.compare(state) {
        case .asBefore, .settled: return await send()
        case .older where round < Self.largestRoundCount - 1: try await Self.pause(round)
        case .older, .changed: return .conflict(tellNewer(state, remote))
        }
      }
    } catch {
      return .unsent(RemoteStoreError(error))
    }
    return outcome
  }
}
