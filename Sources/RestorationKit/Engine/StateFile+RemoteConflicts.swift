internal import ArchiveCodec

/// Decides which of two states stays that two machines have stored.
extension StateFile {
  /// Whether somebody has to decide.
  var isInConflict: Bool { files.remote?.theirs != nil }

  /// What another machine has written in the name of a scene, if it is in conflict with what is
  /// here; nil also if that cannot be read.
  func theirHostPart() -> HostPart? {
    guard let state = files.remote?.theirs ?? nil else { return nil }
    do {
      guard
        let archive = try Archive.open(
          MemoryStorage(RemoteContent(state.bytes).archive), key: existingKey(),
          context: files.context, limits: limits, recovery: .recover),
        let values = try archive.record(NodeRecord.application)?
          .container(forKey: NodeRecord.hostKey)
      else { return nil }
      return HostPart(
        values: values, contents: [:], savedAt: nil, version: archive.version,
        byteCount: state.bytes.count)
    } catch {
      return nil
    }
  }

  /// Ends a conflict; false if there is none.
  func resolve(
    _ choice: ConflictChoice, _ settingAside: SettingAside
  ) async throws(ArchiveError) -> Bool {
    guard let remote = files.remote, remote.theirs != nil else { return false }
    while let sending { _ = await sending.value }
    try await take()
    // It may have changed since it was found.
    var theirs: RemoteState?
    try await sending(remote) { theirs = try await remote.store.load(remote.name) }
    guard remote.theirs != nil else { return false }
    // A later format is neither taken nor replaced.
    let content = try theirs.map { (state) throws(ArchiveError) in try remote.read(state) }
    remote.oppose(theirs)
    switch choice {
    case .theirs: try await giveWay(to: theirs, remote, settingAside)
    case .ours:
      // What is replaced is in the store under another name before, and its subkeys are here.
      let theirSecrets = try secrets(in: content?.secrets ?? [])
      try keepSecrets(ofSetAside: theirSecrets.entries, forgottenBy: try files.storage.open())
      try forgetAgain(theirSecrets.forgotten)
      if let theirs, let content, content.state != nil {
        let parcel = RemoteParcel(kind: .whole, secrets: [], archive: content.archive)
        try await sending(remote) {
          let name = remote.asideName(.conflict, settingAside.date)
          moved = try await store(
            parcel.bytes ?? theirs.bytes, asAside: name, nil, remote
          ).stored?.storage.location
        }
      }
      remote.prevail()
    }
    await boundStoredAsides(settingAside)
    return true
  }

  /// Removes from the store what was set aside too long ago, also by other machines.
  ///
  /// What cannot be removed now is tried again when another one is set aside.
  func boundStoredAsides(_ settingAside: SettingAside) async {
    guard let remote = files.remote else { return }
    do {
      try await removeExcessAsides(remote, settingAside)
    } catch {
      // It is no reason to fail what has set another one aside.
    }
  }

  private func removeExcessAsides(
    _ remote: RemoteCopy, _ settingAside: SettingAside
  ) async throws {
    let names = try await remote.store.names(prefix: remote.name + StateClaim.asideMark)
    let archives = names.compactMap { name in
      remote.aside(named: name).map {
        SetAsideArchive(
          identifier: name, reason: $0.reason, date: $0.date, storage: MemoryStorage())
      }
    }
    for archive in settingAside.bound.excess(of: archives, at: settingAside.date) {
      guard let stored = try await remote.store.load(archive.identifier) else { continue }
      if try await remote.store.remove(archive.identifier, expecting: stored.version) {
        remote.forget(asideNamed: archive.identifier)
      }
    }
  }

  private func giveWay(
    to theirs: RemoteState?, _ remote: RemoteCopy, _ settingAside: SettingAside
  ) async throws(ArchiveError) {
    // A discard that is taken back has removed what was set aside, too.
    if try files.storage.open() == nil { try remote.keepRemovedAsides() }
    let before = setAsideIdentifiers() ?? []
    let content = try theirs.map { (state) throws(ArchiveError) in try remote.read(state) }
    let ours = try subkeys(in: try remote.secrets.bytes() ?? [])
    let hasSubkeys = try mergeSubkeys(of: content, keeping: ours, remote)
    open.close()
    moved = try setAside(.conflict, settingAside) ?? moved
    do throws(ArchiveError) {
      try await sending(remote) { try await sendAsides(remote, throwsRefusals: true) }
    } catch {
      // On the disk of this machine it is kept well enough.
      if !remote.isLasting {
        let archives = try files.storage.setAsideArchives()
        if let ours = archives.first(where: { !before.contains($0.identifier) }) {
          try files.storage.putBack(ours)
        }
        throw error
      }
    }
    try remote.take(theirs, hasSubkeys: hasSubkeys)
    forgetStored()
    secrets.removeAll()
    remote.tell(.current)
  }

  /// Passes on what a store has thrown.
  func sending(
    _ remote: RemoteCopy, _ body: () async throws -> Void
  ) async throws(ArchiveError) {
    do {
      try await body()
    } catch {
      throw .storeUnavailable(RemoteStoreError(error), at: remote.location)
    }
  }
}
