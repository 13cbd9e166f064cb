internal import ArchiveCodec
internal import RestorationFoundation
internal import RestorationKit

/// Archives that were set aside, in the store that several machines share.
extension StoreLink {
  /// Stores archives that were set aside, under names of their own and before the states
  /// that took their place.
  ///
  /// An archive that the store refuses must not hold up the changes after it, so the refusal is
  /// reported, unless the caller wants it thrown.
  func sendAsides(throwsRefusals: Bool = false) async throws {
    guard remote.hasUnsentAsides else { return }
    let count = remote.main.changes.setAsideCount
    var sendsAll = true
    for archive in try remote.unsentAsides() {
      guard let file = try archive.storage.open() else { continue }
      let parcel = RemoteParcel(
        kind: .whole, archive: try file.read(at: 0, count: file.byteCount))
      guard let bytes = parcel.bytes else { continue }
      do {
        try await store(
          bytes, asAside: remote.asideName(archive.reason, archive.date), archive.identifier)
      } catch let error as RemoteStoreError where error.isRefusal && !throwsRefusals {
        refusal = error
        if error.isAboutContent { remote.refuse(archive) } else { sendsAll = false }
      }
    }
    if sendsAll { remote.markAsidesSent(count) }
  }

  /// Why the store refused an archive that was set aside; each refusal is returned once.
  func takeRefusal() -> RemoteStoreError? {
    defer { refusal = nil }
    return refusal
  }

  /// Stores an archive that was set aside, under the first free name.
  ///
  /// An archive that has the name already is another one of the same moment, or was sent before.
  ///
  /// Without an identifier the archive is only in the store.
  @discardableResult
  func store(
    _ bytes: [UInt8], asAside name: String, _ identifier: String?
  ) async throws -> RemoteCopy.StoredAside {
    for number in 1...Self.largestRoundCount {
      let name = number == 1 ? name : "\(name)-\(number)"
      guard let version = try await store(bytes, at: name) else { continue }
      let aside =
        identifier.map {
          RemoteCopy.StoredAside(name: name, version: version, identifier: $0, stored: nil)
        } ?? remote.stored(asideNamed: name, version)
      remote.note(aside)
      return aside
    }
    throw RemoteStoreError(
      .damaged, "\(remote.store.location) has others in the place of “\(name)”. Remove them.")
  }

  /// Stores bytes under a name and returns their version; nil if other bytes have the name.
  ///
  /// An empty place is stored first, as for a state. An archive that is there already is stored
  /// again: another machine may be about to remove the version that is there, after a put back.
  private func store(
    _ bytes: [UInt8], at name: String,
  ) async throws -> RemoteVersion? {
    let empty = StoredLease.place(at: remote.now()).parcel(.random()).bytes ?? []
    var place = try await remote.store.replace(name, with: empty, expecting: nil)
    for _ in 0..<2 {
      if let place,
        let version = try await remote.store.replace(name, with: bytes, expecting: place)
      {
        return version
      }
      guard let there = try await remote.store.load(name) else { return nil }
      if there.bytes == bytes { return there.version }
      let content = RemoteContent(there.bytes)
      guard content.isPlace || content.archive == RemoteContent(bytes).archive else { return nil }
      place = there.version
    }
    return nil
  }

  /// Finds the archives in the store that were set aside, also by other machines.
  ///
  /// - Parameter removesPlaces: Whether to remove also the places of others to which no
  ///   archive has come yet.
  /// - Throws: `storeUnavailable`.
  func fetchAsides(removesPlaces: Bool) async throws(ArchiveError) {
    try await askStore {
      let names = try await remote.store.names(prefix: remote.name + StateClaim.asideMark)
      for name in names.sorted()
      where StateClaim.canNameFile(name) && !remote.knows(asideNamed: name) {
        guard remote.aside(named: name) != nil, let stored = try await remote.store.load(name)
        else {
          continue
        }
        let content = RemoteContent(stored.bytes)
        guard !content.isPlace else {
          if removesPlaces {
            _ = try await remote.store.remove(name, expecting: stored.version)
          } else {
            try await remove(content, stored.version, as: name)
          }
          continue
        }
        remote.note(remote.stored(asideNamed: name, stored.version))
      }
    }
  }

  /// Loads an archive that is only in the store, until it is let go; false if it is gone.
  func hold(_ archive: SetAsideArchive) async throws(ArchiveError) -> Bool {
    guard let aside = remote.remoteAside(archive) else { return true }
    var stored: RemoteState?
    try await askStore { stored = try await remote.store.load(archive.identifier) }
    guard let stored else { return false }
    aside.hold(RemoteContent(stored.bytes).archive)
    return true
  }

  /// Frees the memory of an archive that is only in the store.
  func letGo(_ archive: SetAsideArchive) { remote.remoteAside(archive)?.hold([]) }

  /// Removes a place to which no scene has come for long.
  func removeOldPlace() async {
    guard !remote.hasLease else { return }
    do {
      guard let stored = try await remote.store.load(remote.name) else { return }
      try await remove(RemoteContent(stored.bytes), stored.version, as: remote.name)
    } catch {
      // A later look removes the place.
    }
  }

  private func remove(
    _ content: RemoteContent, _ version: RemoteVersion, as name: String
  ) async throws {
    guard content.isPlace, let end = content.lease?.end,
      remote.now().timeIntervalSince(end) > Self.longestPlace
    else { return }
    _ = try await remote.store.remove(name, expecting: version)
  }

  /// In seconds; a first save takes less time, also by a clock that is wrong.
  private static let longestPlace = 24.0 * 60 * 60

  /// Removes archives from the store that were set aside and then removed here.
  ///
  /// A removal that fails is tried again in a while; the state is stored all the same.
  func sendRemovedAsides() async {
    unremoved = nil
    guard remote.hasRemovedAsides else { return }
    do {
      try await removeAsides()
      remote.markRemovedAsidesSent()
    } catch {
      unremoved = RemoteStoreError(error)
      tryAgain()
    }
  }

  private func removeAsides() async throws {
    var gone = try remote.removedAsides()
    while !gone.isEmpty {
      for aside in gone {
        let version =
          if let version = aside.version { version } else {
            try await remote.store.load(aside.name)?.version
          }
        // Another machine has stored an archive that is there in another version, so it stays.
        if let version { _ = try await remote.store.remove(aside.name, expecting: version) }
        remote.forget(aside)
      }
      // While the store was asked, more archives may have been removed here.
      gone = try remote.removedAsides()
    }
  }
}
