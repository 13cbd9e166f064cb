internal import ArchiveCodec

/// The subkeys of secrets, which are stored before a state that needs them, and go
/// before a state that had them.
extension StateFile {
  /// Reads the subkeys of a state that is claimed and restored.
  ///
  /// If they are damaged, the state is restored all the same: secrets without their
  /// subkeys are absent.
  ///
  /// - Throws: What the storage throws: they may be read next time, and the save after
  ///   a restore without them would lose the secrets.
  func loadSecrets(_ key: ArchiveKey) throws(ArchiveError) {
    storedSecrets = nil
    do throws(ArchiveError) {
      // Those that a save has made which is not written yet stay.
      try readSecrets(key)
    } catch {
      guard error.isAboutContent else { throw error }
      addLaunchProblem(error.description)
    }
  }

  /// What opens the secrets of what is only looked at.
  func secretsToLookAt(_ key: ArchiveKey) -> SecretKeys {
    guard storedSecrets == nil else { return secrets }
    // Not with those of this state: whoever has it may change them.
    let found = SecretKeys()
    do throws(ArchiveError) {
      if try files.secrets.isStored { found.add(try files.secrets.read(key).entries) }
    } catch {
      // They are absent, as in a restore.
    }
    return found
  }

  /// Reads the subkeys that are stored, if that was not done under the claim.
  ///
  /// Those that are damaged are as good as none; the next write replaces them.
  func readStoredSecrets() throws(ArchiveError) -> Set<UInt64> {
    if let storedSecrets { return storedSecrets }
    do throws(ArchiveError) {
      return try files.secrets.isStored ? readSecrets(existingKey()) : readSecrets(nil)
    } catch {
      // Something else in their place must not be replaced.
      guard error.isAboutContent, error.code != .wrongContext else { throw error }
      storedSecrets = []
      return []
    }
  }

  /// Reads the subkeys that are stored; none without a key.
  @discardableResult
  private func readSecrets(_ key: ArchiveKey?) throws(ArchiveError) -> Set<UInt64> {
    var content = SecretsFile.Content()
    if let key, try files.secrets.isStored { content = try files.secrets.read(key) }
    secrets.forgotten.formUnion(content.forgotten)
    secrets.add(content.entries)
    let ids = Set(content.entries.map(\.id)).subtracting(secrets.forgotten)
    storedSecrets = ids
    return ids
  }

  /// Makes sure that the subkeys are stored to which a state refers that is about to be
  /// written; nil if it has no secrets and none are known.
  ///
  /// - Throws: `outdated` if all were forgotten since the save began.
  func storeSecrets(_ use: SecretUse?) throws(ArchiveError) {
    guard let use else { return }
    guard use.clearCount == secrets.clearCount else { throw ArchiveError(.outdated) }
    let referred = use.ids
    let stored = try readStoredSecrets()
    // What is kept as it is stored may refer to some that are forgotten.
    let isNew = referred.contains { !stored.contains($0) && secrets[$0] != nil }
    guard isNew || secrets.hasMoved else { return }
    forgetSettled()
    try writeSecrets { stored.contains($0) || referred.contains($0) }
  }

  /// Lets the subkeys go to which neither the state that was written refers any more nor
  /// one of its generations.
  ///
  /// While another state is set aside, all stay: it may be put back. What cannot be
  /// removed now goes with a later save.
  func dropSecrets(besides use: SecretUse?) async {
    let referred = use?.ids ?? []
    do throws(ArchiveError) {
      // Also what is only in the store may be put back.
      if files.remote != nil, try !readStoredSecrets().isSubset(of: referred),
        try files.storage.setAsideArchives().isEmpty
      {
        try await fetchAsides()
      }
    } catch {
      return
    }
    note {
      // Without secrets nobody has read them since the state was let go and claimed again.
      let stored = use == nil ? try readStoredSecrets() : storedSecrets ?? []
      guard !stored.isSubset(of: referred) else { return }
      guard try files.storage.setAsideArchives().isEmpty,
        let kept = try secretsOfGenerations()
      else { return }
      let needed = referred.union(kept)
      guard !stored.isSubset(of: needed) else { return }
      secrets.remove { !needed.contains($0.id) }
      try writeSecrets { needed.contains($0) }
    }
  }

