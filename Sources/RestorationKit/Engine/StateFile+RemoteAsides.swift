internal import ArchiveCodec

/// What was set aside, in the store that several machines share.
extension StateFile {
  /// Stores what was set aside under names of its own, before what took its place.
  func sendAsides(_ remote: RemoteCopy) async throws {
    guard remote.hasUnsentAsides else { return }
    let count = remote.main.changes.setAsideCount
    for archive in try remote.unsentAsides() {
      guard let file = try archive.storage.open() else { continue }
      let parcel = RemoteParcel(
        kind: .whole, secrets: [], archive: try file.read(at: 0, count: file.byteCount))
      guard let bytes = parcel.bytes else { continue }
      try await store(
        bytes, asAside: remote.asideName(archive.reason, archive.date), archive.identifier, nil,
        remote)
    }
    remote.markAsidesSent(count)
  }

  /// One that has the name already is another one of the same moment, or was sent before.
  func store(
    _ bytes: [UInt8], asAside name: String, _ identifier: String, _ archive: SetAsideArchive?,
    _ remote: RemoteCopy
  ) async throws {
    for number in 1...Self.largestRoundCount {
      let name = number == 1 ? name : "\(name)-\(number)"
      var version = try await remote.store.replace(name, with: bytes, expecting: nil)
      if version == nil, let there = try await remote.store.load(name),
        RemoteContent(there.bytes).archive == RemoteContent(bytes).archive
      {
        version = there.version
      }
      guard let version else { continue }
      let aside = RemoteCopy.StoredAside(
        name: name, version: version, identifier: identifier, archive: archive)
      remote.note(aside)
      return
    }
    throw RemoteStoreError(
      .damaged, "\(remote.store.location) has others in the place of “\(name)”. Remove them.")
  }

  /// Finds what the store has that was set aside, also by other machines.
  func fetchAsides() async throws(ArchiveError) {
    guard let remote = place.remote else { return }
    try await sending(remote) {
      let names = try await remote.store.names(prefix: remote.name + StateClaim.asideMark)
      for name in names.sorted()
      where StateClaim.canNameFile(name) && !remote.knows(asideNamed: name) {
        guard let (reason, date) = remote.aside(named: name),
          let stored = try await remote.store.load(name)
        else { continue }
        let archive = SetAsideArchive(
          identifier: name, reason: reason, date: date,
          storage: TrackedStorage(
            MemoryStorage(RemoteContent(stored.bytes).archive),
            location: "\(remote.store.location), “\(name)”", keepsGenerations: false))
        remote.note(
          RemoteCopy.StoredAside(
            name: name, version: stored.version, identifier: name, archive: archive))
      }
    }
  }

  /// The names of what the store has, as far as they can be those of files here; none if
  /// nothing is shared.
  func storedNames(prefix: String) async throws(ArchiveError) -> [String] {
    guard let remote = place.remote else { return [] }
    do {
      return try await remote.store.names(prefix: prefix).filter(StateClaim.canNameFile)
    } catch  where remote.isLasting {
      // Those that are here are what there is without the store.
      remote.tell(.unavailable(RemoteStoreError(error)))
      return []
    } catch {
      throw .storeUnavailable(RemoteStoreError(error), at: remote.location)
    }
  }

  /// Removes from the store what was set aside and is gone here.
  func sendRemovedAsides() async throws(ArchiveError) {
    guard let remote = place.remote else { return }
    let gone = try remote.removedAsides()
    try await sending(remote) {
      for aside in gone {
        let version =
          if let version = aside.version { version } else {
            try await remote.store.load(aside.name)?.version
          }
        guard let version else {
          remote.forget(aside)
          continue
        }
        // One that is there in another version was stored by somebody else.
        _ = try await remote.store.remove(aside.name, expecting: version)
        remote.forget(aside)
      }
    }
  }
}
