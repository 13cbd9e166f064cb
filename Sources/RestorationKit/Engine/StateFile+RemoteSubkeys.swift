internal import ArchiveCodec

/// Brings together the subkeys that are here and those of the store.
extension StateFile {
  /// Stores the subkeys of a state of the store before it comes in place of what is here.
  ///
  /// It is one step: whenever the process ends, what was forgotten here is in neither state, and
  /// what is set aside has the secrets that it had.
  ///
  /// - Parameters:
  ///   - content: What the store has; nil for nothing.
  ///   - ours: The subkeys of what is set aside here.
  ///   - remote: The copy that gives way.
  /// - Returns: False if they are those of the store as it has them, and nothing was stored.
  /// - Throws: What the storage throws, and why the key cannot be had.
  func mergeSubkeys(
    of content: RemoteContent?, keeping ours: [SecretKeys.Entry] = [], _ remote: RemoteCopy
  ) throws(ArchiveError) -> Bool {
    let here = try remote.secrets.bytes() ?? []
    guard !here.isEmpty || !secrets.forgotten.isEmpty,
      let key = try keys.key(creating: false)
    else { return false }
    let theirs = try secrets(in: content?.secrets ?? [])
    let forgotten = try secrets(in: here).forgotten
      .union(secrets.forgotten).union(theirs.forgotten)
    let stored =
      ours.isEmpty ? [] : content?.state.flatMap { secrets(of: MemoryStorage($0)) } ?? []
    // One to which the state that comes refers, and that it does not have, was forgotten.
    let gone = forgotten.union(stored).union(theirs.entries.map(\.id))
    let kept = ours.filter { !gone.contains($0.id) }
    let left = theirs.entries.filter { !forgotten.contains($0.id) }
    // Where nothing is any more, all is forgotten.
    let isListed = content?.isPlace ?? true || forgotten.isSubset(of: theirs.forgotten)
    guard !kept.isEmpty || left.count < theirs.entries.count || !isListed else { return false }
    try files.secrets.write(left + kept, forgotten: forgotten, key)
    (storedSecrets, generationSecrets) = (nil, [:])
    return true
  }

  /// Takes the subkeys of the store that are not here and were not forgotten here, and forgets
  /// what another machine has.
  func loadSubkeys(of state: RemoteState?, _ remote: RemoteCopy) throws(ArchiveError) {
    guard remote.needsSubkeys else { return }
    if let state, try remote.main.open() != nil {
      let content = try remote.read(state)
      let theirs = try secrets(in: content.secrets)
      if !remote.finding.hasSubkeys, !remote.mergesSubkeys, remote.changes.secrets == 0 {
        // What is here was not written by this launch, and is not to be trusted.
        if !theirs.entries.isEmpty, try !mergeSubkeys(of: content, remote) {
          try remote.adoptSubkeys(content.secrets, of: state.version)
        }
        (storedSecrets, generationSecrets) = (nil, [:])
      } else {
        try keepSecrets(ofSetAside: theirs.entries, forgottenBy: nil)
        try forgetAgain(theirs.forgotten)
      }
    }
    remote.markSubkeysHere()
  }

  /// Reads subkeys of either side.
  func subkeys(in bytes: [UInt8]) throws(ArchiveError) -> [SecretKeys.Entry] {
    try secrets(in: bytes).entries
  }

  /// Reads subkeys of either side, and those that are forgotten there.
  func secrets(in bytes: [UInt8]) throws(ArchiveError) -> SecretsFile.Content {
    guard !bytes.isEmpty else { return SecretsFile.Content() }
    do throws(ArchiveError) {
      return try SecretsFile(storage: MemoryStorage(bytes), context: files.secrets.context)
        .read(existingKey())
    } catch {
      // As in a restore, secrets whose subkeys are damaged are absent.
      guard error.isAboutContent else { throw error }
      return SecretsFile.Content()
    }
  }

  /// Stores the subkeys of a state that a conflict sets aside with those of the one that
  /// stays, so that it has its secrets when it is put back.
  ///
  /// A subkey to which the one that stays refers, and that it does not have, was forgotten.
  func keepSecrets(
    ofSetAside entries: [SecretKeys.Entry], forgottenBy file: (any ArchiveFile)?
  ) throws(ArchiveError) {
    guard !entries.isEmpty else { return }
    let stored = try readStoredSecrets()
    var forgotten: Set<UInt64> = []
    if let file {
      let storage = MemoryStorage(try file.read(at: 0, count: file.byteCount))
      forgotten = secrets(of: storage) ?? []
    }
    forgotten.formUnion(secrets.forgotten)
    let kept = entries.filter { !stored.contains($0.id) && !forgotten.contains($0.id) }
    guard !kept.isEmpty else { return }
    secrets.add(kept)
    let ids = stored.union(kept.map(\.id))
    try writeSecrets { ids.contains($0) }
  }

  /// Forgets in a state of another machine what was forgotten here before it came.
  func forgetAgain(_ forgotten: Set<UInt64>) throws(ArchiveError) {
    guard !forgotten.isEmpty else { return }
    let stored = try readStoredSecrets()
    secrets.forgotten.formUnion(forgotten)
    secrets.remove { forgotten.contains($0.id) }
    guard !stored.isDisjoint(with: forgotten) else { return }
    try writeSecrets { stored.contains($0) }
  }
}