  /// The subkeys to which the generations refer; nil if one of them does not say that.
  ///
  /// Each is read once. One that cannot be read may be one day, so it needs all.
  private func secretsOfGenerations() throws(ArchiveError) -> Set<UInt64>? {
    let generations = try files.storage.generations()
    var known: [String: Set<UInt64>?] = [:]
    for generation in generations {
      known[generation.identifier] =
        generationSecrets[generation.identifier] ?? secrets(of: generation)
    }
    generationSecrets = known
    var all: Set<UInt64> = []
    for secrets in known.values {
      guard let secrets else { return nil }
      all.formUnion(secrets)
    }
    return all
  }

  private func secrets(of stored: SetAsideArchive) -> Set<UInt64>? {
    secrets(of: stored.storage)
  }

  /// The subkeys to which an archive refers; nil if it cannot be read whole.
  func secrets(of storage: any ArchiveStorage) -> Set<UInt64>? {
    do {
      guard
        let archive = try Archive.open(
          storage, key: existingKey(), context: files.context, limits: limits)
      else { return [] }
      let tree = try StoredTree(reading: archive)
      guard tree.isWhole else { return nil }
      return Set(
        try tree.sensitiveValues.flatMap { try StoredSensitiveValue.all(in: $0) }
          .compactMap(\.subkey))
    } catch {
      return nil
    }
  }

  func writeSecrets(where isStored: (UInt64) -> Bool) throws(ArchiveError) {
    let entries = secrets.entries.filter { isStored($0.id) }
    let forgotten = files.remote == nil ? [] : secrets.forgotten
    do throws(ArchiveError) {
      try files.secrets.write(
        entries, forgotten: forgotten, try currentKey(creating: true).key)
      secrets.hasMoved = false
      storedSecrets = Set(entries.map(\.id))
    } catch {
      // Which of both is there, somebody has to look at.
      storedSecrets = nil
      throw error
    }
  }

  /// Removes all subkeys, before the state goes.
  ///
  /// Which were forgotten stays until the store has forgotten them, too: the state may come back
  /// from there.
  func removeSecrets() throws(ArchiveError) {
    let unsent = try unsentForgotten()
    secrets.removeAll()
    (storedSecrets, generationSecrets) = (nil, [:])
    if let unsent {
      secrets.forgotten = unsent.forgotten
      try files.secrets.write([], forgotten: unsent.forgotten, unsent.key)
    } else {
      try files.secrets.storage.remove()
    }
    storedSecrets = []
  }

  /// The same for a state that goes while others may be set aside, which need theirs.
  ///
  /// One that cannot be read may be one day, so it needs all.
  ///
  /// The subkeys that are given stay, too; with nil all do.
  func removeSecretsOfOne(_ secretsOfAsides: Set<UInt64>?) throws(ArchiveError) {
    guard var needed = secretsOfAsides else { return }
    let archives = try files.storage.setAsideArchives()
    guard !archives.isEmpty else { return try removeSecrets() }
    for archive in archives where files.remote?.remoteAside(archive) == nil {
      guard let ids = secrets(of: archive) else { return }
      needed.formUnion(ids)
    }
    let stored = try readStoredSecrets()
    guard !stored.isDisjoint(with: needed) else { return try removeSecrets() }
    guard !stored.isSubset(of: needed) else { return }
    secrets.removeAll(besides: needed)
    try writeSecrets { needed.contains($0) }
  }

  /// The subkeys to which refers what was set aside and is only in the store, also by other
  /// machines; nil if any of it cannot be read.
  func secretsOfStoredAsides() async -> Set<UInt64>? {
    do throws(ArchiveError) {
      guard let remote = files.remote, try files.secrets.isStored else { return [] }
      try await fetchAsides()
      var all: Set<UInt64> = []
      for archive in remote.storedAsides {
        let ids = try await with(archive) { secrets(of: archive) }
        // One that is gone needs none.
        guard let ids = ids ?? [] else { return nil }
        all.formUnion(ids)
      }
      return all
    } catch {
      return nil
    }
  }
}
