internal import ArchiveCodec

/// Decides which of two states stays that two machines have stored.
extension StoreLink {
  /// What another machine has written in the name of a scene, if it is in conflict with what is
  /// here; nil also if that cannot be read.
  func theirHostPart() -> StateFile.HostPart? {
    guard let state = remote.theirs ?? nil else { return nil }
    do {
      guard
        let archive = try archive.opener.open(
          MemoryStorage(RemoteContent(state.bytes).archive), recovery: .recover),
        let values = try archive.record(NodeRecord.application)?
          .container(forKey: NodeRecord.hostKey)
      else { return nil }
      return StateFile.HostPart(
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
    // It may have changed since it was found.
    var theirs: RemoteState?
    try await askStore { theirs = try await remote.store.load(remote.name) }
    guard remote.theirs != nil else { return false }
    // A later format is neither taken nor replaced.
    let content = try theirs.map { (state) throws(ArchiveError) in try remote.read(state) }
    remote.oppose(theirs)
    let ours = try archive.storage.open()
    let aside = ConflictAside(
      choice, hasOurs: ours != nil, hasTheirs: content?.state != nil,
      isCopyLasting: remote.isLasting)
    switch choice {
    case .theirs: try await giveWay(to: theirs, content, aside, settingAside)
    case .ours: try await prevail(ours, over: theirs, content, aside, settingAside)
    }
    await boundStoredAsides(settingAside)
    return true
  }

  /// Lets what is here take the place of what the store has, which the store keeps under another
  /// name before; its subkeys are here then.
  private func prevail(
    _ ours: (any ArchiveFile)?, over theirs: RemoteState?, _ content: RemoteContent?,
    _ aside: ConflictAside, _ settingAside: SettingAside
  ) async throws(ArchiveError) {
    let theirSecrets = try secrets.content(of: content?.secrets ?? [])
    try secrets.keep(theirSecrets.entries, besides: ours)
    try secrets.forgetAgain(theirSecrets.forgotten)
    if aside == .theirs, let theirs, let content {
      let parcel = RemoteParcel(kind: .whole, secrets: [], archive: content.archive)
      try await askStore {
        let name = remote.asideName(.conflict, settingAside.date)
        archive.moved = try await store(
          parcel.bytes ?? theirs.bytes, asAside: name, nil
        ).stored?.storage.location
      }
    }
    remote.prevail()
  }

  /// Removes from the store what was set aside too long ago, also by other machines.
  ///
  /// What cannot be removed now is tried again when another one is set aside.
  func boundStoredAsides(_ settingAside: SettingAside) async {
    do {
      try await removeExcessAsides(settingAside)
    } catch {
      // It is no reason to fail what has set another one aside.
    }
  }

  private func removeExcessAsides(
    _ settingAside: SettingAside
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
    to theirs: RemoteState?, _ content: RemoteContent?, _ aside: ConflictAside,
    _ settingAside: SettingAside
  ) async throws(ArchiveError) {
    // A discard that is taken back has removed what was set aside, too.
    if aside == .nothing { try remote.keepRemovedAsides() }
    let before = archive.setAsideIdentifiers() ?? []
    let ours = try secrets.content(of: try remote.secrets.bytes() ?? []).entries
    let hasSubkeys = try mergeSubkeys(of: content, keeping: ours)
    archive.open.close()
    if aside != .nothing { try archive.setAside(.conflict, settingAside) }
    do throws(ArchiveError) {
      try await askStore { try await sendAsides(throwsRefusals: true) }
    } catch {
      // On the disk of this machine it is kept well enough.
      if !remote.isLasting {
        let archives = try archive.storage.setAsideArchives()
        if let ours = archives.first(where: { !before.contains($0.identifier) }) {
          try archive.storage.putBack(ours)
        }
        throw error
      }
    }
    try remote.take(theirs, hasSubkeys: hasSubkeys)
    forgetStored()
    secrets.subkeys.removeAll()
    remote.tell(.current)
  }
}
