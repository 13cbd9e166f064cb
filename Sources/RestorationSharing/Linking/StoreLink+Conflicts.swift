internal import ArchiveCodec
internal import RestorationKit

/// Decides which of two states stays that two machines have stored.
extension StoreLink {
  /// The host values of a scene that another machine has stored, if they conflict with the local
  /// ones; nil also if they cannot be read.
  func theirHostPart() -> StateFile.HostPart? {
    (remote.theirs ?? nil).flatMap { archive.hostPart(of: RemoteContent($0.bytes).archive) }
  }

  /// Ends a conflict; false if there is none.
  func resolve(
    keepingTheirs: Bool, _ settingAside: SettingAside
  ) async throws(ArchiveError) -> Bool {
    let choice = keepingTheirs ? ConflictChoice.theirs : .ours
    // The store's state may have changed since the conflict was found.
    var theirs: RemoteState?
    try await askStore { theirs = try await remote.store.load(remote.name) }
    guard remote.theirs != nil else { return false }
    // A state in a later format is neither taken nor replaced.
    let content = try theirs.map { (state) throws(ArchiveError) in try remote.read(state) }
    remote.take(.opposed(theirs))
    let aside = ConflictAside(
      choice, hasOurs: try archive.storage.open() != nil, hasTheirs: content?.state != nil,
      isCopyLasting: remote.isLasting)
    switch choice {
    case .theirs: try await giveWay(to: theirs, aside, settingAside)
    case .ours: try await prevail(over: theirs, content, aside, settingAside)
    }
    await boundStoredAsides(settingAside)
    return true
  }

  /// Lets the local state take the place of the store's, which the store keeps under another name
  /// before.
  private func prevail(
    over theirs: RemoteState?, _ content: RemoteContent?, _ aside: ConflictAside,
    _ settingAside: SettingAside
  ) async throws(ArchiveError) {
    if aside == .theirs, let theirs, let content {
      let parcel = RemoteParcel(kind: .whole, archive: content.archive)
      try await askStore {
        let name = remote.asideName(.conflict, settingAside.date)
        archive.moved = try await store(
          parcel.bytes ?? theirs.bytes, asAside: name, nil
        ).stored?.storage.location
      }
    }
    remote.take(.prevailed)
  }

  /// Removes archives from the store that were set aside too long ago, also by other machines.
  ///
  /// A removal that fails is tried again when another archive is set aside.
  func boundStoredAsides(_ settingAside: SettingAside) async {
    do {
      try await removeExcessAsides(settingAside)
    } catch {
      // A failed removal is no reason to fail the call that has set another archive aside.
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
    to theirs: RemoteState?, _ aside: ConflictAside, _ settingAside: SettingAside
  ) async throws(ArchiveError) {
    // A discard that gives way has removed the archives that were set aside, too,
    // and they come back.
    if aside == .nothing { try remote.keepRemovedAsides() }
    let before = archive.setAsideIdentifiers() ?? []
    archive.open.close()
    if aside != .nothing { try archive.setAside(.conflict, settingAside) }
    do throws(ArchiveError) {
      try await askStore { try await sendAsides(throwsRefusals: true) }
    } catch {
      // On the disk of this machine the state that gives way is safe, so only a copy in memory
      // must reach the store.
      if !remote.isLasting {
        let archives = try archive.storage.setAsideArchives()
        if let ours = archives.first(where: { !before.contains($0.identifier) }) {
          try archive.storage.putBack(ours)
        }
        throw error
      }
    }
    try remote.take(theirs)
    forgetStored()
    remote.tell(.current)
  }
}
